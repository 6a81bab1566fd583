"""The node that all nodes of this stack derive from."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

from rclpy.context import Context
from rclpy.event_handler import EventHandler, PublisherEventCallbacks
from rclpy.impl.rcutils_logger import RcutilsLogger
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.subscription import Subscription
from rclpy.timer import Timer

from homie_ros.action_server import WorkerActionServer
from homie_ros.parameters import overrides
from homie_ros.waiting import wait_until

CLOSE_SECONDS = 10.0


class HomieNode(Node):
    """A node that can be made many times in one process, ends cleanly, and can fail on purpose.

    A subclass takes the same keyword arguments and hands them on::

        class MonitorNode(HomieNode):
            def __init__(self, **options: Any) -> None:
                super().__init__("monitor", **options)
                self.settings = read_parameters(self, MonitorSettings)

    ``parameters`` are values set in code (composed runs, tests); with ``use_global_arguments`` those of the command
    line apply too. ``start_parameter_services`` lets other programs read the parameters; each turn of the executor
    pays for those services, so nodes that nobody asks go without.
    """

    def __init__(
        self,
        name: str,
        *,
        context: Context | None = None,
        namespace: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        use_global_arguments: bool = True,
        start_parameter_services: bool = True,
    ) -> None:
        super().__init__(
            name,
            context=context,
            namespace=namespace,
            parameter_overrides=overrides(parameters or {}),
            use_global_arguments=use_global_arguments,
            start_parameter_services=start_parameter_services,
        )

    def create_publisher(self, *args: Any, **options: Any) -> Publisher:
        """As in rclpy, but without watching for subscriptions of another quality of service.

        Their own side tells about that, while every turn of the executor would pay for two more things to wait for.
        """
        options.setdefault("event_callbacks", PublisherEventCallbacks(use_default_callbacks=False))
        return super().create_publisher(*args, **options)

    def close(self) -> None:
        """End what is going on; called once, from outside the executor's thread, while the node still spins.

        Stops the running goals of all action servers, so that their clients still get results. Override to publish last
        words or to close files, and call ``super().close()``.
        """
        servers = [waitable for waitable in self.waitables if isinstance(waitable, WorkerActionServer)]
        for server in servers:
            server.cancel_all()
        wait_until(
            lambda: not self.context.ok() or not any(server.busy for server in servers),
            CLOSE_SECONDS,
            "running goals to end",
            poll=0.005,
        )

    def fail(self, error: BaseException) -> None:
        """End this node's spinning with ``error``; its process exits non-zero. For threads that can not go on."""
        if self.executor is None:
            raise error
        self.executor.create_task(_raise, error)

    def get_logger(self) -> RcutilsLogger:
        """The logger of this node."""
        logger: RcutilsLogger = super().get_logger()
        return logger

    def destroy_subscription(self, subscription: Subscription) -> bool:
        """As in rclpy, and the callback group forgets it."""
        _forget(subscription, *subscription.event_handlers)  # type: ignore[misc]  # rclpy's annotation says it is one
        return bool(super().destroy_subscription(subscription))

    def destroy_timer(self, timer: Timer) -> bool:
        """As in rclpy, and the callback group forgets it."""
        _forget(timer)
        return bool(super().destroy_timer(timer))

    def destroy_node(self) -> None:
        """Destroy everything, also action servers and clients, which rclpy leaves out. The node must not spin."""
        for waitable in list(self.waitables):
            if hasattr(waitable, "destroy"):
                waitable.destroy()
        super().destroy_node()


def _forget(*entities: Subscription | EventHandler | Timer) -> None:
    """Take them out of their callback group, where rclpy leaves a dead reference of all that there ever was."""
    for entity in entities:
        entity.callback_group.entities.discard(weakref.ref(entity))


def _raise(error: BaseException) -> None:
    raise error

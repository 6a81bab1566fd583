"""Start every node of a simulated run: ``ros2 launch homie_bringup simulation.launch.py task:=100``.

The graph then waits for a task: ``homie demo --attach`` runs one in it, or any client of the ``run_task`` action.
"""

from launch.actions import DeclareLaunchArgument, OpaqueFunction, SetEnvironmentVariable, Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from homie_bringup.graph import simulation_graph
from homie_bringup.settings import Settings, check
from homie_ros.fastdds import PROFILE_VARIABLE, profile_path
from launch import LaunchContext, LaunchDescription


def _nodes(context: LaunchContext) -> list[Node]:
    values = {name: LaunchConfiguration(name).perform(context) for name in Settings.model_fields}
    namespace = LaunchConfiguration("namespace").perform(context)
    return [
        Node(
            package=spec.package,
            executable=spec.executable,
            name=spec.name,
            namespace=namespace,
            parameters=[spec.parameters] if spec.parameters else [],
            output="screen",
            on_exit=Shutdown(reason=f"{spec.name} stopped"),
        )
        for spec in simulation_graph(check(**values))
    ]


def generate_launch_description() -> LaunchDescription:
    """One launch argument per setting of ``homie demo``, and a namespace."""
    arguments = [
        DeclareLaunchArgument(name, default_value=_text(field.default), description=field.description)
        for name, field in Settings.model_fields.items()
    ]
    arguments.append(DeclareLaunchArgument("namespace", default_value="", description="ROS namespace of every node"))
    profile = SetEnvironmentVariable(PROFILE_VARIABLE, str(profile_path()))
    return LaunchDescription([*arguments, profile, OpaqueFunction(function=_nodes)])


def _text(default: object) -> str:
    """A setting's default as a launch argument; several values are separated by blanks."""
    return " ".join(default) if isinstance(default, tuple) else str(default)

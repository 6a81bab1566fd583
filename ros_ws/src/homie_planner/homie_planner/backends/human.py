"""A person plans, on a page in a browser. This is how demonstrations are collected."""

from __future__ import annotations

import logging
import webbrowser
from collections.abc import Callable

from pydantic import BaseModel, ConfigDict, Field

from homie_planner.backend import Capabilities, Deadline, PlannerError, PlanReply, PlanRequest
from homie_planner.parsing import parse
from homie_planner.planning_page import HOST, PlanningPage


class Options(BaseModel):
    """How a person is asked."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    port: int = Field(0, ge=0, le=65535, description="Port of the page on this machine; 0 for a free one")
    open_browser: bool = Field(False, description="Whether the page is opened in the browser of this machine")
    seconds: float = Field(3600.0, gt=0.0, le=86400.0, description="Wall-clock limit for one step")


class Human:
    """Asks a person for each step. The page lives from the first episode until `close`."""

    name = "human"

    def __init__(self, options: Options) -> None:
        self.capabilities = Capabilities(images=True, reply_seconds=options.seconds)
        self.announce: Callable[[str], None] = logging.getLogger(__name__).warning
        self._options = options
        self._page: PlanningPage | None = None

    def reset(self) -> None:
        if self._page is None:
            try:
                self._page = PlanningPage(self._options.port)
            except OSError as error:
                raise PlannerError(f"port {self._options.port} of {HOST} is not usable: {error.strerror}") from error
            if self._options.open_browser:
                webbrowser.open(self._page.address)
        self.announce(f"plan at {self._page.address}")

    def plan(self, request: PlanRequest, deadline: Deadline) -> PlanReply:
        if self._page is None:
            raise PlannerError("a person can only be asked after a reset")
        try:
            text = self._page.ask(request, deadline)
        except PlannerError:
            self._page.finish()
            raise
        if parse(text, request.vocabulary).subtask.is_end:
            self._page.finish()
        return PlanReply(text)

    def close(self) -> None:
        if self._page is not None:
            self._page.close()
            self._page = None


def make(argument: str, options: Options) -> Human:
    """A person."""
    return Human(options)

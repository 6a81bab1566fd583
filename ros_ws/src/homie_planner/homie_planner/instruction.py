"""The texts that a planner is given: the system information and the instruction of one step (paper, appendix D)."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from homie_core import inventory as inventories
from homie_core.inventory import Inventory
from homie_core.subtask import Subtask

VIEW_ORDER = ("front", "left", "back", "right")
"""The order in which the system information announces the four images."""

SYSTEM_TEXT = """\
You are a powerful housework assistant, I will give you following information for you to make a decision toward the final task.
(1) Observation images: Four first-person perspective images of the current environment, in the order of front, left, back, and right.
(2) Task: Your final goal.
(3) Inventory: Your current assets, remember that you are a one-hand agent, which means you can't open or pick when your Inventory is not None, and you can't put if your Inventory is None, this is very important.
(4) Historical Execution: Subtasks that were already fulfilled in the history, and the execution status of each subtask(success or fail). You need to make decisions based on historical actions, current circumstances and your final task.
(5) Feedback: Feedback will provide error information of the last execution, it will be None if the last execution ends successfully.

You should output with following formats:
Analysis: Make a detailed summary of your current situation based on given information, analyse and decide what to do next and output the reason of your decision.
Subtask: [action, target], choose your action from the action list [Go to, Pick, Put, Open, Close, End], and the target can be a place or a object from your observation. If you choose Put as your action, output in format [Put, object, place] which means put the object to the place. If the final task is done and no more action is needed, just output [End].
Model: Choose one most suitable model in the model list [NoMaD, PixNav, octo, RT-1-X]. NoMaD can go to a spot like living room, PixNav focuses on object navigation and can go to a object, octo can handle with open and close, RT-1-X is good at picking and putting.

You need to focus on the consistency with previous subtasks. You should pay attention to current Inventory and avoid conflicts.
Remember you can only go to the place and interact with the objects you observe in your sight.
Remember the logic between outputs, it is recommended to open the receptacle before you pick something because you can't open while holding, and it's recommended to arrive the object place before you interact with it.
Remember you just need to output the next subtask to be fulfilled and don't output a whole plan, this is very important.
Remember you should output strictly with the response template.
Now, I will send the message so that you can make planning accordingly.
"""  # noqa: E501  the paper's text, word for word

_IMAGES_ITEM = "(1) Observation images: Four first-person perspective images of the current environment, in the order of front, left, back, and right."  # noqa: E501
_TEXT_ITEM = "(1) Observation: A text that describes what you see in the current environment, in the order of front, left, back, and right."  # noqa: E501

EXAMPLE_OUTPUT = (
    "here is an example output, please strictly follow its format and system reminders in your output:\n"
    "Analysis: According to my final task, I need to fetch apples first, but it's a better choice to go the fridge and "
    "open it first, which will avoid potential conflicts, so I should go to the fridge next\n"
    "Subtask: [Go to, fridge]\n"
    "Model: NoMaD\n"
)
"""What a user says first in the one-shot exchange (paper, appendix H.1: Qwen2-VL and MiniCPM-V 2.6)."""

EXAMPLE_ANSWER = "I will surely follow the given format, now you can send prompt to me."
"""What the assistant is made to answer to it."""


class ObservationKind(StrEnum):
    """What of the surroundings reaches the planner."""

    IMAGES = "images"
    TEXT = "text"


class InstructionOptions(BaseModel):
    """How a model is asked. The defaults are the paper's method."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    history_window: int = Field(0, ge=0, le=1000, description="Last steps in the history; 0 for all of them")
    image_size: int = Field(256, ge=32, le=1024, description="Height and width of each view, pixels")
    observation: ObservationKind = Field(ObservationKind.IMAGES, description="Four images, or a text about them")
    one_shot: bool = Field(False, description="Whether an example exchange comes first (paper, appendix H.1)")
    retrieve: int = Field(0, ge=0, le=10, description="Similar steps of past successes that come first, as examples")
    memory: str = Field("", description="Folder of runs that the similar steps are taken from; keep test tasks out")

    @model_validator(mode="after")
    def _retrieves_from_somewhere(self) -> Self:
        if self.retrieve and not self.memory:
            raise ValueError("retrieve needs memory, a folder of runs")
        return self


_CLOSING = "Now based on the instruction above, please output Analysis, Subtask and Model in mentioned format."


def system_text(observation: ObservationKind) -> str:
    """The system information: the paper's, whose first item announces a text where there are no images."""
    return SYSTEM_TEXT if observation is ObservationKind.IMAGES else SYSTEM_TEXT.replace(_IMAGES_ITEM, _TEXT_ITEM)


def instruction(task: str, inventory: Inventory, history: str, feedback: str, observation: str = "") -> str:
    """The text of one step, exactly as the paper's ``generate_instruction`` makes it.

    ``observation`` is a text about the surroundings, which stands before all else as images would; the paper has none.
    ``history`` and ``feedback`` come from `homie_planner.history`. As long as the history is empty, history and
    feedback both read None.
    """
    if not history:
        history, feedback = "None", "None"
    seen = f"Observation:\n{observation}\n" if observation else ""
    return (
        f"{seen}"
        f"Task: {task}\n"
        f"Inventory: {inventories.text(inventory)}\n"
        f"Historical Execution: {history}\n"
        f"Feedback: {feedback}\n"
        f"{_CLOSING}\n"
    )


def response(analysis: str, subtask: Subtask) -> str:
    """A decision in the response template of the system information; without a model, its line is left out."""
    model = f"Model: {subtask.model}\n" if subtask.model else ""
    return f"Analysis: {analysis}\nSubtask: {subtask.brackets()}\n{model}"


def repair_text(fault: str) -> str:
    """What a model is told once when its reply cannot be read; ``fault`` is the parser's reason."""
    return (
        f"Your output could not be read: {fault}.\n"
        "Please output the next subtask again, strictly with the response template: Analysis, Subtask and Model, "
        "with the subtask in the form [action, target], [Put, object, place] or [End].\n"
    )

"""The texts that a planner is given: the system information and the instruction of one step (paper, appendix D)."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from homie_core import inventory as inventories
from homie_core.inventory import Inventory

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
    memory: str = Field("", description="Folder of runs that the similar steps are taken from")


_CLOSING = "Now based on the instruction above, please output Analysis, Subtask and Model in mentioned format."


def instruction(task: str, inventory: Inventory, history: str, feedback: str) -> str:
    """The text of one step, exactly as the paper's ``generate_instruction`` makes it.

    ``history`` and ``feedback`` come from `homie_planner.history`. As long as the history is empty, history and
    feedback both read None.
    """
    if not history:
        history, feedback = "None", "None"
    return (
        f"Task: {task}\n"
        f"Inventory: {inventories.text(inventory)}\n"
        f"Historical Execution: {history}\n"
        f"Feedback: {feedback}\n"
        f"{_CLOSING}\n"
    )


def repair_text(fault: str) -> str:
    """What a model is told once when its reply cannot be read; ``fault`` is the parser's reason."""
    return (
        f"Your output could not be read: {fault}.\n"
        "Please output the next subtask again, strictly with the response template: Analysis, Subtask and Model, "
        "with the subtask in the form [action, target], [Put, object, place] or [End].\n"
    )

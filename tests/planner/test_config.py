"""The configuration of a planner: from a name, from a file, with options on top."""

from pathlib import Path

import pytest

from homie_planner.backend import PlannerError
from homie_planner.config import Prices, read_config
from homie_planner.instruction import ObservationKind
from homie_planner.registry import make_planner


def test_a_name_alone_is_the_papers_method() -> None:
    config = read_config("expert")
    assert config.planner == "expert"
    assert config.options == {}
    assert config.instruction.history_window == 0
    assert config.instruction.image_size == 256
    assert config.instruction.observation is ObservationKind.IMAGES
    assert (config.instruction.one_shot, config.instruction.retrieve) == (False, 0)
    assert config.repair
    assert config.prices is None


def test_options_are_read_as_yaml_and_reach_inside() -> None:
    options = ["instruction.observation=text", "options.base_url=http://127.0.0.1:1/v1", "options.temperature=0.5"]
    config = read_config("openai:m", [*options, "repair=false", "prices={input: 2.5, output: 10}"])
    assert config.instruction.observation is ObservationKind.TEXT
    assert config.options == {"base_url": "http://127.0.0.1:1/v1", "temperature": 0.5}
    assert not config.repair
    assert config.prices == Prices(input=2.5, output=10.0)


def test_a_file_holds_the_same_and_options_win(tmp_path: Path) -> None:
    file = tmp_path / "model.yaml"
    file.write_text("planner: openai:m\noptions: {seed: 1, top_p: 0.5}\ninstruction: {one_shot: true}\n")
    config = read_config(str(file), ["options.seed=2"])
    assert config.options == {"seed": 2, "top_p": 0.5}
    assert config.instruction.one_shot


def test_cost_is_by_the_million_tokens() -> None:
    assert Prices(input=2.5, output=10.0).cost(400_000, 50_000) == pytest.approx(1.0 + 0.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["instruction.image_size=8"], "instruction.image_size 8: .* greater than or equal to 32"),
        (["instruction.size=8"], "instruction.size is unknown; allowed: history_window, image_size, observation"),
        (["colour=red"], "colour is unknown; allowed: planner, options, instruction, repair, prices"),
        (["prices={input: 1}"], "prices.output is missing"),
        (["prices.inputs=1", "prices.input=1", "prices.output=1"], "prices.inputs is unknown; allowed: input, output"),
        (["instruction.observation=sound"], "observation 'sound': .*'images' or 'text'"),
        (["repair"], "'repair' is not written NAME=VALUE"),
        ([".a=1"], "is not written NAME=VALUE"),
        (["repair.a=1", "repair=[1"], "not YAML"),
        (["repair=true", "repair.a=1"], "repair is True and has no fields"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(options: list[str], message: str) -> None:
    with pytest.raises(PlannerError, match=message) as error:
        read_config("expert", options)
    assert "\n" not in str(error.value)


def test_wrong_files(tmp_path: Path) -> None:
    with pytest.raises(PlannerError, match=r"cannot read .*none\.yaml"):
        read_config(str(tmp_path / "none.yaml"))
    (tmp_path / "list.yaml").write_text("- expert\n")
    with pytest.raises(PlannerError, match=r"list\.yaml holds no fields; allowed: planner, options"):
        read_config(str(tmp_path / "list.yaml"))
    (tmp_path / "empty.yaml").write_text("repair: true\n")
    with pytest.raises(PlannerError, match="planner is missing"):
        read_config(str(tmp_path / "empty.yaml"))


def test_a_backend_checks_its_own_options() -> None:
    with pytest.raises(PlannerError, match="options of planner replay: speed is unknown; allowed: none"):
        make_planner(read_config("replay:case_1", ["options.speed=3"]))

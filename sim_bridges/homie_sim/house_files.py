"""Which houses there are, without loading any: quick to import, no MuJoCo."""

from __future__ import annotations

from pathlib import Path

HOUSES = Path(__file__).parent / "houses"


class HouseError(ValueError):
    """A house, or a placement in it, is not as it must be. One line that names field, value and what is allowed."""


def house_names() -> list[str]:
    """Names of the built-in houses, in alphabetical order."""
    return sorted(path.stem for path in HOUSES.glob("*.yaml"))


def house_file(source: str | Path) -> Path:
    """The file of a built-in house by name, or ``source`` itself if it names a YAML file.

    Raises:
        HouseError: no such house or file.
    """
    path = Path(source)
    if path.suffix in (".yaml", ".yml"):
        if not path.is_file():
            raise HouseError(f"house: {str(source)!r} is no file")
        return path
    if str(source) not in house_names():
        raise HouseError(f"house: {str(source)!r} is unknown; allowed: {', '.join(house_names())} or a .yaml file")
    return HOUSES / f"{source}.yaml"

"""``make bench``: runs every benchmark beside this file and prints its figures. Not a test: nothing passes or fails."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path


def main() -> None:
    """Run the benchmarks whose names hold one of the arguments; all of them without arguments."""
    wanted = sys.argv[1:]
    for path in sorted(Path(__file__).parent.glob("bench_*.py")):
        if wanted and not any(word in path.stem for word in wanted):
            continue
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"cannot load {path}")
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module  # dataclasses look their module up there
        spec.loader.exec_module(module)
        title = (module.__doc__ or "").partition("\n")[0]
        print(f"{path.stem.removeprefix('bench_')}: {title}")
        for name, value, unit in module.bench():
            print(f"  {name:<56}{value:>10.3f} {unit}", flush=True)


if __name__ == "__main__":
    main()

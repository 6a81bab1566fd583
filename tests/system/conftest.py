"""Shared runs."""

import pytest

from support.system_support import Finished, run_demo


@pytest.fixture(scope="session")
def expert_run(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """The first run: the paper's case 1 with the expert, composed in one process."""
    return run_demo(tmp_path_factory.mktemp("expert"))

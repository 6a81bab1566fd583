"""The monitor: finds the ten errors of the paper before, during and after a subtask (paper, 3.3 and appendix E)."""

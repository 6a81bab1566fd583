"""The high-level planner: backends behind one interface, prompts, parsing, and the loop of an episode (paper, 3.2)."""

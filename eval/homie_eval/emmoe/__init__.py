"""EMMOE: its tasks and metrics (arXiv 2503.08604)."""

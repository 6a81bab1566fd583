"""Live referees and the recorder: they only listen, and never touch an episode."""

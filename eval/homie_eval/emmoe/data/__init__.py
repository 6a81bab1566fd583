"""EMMOE's data: the folder format of EMMOE-100, the original's run folders, and training records made of either."""

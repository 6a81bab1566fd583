"""Benchmarks: tasks, metrics, reading of bags, scores, reports, videos. Pure Python, no ROS."""

"""Runs of many episodes: what they consist of, and how far they are."""

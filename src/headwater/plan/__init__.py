"""The plan area."""

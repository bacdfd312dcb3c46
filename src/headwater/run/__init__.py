"""The run area."""

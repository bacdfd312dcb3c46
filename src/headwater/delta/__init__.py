"""The delta area."""

"""The cli area."""

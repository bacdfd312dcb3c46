"""The runtime area."""

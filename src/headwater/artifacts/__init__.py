"""The artifacts area."""

"""The functions area."""

"""The pipeline area."""

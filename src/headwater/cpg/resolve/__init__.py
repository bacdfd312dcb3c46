"""Whole-program resolution."""

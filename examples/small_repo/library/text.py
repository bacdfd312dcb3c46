"""Texts as they are compared."""

import re

BLANKS = re.compile(r"\s+")


def normalised(text):
    """The text in small letters, with single blanks."""
    return BLANKS.sub(" ", strip_marks(text)).strip().lower()


def strip_marks(text):
    return "".join(each for each in text if each.isalnum() or each.isspace())


def shout(text):
    """Nobody calls this."""
    return text.upper()

"""Hints of one file: what annotations, docstrings and defaults say of types, and which names have values.

find_hints    the hints of a walked file
HintColumns   what it gives back: four columns of ints and short texts, as those of value facts
HINTS         the names of hints, which are told by index
Term          a type as it is written: a name and what stands in its brackets
parse_term    the term of a text
NotAType      what it raises for a text that is none
"""

from headwater.cpg.extract.hints.facts import HINTS, HintColumns
from headwater.cpg.extract.hints.finding import find_hints
from headwater.cpg.extract.hints.terms import NotAType, Term, parse_term

__all__ = ["HINTS", "HintColumns", "NotAType", "Term", "find_hints", "parse_term"]

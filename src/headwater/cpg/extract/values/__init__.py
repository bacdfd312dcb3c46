"""Value facts of one file: where the values of its names, attributes, items and calls come from.

find_values    the facts of a walked file
ValueColumns   what it gives back: four columns of ints and short texts
OPS            the names of facts, which are told by index
"""

from headwater.cpg.extract.values.facts import OPS, ValueColumns
from headwater.cpg.extract.values.finding import find_values

__all__ = ["OPS", "ValueColumns", "find_values"]

"""What defs do, said of each once: their effects, the exceptions that leave them, where their parameters go.

summary_rows  all of it for a solved program
SummaryRows   where parameters go
EffectRows    effects and exceptions
EFFECTS       the names of effects
"""

from headwater.cpg.resolve.summaries.effect_names import EFFECTS
from headwater.cpg.resolve.summaries.rows import EffectRows, SummaryRows, summary_rows

__all__ = ["EFFECTS", "EffectRows", "SummaryRows", "summary_rows"]

"""From the bytes of one Python file to evidence: plain functions, no Spark, no Arrow.

extract_syntax   the file, every node of its syntax tree with exact byte spans, and what went wrong
SyntaxEvidence   what extract_syntax gives back: the three values below
FileFacts        the file as a whole: ids, encoding, line starts, whether it parsed
NodeColumns      one list per column, one entry per node, in pre-order
Diagnostic       what is wrong with a file, and where
"""

from headwater.cpg.extract.evidence import Diagnostic, FileFacts, NodeColumns, SyntaxEvidence
from headwater.cpg.extract.syntax import extract_syntax

__all__ = [
    "Diagnostic",
    "FileFacts",
    "NodeColumns",
    "SyntaxEvidence",
    "extract_syntax",
]

"""From the bytes of one Python file to evidence: plain functions, no Spark, no Arrow.

extract_file     all that one file says: FileEvidence, its syntax and its Facts, which go by numbers of nodes
extract_syntax   the file, every node of its syntax tree with exact byte spans, and what went wrong
SyntaxEvidence   what extract_syntax gives back: the three values below
FileFacts        the file as a whole: ids, encoding, line starts, whether it parsed
NodeColumns      one list per column, one entry per node, in pre-order
Diagnostic       what is wrong with a file, and where
POINT_KINDS      the kinds of points in control flow, which are told by index
EDGE_KINDS       the kinds of ways between them
STEP_KINDS       the kinds of steps of data, and whether the value stays the same
"""

from headwater.cpg.extract.assembly import Facts
from headwater.cpg.extract.evidence import Diagnostic, FileFacts, NodeColumns, SyntaxEvidence
from headwater.cpg.extract.flow import EDGE_KINDS, POINT_KINDS, STEP_KINDS
from headwater.cpg.extract.syntax import extract_syntax
from headwater.cpg.extract.whole import FileEvidence, extract_file

__all__ = [
    "EDGE_KINDS",
    "POINT_KINDS",
    "STEP_KINDS",
    "Diagnostic",
    "Facts",
    "FileEvidence",
    "FileFacts",
    "NodeColumns",
    "SyntaxEvidence",
    "extract_file",
    "extract_syntax",
]

"""How data goes from def to def: through calls, through what is stored, and through imports.

flow_rows     all ways of data that a solved program says of
FlowRows      what it gives back: from which node to which, how, and how sure that is
gather_sites  what is needed of value facts for it, in one pass
Sites         what that gives back
"""

from headwater.cpg.resolve.flow.finding import flow_rows
from headwater.cpg.resolve.flow.rows import FlowRows
from headwater.cpg.resolve.flow.sites import Sites, gather_sites

__all__ = ["FlowRows", "Sites", "flow_rows", "gather_sites"]

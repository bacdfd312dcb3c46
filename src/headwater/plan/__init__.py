"""What will happen; never touches storage.

rehydrate, empty_relation             plan bytes -> a frame of one session
plan_error                            what Spark says of a plan it cannot use, typed
parsed_tree, analysed_tree, PlanTree  Catalyst's trees, as values
planned_trees                         the optimised and the physical one
run_metrics, OperatorMetrics          what each operator counted while it ran; QueryLog for what others run
canonical_text, type_text             a tree as text that is equal everywhere
PlanBundle, PlanText, Fingerprint     a planned view: PlannedColumn, PlannedFunction (IN_PYTHON: the project's
                                      own), PlannedInput, PlannedFixpoint
parts_of, makes_fresh_rows            a view and those inside it; whether one of them differs in every run
ScanUnit, scan_unit_key               what is read of one table
RefreshPlan, RefreshWindow            how a plan for the rows of some keys differs from its view's
determinism_of, check_determinism     what a rerun would not repeat: Determinism, Finding, Unsteady
PlanFinding                           the same, as a bundle has it
RULES, CHANCES                        all kinds of it; those that make every run differ
semantics_of, SemanticTypes           what columns stand for, and that nothing is mixed up: SemanticCheck
statistics_of, StatisticsDecision     of which columns files keep minimum and maximum
changes_between, PlanChange           why two plans of a view differ
lineage_of, ViewLineage, Edge         which columns depend on which, and how
lineage_through                       the same, through views in between; Dependence: one column and its role
names_in_parsed, names_in_analysed    what a plan reads
names_read_whole                      what it surely reads to the last row
functions_in_parsed                   what a query calls
prove, KeyProof, NoProof, REASONS     whether a view can be made anew key by key, or why not;
                                      prove_fixpoint if it is made of itself
find_nonlinear, NotLinear             why a step of a fixpoint needs all rows so far, not the new ones alone
effort_of                             how much there is to work out for its rows
order_of                              views in the order in which they can be made
task_graph, TaskGraph                 planned views, scans, columns: what depends on what
lineage_dot, top_column               columns for Graphviz; the column that a path begins with
inspect_query, analyse_query          a query that only reads, or a refusal: InspectedQuery
"""

from headwater.plan.agreement import SemanticCheck, SemanticTypes
from headwater.plan.bundle import (
    IN_PYTHON,
    OperatorMetrics,
    PlanBundle,
    PlanFinding,
    PlannedColumn,
    PlannedFixpoint,
    PlannedFunction,
    PlannedInput,
    PlanText,
    RefreshPlan,
    RefreshWindow,
    ScanUnit,
    makes_fresh_rows,
    parts_of,
    scan_unit_key,
)
from headwater.plan.canonical import canonical_text, type_text
from headwater.plan.catalyst import (
    QueryLog,
    analysed_tree,
    empty_relation,
    parsed_tree,
    plan_error,
    planned_trees,
    rehydrate,
    run_metrics,
)
from headwater.plan.dependence import Dependence
from headwater.plan.determinism import Determinism, Finding, Unsteady, check_determinism, determinism_of
from headwater.plan.diff import PlanChange, changes_between
from headwater.plan.effort import effort_of
from headwater.plan.fingerprint import Fingerprint
from headwater.plan.incremental import REASONS, KeyProof, NoProof, prove, prove_fixpoint
from headwater.plan.lineage import Edge, ViewLineage, lineage_of, lineage_through
from headwater.plan.linearity import NotLinear, find_nonlinear
from headwater.plan.readonly import InspectedQuery, analyse_query, inspect_query
from headwater.plan.reads import functions_in_parsed, names_in_analysed, names_in_parsed, names_read_whole
from headwater.plan.rules import CHANCES, RULES
from headwater.plan.semantics import semantics_of
from headwater.plan.statistics import StatisticsDecision, statistics_of
from headwater.plan.taskgraph import TaskGraph, lineage_dot, order_of, task_graph, top_column
from headwater.plan.tree import PlanTree

__all__ = [
    "CHANCES",
    "IN_PYTHON",
    "REASONS",
    "RULES",
    "Dependence",
    "Determinism",
    "Edge",
    "Finding",
    "Fingerprint",
    "InspectedQuery",
    "KeyProof",
    "NoProof",
    "NotLinear",
    "OperatorMetrics",
    "PlanBundle",
    "PlanChange",
    "PlanFinding",
    "PlanText",
    "PlanTree",
    "PlannedColumn",
    "PlannedFixpoint",
    "PlannedFunction",
    "PlannedInput",
    "QueryLog",
    "RefreshPlan",
    "RefreshWindow",
    "ScanUnit",
    "SemanticCheck",
    "SemanticTypes",
    "StatisticsDecision",
    "TaskGraph",
    "Unsteady",
    "ViewLineage",
    "analyse_query",
    "analysed_tree",
    "canonical_text",
    "changes_between",
    "check_determinism",
    "determinism_of",
    "effort_of",
    "empty_relation",
    "find_nonlinear",
    "functions_in_parsed",
    "inspect_query",
    "lineage_dot",
    "lineage_of",
    "lineage_through",
    "makes_fresh_rows",
    "names_in_analysed",
    "names_in_parsed",
    "names_read_whole",
    "order_of",
    "parsed_tree",
    "parts_of",
    "plan_error",
    "planned_trees",
    "prove",
    "prove_fixpoint",
    "rehydrate",
    "run_metrics",
    "scan_unit_key",
    "semantics_of",
    "statistics_of",
    "task_graph",
    "top_column",
    "type_text",
]

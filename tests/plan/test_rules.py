"""What the reference says about each rule is what the rule says."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.plan.rules import RULES, Rule

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "determinism.md").read_text("utf-8")


def _section(rule: Rule) -> str:
    return PAGE.partition(f"### {rule.code} {rule.name}\n")[2].partition("\n### ")[0].partition("\n## ")[0]


def _flat(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_reference_has_code_default_why_example_and_remedy(rule: Rule) -> None:
    section = _flat(_section(rule))
    done = {"refuse": "Refused", "warn": "Warned of"}[rule.default]
    assert f"{done} by default. {rule.why}" in section
    assert f"```sql {rule.example} ```" in section
    assert f"```sql {rule.remedy} ```" in section
    assert rule.error.advises in section


def test_the_reference_has_no_other_rules() -> None:
    listed = [line for line in PAGE.splitlines() if line.startswith("### HW-DET-")]
    assert listed == [f"### {rule.code} {rule.name}" for rule in RULES]


def test_every_rule_is_in_the_table_at_the_top() -> None:
    for rule in RULES:
        assert f"| [{rule.code}](#{rule.code.lower()}-{rule.name}) | `{rule.name}` | {rule.default} |" in PAGE

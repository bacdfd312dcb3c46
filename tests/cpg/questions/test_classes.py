"""Classes above and below."""

from __future__ import annotations

from code_sample import arrows, lines, small_repo

from headwater.cpg.questions import hierarchy

M = "library.members"


def test_a_class_has_bases_subclasses_and_overrides() -> None:
    answer = hierarchy(small_repo(), "Member")
    assert lines(answer) == [
        f"[above] library/members.py:6 {M}.Person base of {M}.Member",
        f"[above] -:- abc.ABC base of {M}.Person +2",
        f"[below] library/members.py:22 {M}.Patron inherits from {M}.Member",
        f"[overrides] library/members.py:18 {M}.Member.limit overrides {M}.Person.limit",
    ]
    assert "library.members.Patron -> library.members.Member" in arrows(answer)


def test_a_method_has_what_it_overrides_and_what_overrides_it() -> None:
    assert lines(hierarchy(small_repo(), "Member.limit")) == [
        f"[above] library/members.py:11 {M}.Person.limit overridden by {M}.Member.limit",
        f"[below] library/members.py:25 {M}.Patron.limit overrides {M}.Member.limit",
    ]


def test_how_far_can_be_said() -> None:
    assert not any("abc.ABC" in each for each in lines(hierarchy(small_repo(), "Member", depth=1)))

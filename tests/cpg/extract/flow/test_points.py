"""Kinds are told by index, and the names of the indexes stand where the tuples say."""

from __future__ import annotations

from headwater.cpg.extract.flow import ACTIONS, EDGE_KINDS, POINT_KINDS, points


def test_every_kind_has_a_constant_of_its_name() -> None:
    for names in (POINT_KINDS, EDGE_KINDS, ACTIONS):
        assert [getattr(points, name.upper()) for name in names] == list(range(len(names)))

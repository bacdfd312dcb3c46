"""Ids of nodes: `stable_id` of the same parts, with what a def's nodes have in common hashed once.

The parts are repository, path, the def's path, its ordinal, kind and local path. A def's path is made of
names joined with dots, and an outer name that is not the first of its kind carries its ordinal: `f#1.inner`.
The ordinal counts the classes and functions of one name in one def, so that redefinitions differ. Modules,
classes, functions and the parameters of functions have their own path and an empty local path. All others
have the path of the nearest module, class or function around them and the steps from there, such as
`body.0.value.args.1`. Lambdas and comprehensions have no name, so they and what is in them (a lambda's
parameters too) count from there.
Not here: which node belongs to which def.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

_HEX_DIGITS = 32


class Digest(Protocol):
    """What this module needs of a hash of `hashlib`."""

    def copy(self) -> Digest:
        """Another one that has seen the same."""
        ...

    def update(self, data: bytes, /) -> None:
        """Let it see more."""
        ...

    def hexdigest(self) -> str:
        """What it comes to so far."""
        ...


@dataclass(slots=True)
class Owner:
    """A module, class, function or lambda: the row of its node, and what the ids inside it have in common.

    `outer` is its path as the beginning of paths inside it; `ordinals` and `parameters` count names in it.
    """

    row: int
    outer: str
    qualname: str
    is_class: bool
    digest: Digest
    ordinals: dict[str, int] = field(default_factory=dict[str, int])
    parameters: dict[str, int] = field(default_factory=dict[str, int])


def file_digest(repo_id: str, path: str) -> Digest:
    """What all ids of a file have in common."""
    return hashlib.sha256((text_part(repo_id) + text_part(path)).encode())


def module_owner(row: int, file: Digest) -> Owner:
    """The owner of what is in a module and in no def."""
    return Owner(row, "", "", is_class=False, digest=_extended(file, "", 0))


def inner_owner(row: int, name: str, owner: Owner, file: Digest, *, is_class: bool) -> Owner:
    """The owner that a class or function inside `owner` is; counts it as one more of its name."""
    ordinal = owner.ordinals.get(name, 0)
    owner.ordinals[name] = ordinal + 1
    path = f"{owner.outer}{name}"
    outer = f"{path}#{ordinal}." if ordinal else f"{path}."
    qualname = f"{owner.qualname}.{name}" if owner.qualname else name
    return Owner(row, outer, qualname, is_class, _extended(file, path, ordinal))


def lambda_owner(row: int, owner: Owner) -> Owner:
    """The owner that a lambda is: ids inside it go on from the def around it, and so do its ordinals."""
    return Owner(row, owner.outer, owner.qualname, is_class=False, digest=owner.digest)


def parameter_id(name: str, owner: Owner, file: Digest) -> str:
    """The id of a function's parameter; a name that is wrongly there twice has two."""
    ordinal = owner.parameters.get(name, 0)
    owner.parameters[name] = ordinal + 1
    return definition_id("PARAMETER", _extended(file, f"{owner.outer}{name}", ordinal))


def definition_id(kind: str, digest: Digest) -> str:
    """The id of a node that has a path of its own, from the digest of its file, path and ordinal."""
    return node_ids([text_part(kind)], [digest], [""])[0]


def node_ids(kind_parts: Iterable[str], digests: Iterable[Digest], local_paths: Iterable[str]) -> list[str]:
    """The id of each node, given its kind as a part of an id, its owner's digest and its local path."""
    ids: list[str] = []
    append = ids.append
    for kind, digest, local in zip(kind_parts, digests, local_paths, strict=True):
        own = digest.copy()
        own.update(f"{kind}s{len(local)}:{local}".encode())
        append("node:" + own.hexdigest()[:_HEX_DIGITS])
    return ids


def text_part(text: str) -> str:
    """A text as `stable_id` writes it."""
    return f"s{len(text)}:{text}"


def _extended(file: Digest, path: str, ordinal: int) -> Digest:
    digest = file.copy()
    digest.update(f"{text_part(path)}i{len(str(ordinal))}:{ordinal}".encode())
    return digest

"""Attributes that methods store in their first parameter: bindings of the class, with all their sites.

A function in a method, a lambda or a comprehension has the parameter too, as long as it does not bind the
name itself. Not here: attributes of any other name, and what a class inherits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.extract.sites import AUG, DEL, USE, mangle

if TYPE_CHECKING:
    import ast

    from headwater.cpg.extract.resolving import Meanings
    from headwater.cpg.extract.sites import Scope, Sites


def add_instance_attributes(sites: Sites, meanings: Meanings) -> None:
    """Add a binding for each attribute that a method of a class stores or annotates, and its sites."""
    found = _attributes_of_receivers(sites, meanings)
    bindings: dict[tuple[int, str], int] = {}
    for owner, node, code in found:
        known = mangle(node.attr, owner.names.private)
        if code not in {USE, DEL} and (owner.index, known) not in bindings:
            bindings[owner.index, known] = len(sites.names)
            _add_binding(sites, meanings, owner, node.attr, known)
    for owner, node, code in found:
        binding = bindings.get((owner.index, mangle(node.attr, owner.names.private)))
        if binding is not None:
            for each in (USE, AUG) if code == AUG else (code,):
                sites.bindings.append(binding)
                sites.nodes.append(node)
                sites.codes.append(each)


def _attributes_of_receivers(sites: Sites, meanings: Meanings) -> list[tuple[Scope, ast.Attribute, int]]:
    """The class, node and code of each attribute whose name is really the method's parameter."""
    return [
        (receiver.owner, node, code)
        for receiver, binding, node, code in sites.attributes
        if binding == receiver.binding or meanings.resolves_to[binding] == receiver.binding
    ]


def _add_binding(sites: Sites, meanings: Meanings, owner: Scope, name: str, known: str) -> None:
    if known != name:
        sites.mangled[len(sites.names)] = known
    sites.names.append(name)
    sites.scopes_of.append(owner.index)
    sites.flags.append(0)
    meanings.kind.append("instance_attr")
    meanings.resolves_to.append(None)
    meanings.reason.append(None)

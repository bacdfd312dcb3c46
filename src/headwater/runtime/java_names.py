"""The JVM's packages and classes by name, each asked for once.

To know that `org` is a package and no class, the JVM looks into all of its jars; so it does for every part of
a name that has dots, each time it is written. Not here: objects and what is called on them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from py4j.java_gateway import JavaPackage


class JavaNames:
    """A package, or all of them: what is asked of it is a package again, or a class."""

    def __init__(self, package: Any) -> None:
        self._package = package

    def __getattr__(self, name: str) -> Any:
        """What has this name in the JVM; found here without a question the next time."""
        found: Any = getattr(self._package, name)
        kept = JavaNames(found) if isinstance(found, JavaPackage) else found
        setattr(self, name, kept)
        return kept


@lru_cache(maxsize=1)
def names_in(jvm: Any) -> JavaNames:
    """The names of one JVM, as py4j shows it."""
    return JavaNames(jvm)

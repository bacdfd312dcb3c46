"""Delta's table features by name, as this Delta has them, and the property that switches each one on.

Not here: which of them a table has; its snapshot says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.delta.projection import each_of
from headwater.errors import FeatureUnknown
from headwater.names import near_hint
from headwater.policies import FEATURE_PRESETS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.origin import Origin
    from headwater.runtime import RunSession

# A feature that a table only supports does nothing until its property says so.
_SWITCHES: Mapping[str, tuple[str, str]] = {
    "appendOnly": ("delta.appendOnly", "true"),
    "changeDataFeed": ("delta.enableChangeDataFeed", "true"),
    "columnMapping": ("delta.columnMapping.mode", "name"),
    "deletionVectors": ("delta.enableDeletionVectors", "true"),
    "inCommitTimestamp": ("delta.enableInCommitTimestamps", "true"),
    "rowTracking": ("delta.enableRowTracking", "true"),
    "typeWidening": ("delta.enableTypeWidening", "true"),
    "v2Checkpoint": ("delta.checkpointPolicy", "v2"),
}
# Whoever commits to such a table is a catalog, not its folder.
_NOT_OURS = ("catalogManaged", "coordinatedCommits-preview")
_SUPPORTED = "delta.feature."
_known: list[str] = []


def known_features(session: RunSession) -> tuple[str, ...]:
    """The table features that this Delta has and a table in a folder can have, sorted by name."""
    if not _known:
        features: Any = session.jvm.org.apache.spark.sql.delta.TableFeature.allSupportedFeaturesMap()
        names = (str(each.name()) for each in each_of(features.values()))
        _known.extend(sorted(name for name in names if name not in _NOT_OURS))
    return tuple(_known)


def feature_properties(
    session: RunSession, features: Sequence[str], origin: Origin | None = None
) -> dict[str, str]:
    """The table properties that switch features on.

    Raises:
        FeatureUnknown: this Delta has no such feature.
    """
    found: dict[str, str] = {}
    known = {name.casefold(): name for name in known_features(session)} if features else {}
    for feature in features:
        name = known.get(feature.casefold())
        if name is None:
            hint = near_hint(feature, (*known.values(), *FEATURE_PRESETS))
            raise FeatureUnknown(feature=feature, known=tuple(known.values()), hint=hint, origin=origin)
        key, value = _SWITCHES.get(name, (f"{_SUPPORTED}{name}", "supported"))
        found[key] = value
    return found


def feature_of(key: str) -> str | None:
    """The feature that a property makes a table support; None if it is another property."""
    return key.removeprefix(_SUPPORTED) if key.startswith(_SUPPORTED) else None

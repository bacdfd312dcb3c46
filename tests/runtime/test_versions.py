from __future__ import annotations

import hashlib
import platform
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark

from headwater.runtime import dependency_manifest, engine_versions
from headwater.runtime.jars import DELTA_JARS

if TYPE_CHECKING:
    import pytest


def test_versions_are_those_that_are_pinned() -> None:
    versions = engine_versions()
    assert (versions.spark, versions.delta) == ("4.2.0", "4.4.0")
    assert versions.scala.startswith("2.13.")


def test_the_manifest_lists_every_jar_with_its_sha256() -> None:
    manifest = dependency_manifest()
    bundled = sorted((Path(pyspark.__file__).parent / "jars").glob("*.jar"))
    assert len(manifest.jars) == len(bundled) + len(DELTA_JARS)
    listed = {jar.name: jar.sha256 for jar in manifest.jars}
    sample = bundled[len(bundled) // 2]
    assert listed[sample.name] == hashlib.sha256(sample.read_bytes()).hexdigest()
    assert {jar.name for jar in DELTA_JARS} <= set(listed)
    assert manifest.python == platform.python_version()
    assert manifest.java is not None
    assert int(manifest.java.split(".")[0]) >= 17


def test_no_java_is_no_reason_to_fail(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    manifest = dependency_manifest()
    assert manifest.java is None
    assert manifest.spark == "4.2.0"

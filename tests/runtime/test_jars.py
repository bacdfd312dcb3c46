from __future__ import annotations

import hashlib
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from headwater.errors import HomeNotWritable, JarCorrupt, JarsUnavailable
from headwater.home import headwater_home
from headwater.runtime.jars import DELTA_JARS, Jar, provide_jars, pyspark_jars, spark_around
from headwater.runtime.java import Java, find_java

CONTENT = {"a.jar": b"first", "b.jar": b"second"}
JARS = tuple(Jar(name, hashlib.sha256(content).hexdigest()) for name, content in CONTENT.items())
REFUSED = "java.net.ConnectException: refused"
NO_JAVA = Java(path=Path("java"), version="17", major=17, vendor="none")


class Registry:
    """A fetch that writes what it was given and counts how often it was asked."""

    def __init__(self, content: dict[str, bytes], log: str = "") -> None:
        self.content = content
        self.log = log
        self.calls = 0

    def __call__(self, folder: Path, log: Path, _java: Java) -> None:
        self.calls += 1
        log.write_text(self.log)
        for name, content in self.content.items():
            (folder / name).write_bytes(content)


def written(home: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((home / "jars").iterdir())}


def test_missing_jars_are_fetched_once_and_said_once(tmp_path: Path) -> None:
    registry, said = Registry(CONTENT), list[str]()
    for _ in range(2):
        paths = provide_jars(tmp_path, NO_JAVA, jars=JARS, fetch=registry, notify=said.append)
        assert paths == (tmp_path / "jars" / "a.jar", tmp_path / "jars" / "b.jar")
    assert written(tmp_path) == CONTENT
    assert registry.calls == 1
    assert said == ["fetching the Delta jars (once, 12 MB)"]


def test_a_damaged_jar_is_fetched_again_and_a_good_one_left_alone(tmp_path: Path) -> None:
    provide_jars(tmp_path, NO_JAVA, jars=JARS, fetch=Registry(CONTENT))
    (tmp_path / "jars" / "a.jar").write_bytes(b"firs")
    provide_jars(tmp_path, NO_JAVA, jars=JARS, fetch=Registry({"a.jar": b"first", "b.jar": b"other"}))
    assert written(tmp_path) == CONTENT


def test_wrong_bytes_are_refused_and_nothing_is_kept(tmp_path: Path) -> None:
    with pytest.raises(JarCorrupt) as caught:
        provide_jars(tmp_path, NO_JAVA, jars=JARS, fetch=Registry({**CONTENT, "b.jar": b"bad"}))
    assert (caught.value.jar, caught.value.expected) == ("b.jar", JARS[1].sha256)
    assert caught.value.found == hashlib.sha256(b"bad").hexdigest()
    assert written(tmp_path) == {}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["jars", "jars.lock", "logs"]


@pytest.mark.parametrize(
    ("log", "detail"),
    [
        ("\tHost a.example not found.\n\t(java.net.ConnectException: refused)\n", REFUSED),
        (":::: WARNINGS\n\tHost a.example not found. url=b\n", "Host a.example not found"),
        ("Exception in thread main x.Y\n\tat z\nCaused by: no interfaces\n", "no interfaces"),
        ("Exception in thread of the fetch: timed out\n", "of the fetch: timed out"),
        ("nothing of use\n", ""),
    ],
    ids=["refused", "no host", "cause", "exception", "silent"],
)  # fmt: skip
def test_jars_that_cannot_be_had_are_named_with_the_reason(tmp_path: Path, log: str, detail: str) -> None:
    with pytest.raises(JarsUnavailable) as caught:
        provide_jars(tmp_path, NO_JAVA, jars=JARS, fetch=Registry({"a.jar": b"first"}, log))
    assert (caught.value.jars, caught.value.detail) == (("b.jar",), detail)
    assert written(tmp_path) == {}


def test_two_at_once_fetch_once(tmp_path: Path) -> None:
    registry = Registry(CONTENT)

    def provide(_number: int) -> tuple[Path, ...]:
        return provide_jars(tmp_path, NO_JAVA, jars=JARS, fetch=registry)

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(provide, range(4)))) == 1
    assert registry.calls == 1


def test_a_cache_that_cannot_take_them_is_named(tmp_path: Path) -> None:
    (tmp_path / "jars" / "a.jar" / "in the way").mkdir(parents=True)
    with pytest.raises(HomeNotWritable):
        provide_jars(tmp_path, NO_JAVA, jars=JARS, fetch=Registry(CONTENT))


def test_sparks_resolver_brings_back_a_damaged_jar(tmp_path: Path) -> None:
    java = find_java()
    cached = provide_jars(headwater_home(), java)
    shutil.copytree(cached[0].parent, tmp_path / "jars")
    (tmp_path / "jars" / DELTA_JARS[0].name).write_bytes(b"damaged")
    provided = provide_jars(tmp_path, java)
    assert [path.read_bytes() for path in provided] == [path.read_bytes() for path in cached]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["jars", "jars.lock", "logs"]


def test_pysparks_jars_come_in_one_order_with_slf4j_first() -> None:
    names = [path.name for path in pyspark_jars()]
    assert names[0].startswith("slf4j-api-")
    assert names[1:] == sorted(names[1:])
    assert any(name.startswith("spark-connect_") for name in names)


@pytest.mark.parametrize("package", ["pyspark", "python/pyspark", "python/lib/pyspark.zip/pyspark"])
def test_the_jars_are_found_around_pyspark(tmp_path: Path, package: str) -> None:
    """As pip installs it, as a distribution of Spark has it, and as spark-submit puts it on the path."""
    spark = tmp_path / "pyspark" if package == "pyspark" else tmp_path
    (spark / "jars").mkdir(parents=True)
    (spark / "jars" / "spark-core_2.13-4.2.0.jar").touch()
    assert spark_around(tmp_path / package) == spark
    assert spark_around(Path("/nowhere/pyspark")) == Path("/nowhere/pyspark")

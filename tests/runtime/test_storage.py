from __future__ import annotations

import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headwater.errors import InvalidSetting, RemoteRefused, RemoteUnsupported
from headwater.origin import Origin
from headwater.runtime import (
    RuntimeProfile,
    StorageProfile,
    TomlSource,
    local_path_of,
    redacted,
    resolve_profile,
)
from headwater.runtime.storage import is_remote

if TYPE_CHECKING:
    from headwater.runtime import RunSession

ODD = [
    "a b",
    "ü✓",
    "100%",
    "%20",
    "a:b",
    "a#b",
    "a?b",
    "[1]",
    "*",
    "it's",
    '"q"',
    "back\\slash",
    "~",
    "+&=;,@",
]
DDB = "io.delta.storage.S3DynamoDBLogStore"

names = st.text(
    st.characters(exclude_characters="/\0", exclude_categories=("Cs",)), min_size=1, max_size=12
).filter(lambda name: name not in {".", ".."})
odd_pieces = (
    "/ // . .. link real file: FILE: localhost s3:// S3A:// hdfs:// Bucket key:secret@ %2F %2e % %ff %00"
)
pieces = st.sampled_from([*odd_pieces.split(), *":?#\\ \n\udcffü~[]@*"])
spellings = st.lists(pieces | names, max_size=8).map("".join)


def canonical(path: str, *, require_local_paths: bool = False) -> str:
    return StorageProfile(require_local_paths=require_local_paths).canonical_uri(path)


def storage(options: dict[str, str] | None = None, log: dict[str, str] | None = None) -> StorageProfile:
    return StorageProfile(
        options=tuple((options or {}).items()), log_store_options=tuple((log or {}).items())
    )


def refused(options: dict[str, str] | None = None, log: dict[str, str] | None = None) -> InvalidSetting:
    with pytest.raises(InvalidSetting) as caught:
        storage(options, log)
    assert caught.value.exit_code == 2
    return caught.value


# --- local addresses -----------------------------------------------------------------------------------


@given(names)
def test_an_address_leads_back_to_its_path(name: str) -> None:
    path = Path("/lake") / name
    assert local_path_of(canonical(str(path))) == path


@pytest.mark.parametrize("name", ODD)
def test_every_character_of_a_path_stands_for_itself(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = tmp_path.resolve() / name
    table.mkdir()
    for spelling in (name, f"./{name}/", f"{tmp_path}//{name}", f"x/../{name}", table.as_uri()):
        assert local_path_of(canonical(spelling)) == table
        assert canonical(canonical(spelling)) == table.as_uri()


@pytest.mark.parametrize("path", ["a:b", "data/a:b", "x?y#z", "c://x", "s3a:/bucket/t", "1s3://b", "dbfs:/t"])
def test_what_has_no_scheme_and_two_slashes_is_a_local_path(path: str) -> None:
    assert not is_remote(path)
    assert local_path_of(canonical(path)) == Path(path).resolve()


def test_one_address_however_it_is_spelt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path.resolve() / "a b"
    table.mkdir()
    (tmp_path / "x").mkdir()
    (tmp_path / "link").symlink_to(table)
    (tmp_path / "far").symlink_to(tmp_path / "x" / "..", target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    encoded = table.as_posix().replace(" ", "%20")
    spellings = [
        "a b",
        str(table),
        f"{table}/",
        f"{table}///",
        f"/{table}",
        str(table).replace("/", "//"),
        f"file:{encoded}",
        f"file:{table}",
        f"file://{encoded}",
        f"file://{encoded}/.",
        f"file:///{encoded}",
        f"FILE://localhost{encoded}/",
        f"file://{encoded.replace('a%20b', '%61%20b')}",
        f"file://{tmp_path}/x/%2E%2E/a b",
        "link",
        "far/link",
        "./x/../a b",
        "x/.././/a b/.",
    ]
    assert {canonical(each) for each in spellings} == {table.as_uri()}


def test_two_dots_behind_a_link_leave_what_it_points_at(tmp_path: Path) -> None:
    (tmp_path / "far" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "far" / "deep")
    assert canonical(f"{tmp_path}/link/../t") == (tmp_path.resolve() / "far" / "t").as_uri()


def test_only_a_file_address_is_decoded() -> None:
    assert local_path_of(canonical("/lake/a%20b")) == Path("/lake/a%20b")
    assert local_path_of(canonical("file:/lake/a%20b")) == Path("/lake/a b")
    assert local_path_of(canonical("file:///lake/a%2520b")) == Path("/lake/a%20b")
    assert local_path_of(canonical("file:///lake/50%")) == Path("/lake/50%")


def test_a_file_address_has_no_query_and_no_fragment() -> None:
    assert local_path_of(canonical("file:/lake/a?b#c")) == Path("/lake/a?b#c")
    assert local_path_of("file:///lake/a?b#c") == Path("/lake/a?b#c")


@pytest.mark.parametrize(
    "uri", ["file:/lake/t", "file://localhost/lake/t", "file:////lake/t", "FILE:///lake/t"]
)
def test_any_spelling_of_a_file_address_has_its_path(uri: str) -> None:
    assert str(local_path_of(uri)) == "/lake/t"


def test_a_name_that_is_no_utf8_is_kept(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "caf\udce9"
    assert local_path_of(canonical(str(path))) == path
    assert local_path_of(path.as_uri()) == path
    assert canonical(path.as_uri()) == path.as_uri()


def test_a_tilde_is_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert canonical("~/t") == (tmp_path.resolve() / "~" / "t").as_uri()


@pytest.mark.parametrize(
    "path",
    [
        "",
        "a\0b",
        "\ud800",
        "file:/a%00b",
        "file:/a\0b",
        "file:",
        "file:a/b",
        "file://",
        "file://localhost",
        "file://otherhost/x",
        "file://localhost:80/x",
        "s3a://bucket/a\0b",
    ],
)
def test_what_no_place_can_be_called_is_refused(path: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        canonical(path)
    assert caught.value.key == "path"
    assert ("NUL" in caught.value.expected) or ("file:///lake/t" in caught.value.expected)
    assert "\0" not in str(caught.value)


def test_a_loop_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(InvalidSetting, match="loop"):
        canonical(str(tmp_path / "loop"))


# --- remote addresses ----------------------------------------------------------------------------------

HADOOPS = [
    ("s3a://b", "s3a://b/"),
    ("s3a://b/", "s3a://b/"),
    ("s3a://b//", "s3a://b/"),
    ("s3a://b//a///t//", "s3a://b/a/t"),
    ("s3a://b/./a/t", "s3a://b/a/t"),
    ("s3a://b/a/.", "s3a://b/a"),
    ("s3a://b/a/t/..", "s3a://b/a"),
    ("s3a://b/a/..", "s3a://b/"),
    ("s3a://b/a/../../t", "s3a://b/../t"),
    ("s3a://b/..//../t", "s3a://b/../../t"),
    ("s3a://b/.../t", "s3a://b/.../t"),
    ("s3a://b/a%20b/%2e%2e/%2F", "s3a://b/a%20b/%2e%2e/%2F"),
    ("s3a://b/x?y#z", "s3a://b/x?y#z"),
    ("s3a://b/a b/ü:[1]*\\c", "s3a://b/a b/ü:[1]*\\c"),
    ("hdfs://nn:8020/t/", "hdfs://nn:8020/t"),
    ("abfss://c@account.dfs.core.windows.net/t/", "abfss://c@account.dfs.core.windows.net/t"),
]


@pytest.mark.parametrize(("spelt", "address"), HADOOPS)
def test_a_remote_address_is_made_as_hadoop_makes_it(spelt: str, address: str) -> None:
    assert is_remote(spelt)
    assert canonical(spelt) == address
    assert canonical(address) == address


def test_hadoop_agrees(session: RunSession) -> None:
    path: Any = session.jvm.org.apache.hadoop.fs.Path

    def made(text: str) -> str:
        return path(text).toString()

    for spelt, address in HADOOPS:
        assert made(address) == address
        # Hadoop leaves a slash behind a final dot, and none behind a bare bucket, until it is asked again.
        assert made(made(spelt)).rstrip("/") == address.rstrip("/")


def test_scheme_and_host_are_in_small_letters_and_s3_has_one_scheme() -> None:
    spelt = ["s3://Bucket/T", "s3n://bucket/T", "S3A://BUCKET/T/"]
    assert {canonical(each) for each in spelt} == {"s3a://bucket/T"}
    assert canonical("HDFS://NN:8020/T") == "hdfs://nn:8020/T"
    assert canonical("hdfs:///T") == "hdfs:///T"


def test_a_remote_address_is_refused_where_the_profile_says_so() -> None:
    for path in ("s3a://bucket/t", "S3://bucket/t", "hdfs:///t", "https://host/t", "s3a://"):
        with pytest.raises(RemoteRefused):
            canonical(path, require_local_paths=True)
    assert canonical("/lake/a:b", require_local_paths=True) == "file:///lake/a%3Ab"


@pytest.mark.parametrize("uri", ["s3a://bucket/t", "hdfs://nn/t", "memory:t"])
def test_a_remote_address_has_no_local_path(uri: str) -> None:
    with pytest.raises(RemoteUnsupported) as caught:
        local_path_of(uri)
    assert caught.value.uri == uri


@pytest.mark.parametrize(
    "uri",
    [
        "s3a://AKIA:hunter2@bucket/t",
        "s3://AKIA:hunter2@bucket",
        "s3a://hunter2@bucket/t",
        "s3a://AKIA:hunter2/x@bucket/t",
        "s3a://AKIA:hunter2",
        "s3a://AKIA:x@hunter2@bucket/t",
        "hdfs://me:hunter2@nn:8020/t",
        "abfss://c:hunter2@account.dfs.core.windows.net/t",
    ],
)
def test_a_login_in_an_address_is_refused_and_not_shown(uri: str) -> None:
    with pytest.raises(InvalidSetting) as invalid:
        canonical(uri)
    with pytest.raises(RemoteRefused) as remote:
        canonical(uri, require_local_paths=True)
    with pytest.raises(RemoteUnsupported) as unsupported:
        local_path_of(uri)
    for caught in (invalid, remote, unsupported):
        shown = f"{caught.value} {caught.value.next_step} {caught.value!r}"
        assert "*********" in shown
        assert "hunter2" not in shown


def test_a_login_in_a_file_address_is_not_shown() -> None:
    with pytest.raises(InvalidSetting) as caught:
        canonical("file://me:hunter2@host/t")
    assert "hunter2" not in f"{caught.value} {caught.value.next_step}"


@pytest.mark.parametrize("uri", ["s3a://", "s3a:///t", "s3a://b ucket/t", "s3a://bücket/t", "hdfs://h:x/t"])
def test_a_host_that_is_none_is_refused(uri: str) -> None:
    with pytest.raises(InvalidSetting, match="path"):
        canonical(uri)


@given(spellings, st.booleans())
@example("//real/../link/..", True)
@example("link/../link", False)
@example("s3://Bucket/..", False)
@example("file:%2F", True)
@example("/x//../\udcff", False)
def test_an_address_is_its_own_address(spelling: str, is_below: bool) -> None:
    with TemporaryDirectory() as made:
        root = Path(made).resolve()
        (root / "real" / "deep").mkdir(parents=True)
        (root / "link").symlink_to(root / "real" / "deep")
        (root / "real" / "link").symlink_to("..")
        path = f"{root}/{spelling}" if is_below else spelling
        try:
            address = canonical(path)
        except InvalidSetting:
            return
        assert canonical(address) == address
        if not is_remote(path):
            assert local_path_of(address).as_uri() == address
        if is_below:
            assert local_path_of(address) == Path(path).resolve()


# --- options -------------------------------------------------------------------------------------------


def test_options_become_spark_settings() -> None:
    options = {"fs.a": "1", "spark.hadoop.fs.b": "2"}
    log = {
        "logStore.class": "c",
        "logStore.s3a.impl": "x",
        f"{DDB}.ddb.tableName": "t",
        f"spark.{DDB}.ddb.region": "eu-west-1",
        "spark.delta.logStore.gs.impl": "y",
    }
    assert storage(options, log).spark_settings() == (
        ("spark.delta.logStore.class", "c"),
        ("spark.delta.logStore.gs.impl", "y"),
        ("spark.delta.logStore.s3a.impl", "x"),
        ("spark.hadoop.fs.a", "1"),
        ("spark.hadoop.fs.b", "2"),
        (f"spark.{DDB}.ddb.region", "eu-west-1"),
        (f"spark.{DDB}.ddb.tableName", "t"),
    )


def test_a_setting_that_is_written_twice_has_one_value() -> None:
    same = storage({"fs.a": "1", "spark.hadoop.fs.a": "1"})
    assert same.spark_settings() == (("spark.hadoop.fs.a", "1"),)
    error = refused({"fs.a": "1", "spark.hadoop.fs.a": "2"})
    assert (error.key, error.value) == ("spark.hadoop.fs.a", "'2'")
    assert error.expected == "one value: 'fs.a' is the same setting and has '1'"
    assert refused(log={"logStore.class": "a", "spark.delta.logStore.class": "b"}).exit_code == 2
    assert refused(log={f"{DDB}.x": "a", f"spark.{DDB}.x": "b"}).key == f"spark.{DDB}.x"


@pytest.mark.parametrize(
    "key",
    ["logstore.class", "fs.s3a.endpoint", "spark.hadoop.fs.a", "spark.sql.x", "delta.logStore.class", ""],
)
def test_an_unknown_log_store_option_is_refused(key: str) -> None:
    error = refused(log={key: "hunter2"})
    assert error.key == key
    assert "logStore.*, io.delta.storage.*, spark.delta.*, spark.io.delta.*" in error.expected
    assert "hunter2" not in str(error)


@pytest.mark.parametrize(
    "endpoint",
    [
        "e",
        "minio:9000",
        "s3.eu-west-1.amazonaws.com",
        "s3.eu-west-1.amazonaws.com/",
        "http://minio_1:9000/",
        "HTTPS://Host",
        "[::1]:9000",
        "https://host/base",
    ],
)
def test_an_endpoint_is_a_host_or_a_url(endpoint: str) -> None:
    assert storage({"fs.s3a.endpoint": endpoint}).options == (("fs.s3a.endpoint", endpoint),)


@pytest.mark.parametrize(
    "endpoint",
    [
        "",
        "two words",
        "ftp://host",
        "http://",
        "http:/host",
        "https://host?x",
        "host:port",
        "host:0",
        "host:65536",
        "host/base",
        "-host",
        "a,b",
    ],
)
@pytest.mark.parametrize(
    "key", ["fs.s3a.endpoint", "spark.hadoop.fs.s3a.endpoint", "fs.s3a.bucket.my.lake.endpoint"]
)
def test_an_endpoint_that_is_none_is_refused(key: str, endpoint: str) -> None:
    error = refused({key: endpoint})
    assert (error.key, error.value) == (key, repr(endpoint))
    assert "a host" in error.expected


@pytest.mark.parametrize("prefix", ["fs.s3a.", "fs.s3a.bucket.lake.", "spark.hadoop.fs.s3a."])
def test_the_ssl_switch_says_what_the_endpoint_says(prefix: str) -> None:
    endpoint, switch = f"{prefix}endpoint", f"{prefix}connection.ssl.enabled"
    for url, value in (("https://minio", "false"), ("HTTP://minio", "True")):
        error = refused({endpoint: url, switch: value})
        assert (error.key, error.value) == (switch, value)
        assert endpoint in error.expected
    for url, value in (("https://minio", "true"), ("http://minio", "false"), ("minio", "false")):
        assert storage({endpoint: url, switch: value}).spark_settings()
    assert storage({endpoint: "http://minio"}).spark_settings()


def test_buckets_may_have_endpoints_of_their_own() -> None:
    own = {
        "fs.s3a.endpoint": "a",
        "fs.s3a.bucket.lake.endpoint": "b",
        "fs.s3a.bucket.lake.endpoint.region": "r",
    }
    assert storage(own).spark_settings()


@pytest.mark.parametrize(
    ("data", "log"),
    [
        ("minio:9000", "http://MINIO:9000/"),
        ("https://minio", "https://minio:443"),
        ("http://minio:80/", "http://minio"),
        ("minio", "minio:443"),
        ("https://minio/base/", "https://minio/base"),
    ],
)
def test_the_log_is_where_the_data_is(data: str, log: str) -> None:
    assert storage({"fs.s3a.endpoint": data}, {"io.delta.storage.Mine.endpoint": log}).spark_settings()
    assert storage({"fs.s3a.endpoint": log}, {"io.delta.storage.Mine.endpoint": data}).spark_settings()


@pytest.mark.parametrize(
    ("data", "log"),
    [
        ("minio:9000", "other:9000"),
        ("minio:9000", "minio:9001"),
        ("minio", "minio:80"),
        ("https://minio/a", "https://minio/b"),
        ("minio", "not a host"),
        ("minio", "http://AKIA:hunter2@other"),
        ("minio", "AKIA:hunter2@other"),
    ],
)
@pytest.mark.parametrize("key", ["io.delta.storage.Mine.endpoint", "logStore.s3a.endpoint"])
def test_a_log_at_another_endpoint_is_refused(key: str, data: str, log: str) -> None:
    error = refused({"spark.hadoop.fs.s3a.endpoint": data}, {key: log})
    assert error.key == key
    assert f"{data} ('spark.hadoop.fs.s3a.endpoint')" in error.expected
    assert "hunter2" not in f"{error} {error.next_step}"


def test_without_ssl_port_80_goes_without_saying() -> None:
    data = {"fs.s3a.endpoint": "minio", "fs.s3a.connection.ssl.enabled": "false"}
    assert storage(data, {"io.delta.storage.Mine.endpoint": "minio:80"}).spark_settings()
    assert refused(data, {"io.delta.storage.Mine.endpoint": "minio:443"})


def test_without_a_general_endpoint_the_log_is_where_a_bucket_is() -> None:
    log = {"io.delta.storage.Mine.endpoint": "minio:9000"}
    assert refused({}, log).key == "io.delta.storage.Mine.endpoint"
    assert storage({"fs.s3a.bucket.lake.endpoint": "minio:9000"}, log).spark_settings()
    assert "other" in refused({"fs.s3a.bucket.lake.endpoint": "other"}, log).expected
    both = {"fs.s3a.endpoint": "other", "fs.s3a.bucket.lake.endpoint": "minio:9000"}
    assert refused(both, log).expected == "the place of the data, other ('fs.s3a.endpoint')"


@pytest.mark.parametrize("key", [f"{DDB}.ddb.region", f"spark.{DDB}.ddb.region", "logStore.s3a.region"])
def test_a_log_in_another_region_is_refused(key: str) -> None:
    error = refused({"fs.s3a.endpoint.region": "eu-west-1"}, {key: "us-east-1"})
    assert (error.key, error.value) == (key, "'us-east-1'")
    assert "eu-west-1 ('fs.s3a.endpoint.region')" in error.expected
    assert storage({"fs.s3a.endpoint.region": "eu-west-1"}, {key: "EU-West-1"}).spark_settings()
    assert storage({}, {key: "us-east-1"}).spark_settings()


def test_dynamodb_has_an_endpoint_of_its_own() -> None:
    log = {f"{DDB}.ddb.endpoint": "http://dynamo:8000"}
    assert storage({"fs.s3a.endpoint": "minio:9000"}, log).spark_settings()


def test_a_refused_option_is_shown_with_its_line() -> None:
    text = (
        '[profiles.local.storage.options]\n"fs.s3a.endpoint" = "minio:9000"\n'
        '[profiles.local.storage.log_store_options]\n"io.delta.storage.Mine.endpoint" = "other"\n'
    )
    with pytest.raises(InvalidSetting) as caught:
        resolve_profile(
            profiles=tomllib.loads(text)["profiles"],
            environ={},
            source=TomlSource(path="headwater.toml", text=text),
        )
    assert caught.value.origin == Origin("headwater.toml", 4)


# --- secrets -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "key",
    [
        "fs.s3a.secret.key",
        "fs.s3a.access.key",
        "a.password",
        "x.token",
        "account-key",
        "fs.azure.sas.c.a",
        "x.private.key",
        "x.api.key",
        "fs.s3a.encryption.key",
    ],
)
def test_a_secret_is_struck_out_and_is_no_identity(key: str) -> None:
    assert redacted(((key, "old"),)) == ((key, "*********"),)
    old, new = StorageProfile(options=((key, "old"),)), StorageProfile(options=((key, "new"),))
    assert old.identity() == new.identity()
    assert "old" not in str(old.identity())


def test_no_secret_is_shown() -> None:
    profile = StorageProfile(
        options=(("fs.s3a.secret.key", "hunter2"), ("fs.proxy", "http://me:hunter2@proxy:80/x")),
        log_store_options=(("io.delta.storage.Mine.password", "hunter2"), ("logStore.class", "shown")),
        require_local_paths=True,
    )
    for text in (repr(profile), str(profile), str(profile.identity()), repr(RuntimeProfile(storage=profile))):
        assert "hunter2" not in text
        assert "shown" in text
        assert "http://*********@proxy:80/x" in text
    assert ("spark.hadoop.fs.s3a.secret.key", "hunter2") in profile.spark_settings()
    assert repr(StorageProfile()) == (
        "StorageProfile(options=(), log_store_options=(), require_local_paths=False)"
    )


@pytest.mark.parametrize(
    "options",
    [
        {"fs.s3a.secret.key": "hunter2", "spark.hadoop.fs.s3a.secret.key": "hunter2x"},
        {"fs.proxy": "http://me:hunter2@proxy", "spark.hadoop.fs.proxy": "http://me:hunter2@other"},
        {"fs.s3a.endpoint": "https://AKIA:hunter2@minio"},
        {"fs.s3a.endpoint": "AKIA:hunter2@minio"},
        {"fs.s3a.endpoint": "https://AKIA:hunter2/x@minio"},
    ],
)
def test_an_error_shows_no_secret(options: dict[str, str]) -> None:
    error = refused(options)
    shown = f"{error} {error.next_step} {error!r}"
    assert "*********" in shown
    assert "hunter2" not in shown

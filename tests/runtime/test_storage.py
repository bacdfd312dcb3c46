from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import RemoteRefused
from headwater.runtime import StorageProfile, local_path_of, redacted

names = st.text(
    st.characters(exclude_characters="/\0", exclude_categories=("Cs",)), min_size=1, max_size=12
).filter(lambda name: name not in {".", ".."})


@given(names)
def test_an_address_leads_back_to_its_path(name: str) -> None:
    path = Path("/lake") / name
    assert local_path_of(StorageProfile().canonical_uri(str(path))) == path


def test_one_address_however_it_is_spelt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "a b"
    table.mkdir()
    (tmp_path / "link").symlink_to(table)
    monkeypatch.chdir(tmp_path)
    spellings = [
        "a b",
        str(table),
        f"{table}/",
        f"file://{table.as_posix().replace(' ', '%20')}",
        "link",
        "./x/../a b",
    ]
    (tmp_path / "x").mkdir()
    assert {StorageProfile().canonical_uri(each) for each in spellings} == {table.as_uri()}


def test_a_remote_address_is_kept_or_refused() -> None:
    assert StorageProfile().canonical_uri("s3a://bucket/t/") == "s3a://bucket/t"
    with pytest.raises(RemoteRefused):
        StorageProfile(require_local_paths=True).canonical_uri("s3a://bucket/t")
    with pytest.raises(RemoteRefused):
        local_path_of("s3a://bucket/t")


def test_options_become_spark_settings() -> None:
    profile = StorageProfile(options=(("fs.a", "1"),), log_store_options=(("logStore.s3a.impl", "x"),))
    assert profile.spark_settings() == (("spark.delta.logStore.s3a.impl", "x"), ("spark.hadoop.fs.a", "1"))


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

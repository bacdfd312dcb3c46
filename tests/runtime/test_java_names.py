from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from headwater.runtime.java_names import names_in

if TYPE_CHECKING:
    from headwater.runtime import RunSession


def test_a_name_is_looked_up_once(session: RunSession, monkeypatch: pytest.MonkeyPatch) -> None:
    names = names_in(session.spark._jvm)
    assert session.jvm is names
    first = names.java.util.Collections
    client: Any = first._gateway_client
    asked: list[str] = []
    send = client.send_command

    def heard(command: str, *given: Any, **named: Any) -> Any:
        asked.append(command)
        return send(command, *given, **named)

    monkeypatch.setattr(client, "send_command", heard)
    assert names.java.util.Collections is first
    assert asked == []
    assert first.emptyList().size() == 0
    assert asked != []


def test_a_name_that_nothing_has_is_an_error_each_time(session: RunSession) -> None:
    for _ in range(2):
        with pytest.raises(TypeError, match="not callable"):
            session.jvm.java.util.Nothing()

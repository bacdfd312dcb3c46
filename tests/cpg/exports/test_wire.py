"""The bytes of fields, as the specification of protocol buffers gives them."""

from __future__ import annotations

import pytest
from google.protobuf.wrappers_pb2 import StringValue, UInt64Value
from hypothesis import given
from hypothesis import strategies as st

from headwater.cpg.exports.wire import message_field, number_field, packed_field, text_field, varint


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (varint(0), "00"),
        (varint(150), "9601"),
        (number_field(1, 150), "089601"),
        (number_field(1, 0), ""),
        (text_field(2, "testing"), "120774657374696e67"),
        (text_field(2, ""), ""),
        (packed_field(6, [3, 270, 86942]), "3206038e029ea705"),
        (packed_field(6, []), ""),
        (message_field(3, number_field(1, 150)), "1a03089601"),
        (message_field(16, b""), "820100"),
    ],
)
def test_a_field_has_the_bytes_of_the_specification(written: bytes, expected: str) -> None:
    assert written.hex() == expected


@given(number=st.integers(0, 2**64 - 1), text=st.text())
def test_protobuf_reads_what_is_written(number: int, text: str) -> None:
    assert UInt64Value.FromString(number_field(1, number)).value == number
    assert StringValue.FromString(text_field(1, text)).value == text

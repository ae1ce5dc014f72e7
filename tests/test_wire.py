"""JSON in and out, strictly."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service import wire

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "The body is not JSON"),
        (b"{", "at line 1 column"),
        (b"\xff\xfe", "not UTF-8"),
        (rb'{"a": "\ud800"}', "lone surrogate"),
        (rb'{"\udfff": 1}', "lone surrogate"),
        (b"NaN", "NaN is not a JSON number."),
        (b"[-Infinity]", "-Infinity is not a JSON number."),
        (b"1e999", "too large"),
        (b"-1e999", "too large"),
        (b"9" * 5_000, "too many digits"),
        (b"[" * 100_000, "nested more than"),
        (b"[" * 65 + b"]" * 65, "nested more than"),
        (b'{"a":' * 500 + b"1" + b"}" * 500, "nested more than"),
    ],
)
def test_what_is_not_json_for_us_is_refused_in_words(body: bytes, said: str) -> None:
    """Traps section 3: a lone surrogate anywhere, NaN, 1e999; and deep nesting."""
    with pytest.raises(wire.BadJson, match=said):
        wire.loads(body)


def test_pairs_of_surrogates_are_a_character() -> None:
    assert wire.loads(rb'"\ud83d\ude00 \\ud800"') == "😀 \\ud800"


def test_a_byte_order_mark_is_let_pass() -> None:
    assert wire.loads(b"\xef\xbb\xbf[1]") == [1]


@given(JSON)
def test_there_and_back(value: wire.Json) -> None:
    assert wire.loads(wire.dumps(value)) == value


@given(st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    try:
        value = wire.loads(body)
    except wire.BadJson as error:
        value = str(error)
    assert wire.dumps(value)


def test_letters_stay_themselves_and_half_letters_do_no_harm() -> None:
    assert wire.dumps({"ü": "日本 é"}) == '{"ü":"日本 é"}'.encode()
    assert wire.dumps("\ud800") == b'"?"'

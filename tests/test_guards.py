"""Buckets of requests, and log lines."""

import json
import logging

from service import guards
from service.guards import Buckets
from service.logs import JsonLines


def test_a_bucket_empties_and_fills_again() -> None:
    buckets = Buckets(60)
    assert [buckets.wait_s(b"a") for _ in range(60)] == [0] * 60
    assert buckets.wait_s(b"a") >= 1
    assert buckets.wait_s(b"b") == 0
    left, then = buckets.left[b"a"]
    buckets.left[b"a"] = (left, then - 2)
    assert buckets.wait_s(b"a") == 0


def test_no_limit_is_no_limit() -> None:
    assert {Buckets(None).wait_s(b"a") for _ in range(1_000)} == {0}


def test_buckets_do_not_pile_up() -> None:
    buckets = Buckets(1)
    for number in range(guards._CALLERS + 50):
        buckets.wait_s(str(number).encode())
    assert len(buckets.left) == guards._CALLERS


def test_a_log_line_is_json_with_its_fields_and_traceback() -> None:
    cause = ValueError("why")
    trace = (ValueError, cause, None)
    record = logging.LogRecord("loccit.x", logging.ERROR, "x.py", 1, "went %s", ("wrong",), trace)
    record.__dict__["fields"] = {"status": 500}
    token = guards.request_id.set("r-1")
    line = json.loads(JsonLines().format(record))
    guards.request_id.reset(token)
    assert line["event"] == "went wrong"
    assert (line["status"], line["request_id"], line["level"]) == (500, "r-1", "error")
    assert "ValueError: why" in line["traceback"]

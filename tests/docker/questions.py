"""Questions to a running service, the checks on what it says, and a stream of them while things break."""

import sys
import threading
import time
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import quote

import httpx

from service.wire import Json

QUESTION = "How can sparse networks be initialised so that orthogonality is exact?"


def note(figure: str) -> None:
    """Print what was measured; `pytest -s` shows it."""
    sys.stdout.write(f"\n{figure}\n")


def ask(client: httpx.Client, question: str = QUESTION, **more: Json) -> dict[str, Json]:
    """A cited answer whose quotes stand in their abstracts, to the character."""
    response = client.post("/v1/ask", json={"question": question, **more})
    assert response.status_code == 200, response.text
    answer: dict[str, Json] = response.json()
    assert answer["status"] in {"answered", "partial"}, answer
    check_quotes(client, answer)
    return answer


def check_quotes(client: httpx.Client, answer: dict[str, Json]) -> None:
    """Contract, law 1, from outside."""
    citations = answer["citations"]
    assert isinstance(citations, list)
    assert citations, answer
    for citation in citations:
        assert isinstance(citation, dict)
        paper = client.get(f"/v1/papers/{quote(str(citation['paper_id']), safe='')}").json()
        assert paper["abstract"][citation["start"] : citation["end"]] == citation["quote"]


@dataclass
class Stream:
    """Asks without a pause in a thread of its own; keeps what was not right."""

    url: str
    answers: int = 0
    refusals: int = 0
    slowest: float = 0.0
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def wait_for_more(self, number: int, seconds: float) -> None:
        """Wait until so many more questions were answered."""
        wanted, give_up = self.answers + number, time.monotonic() + seconds
        while self.answers < wanted:
            assert time.monotonic() < give_up, f"no answers for {seconds:g} s; {self.wrong[-3:]}"
            time.sleep(0.05)

    def _run(self) -> None:
        while not self._over.is_set():
            began = time.monotonic()
            try:
                with httpx.Client(base_url=self.url, trust_env=False, timeout=20) as client:
                    self._note(client.post("/v1/ask", json={"question": QUESTION}))
            except (httpx.ConnectError, httpx.ReadError, httpx.RemoteProtocolError):
                self.refusals += 1  # nobody is there: the clean error of a machine that is down
                time.sleep(0.05)
            except httpx.TimeoutException as error:
                self.wrong.append(repr(error))
            self.slowest = max(self.slowest, time.monotonic() - began)

    def _note(self, response: httpx.Response) -> None:
        if response.status_code == 200 and response.json()["citations"]:
            self.answers += 1
        elif response.headers.get("content-type") == "application/problem+json" and response.status_code in {502, 503}:
            self.refusals += 1
        else:
            self.wrong.append(f"{response.status_code} {response.text[:300]}")

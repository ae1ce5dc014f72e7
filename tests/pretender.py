"""A model for FAKE that the doctor finds nothing wrong with, and each thing that it should find, one at a time."""

import re
from dataclasses import dataclass

from service import tokens
from service.doctor import obedience, window
from tests.fake_replies import TOO_LONG, Reply, Request, error

_RIGHT = {obedience.canned(which).messages[-1][1]: obedience.canned(which).right for which in range(obedience.NUMBER)}


@dataclass
class Pretender:
    """Replies as a good model does, but for what is set. Call it with FAKE's Request."""

    cut_at: int = 1_000_000  # tokens: only the end of a longer prompt is read, without a word
    refuse_at: int = 1_000_000  # tokens: a longer prompt is a 400 in the words of `refusal`
    refusal: str = "vllm"
    thinks: str = ""  # in front of every reply
    counts: bool = True
    json: str = '{"colour": "blue", "count": 2}'
    takes_json: bool = True
    mark: str = "[{}]"
    declines: bool = True

    def __call__(self, request: Request) -> Reply:
        messages = [str(message["content"]) for message in request.body["messages"]]
        length = tokens.count("\n".join(messages))
        if length > self.refuse_at:
            return TOO_LONG[self.refusal]
        if "response_format" in request.body and not self.takes_json:
            return error(400, "response_format is not supported")
        text = self.json if "response_format" in request.body else self._said(messages, cut=length > self.cut_at)
        counted = {"prompt_tokens": min(length, self.cut_at), "completion_tokens": tokens.count(text)}
        total = {"total_tokens": sum(counted.values())}
        return Reply(text, think=self.thinks, usage=counted | total if self.counts else None)

    def _said(self, messages: list[str], *, cut: bool) -> str:
        if "secret word?" in messages[-1]:
            told = re.search(r"secret word is (\w+)", messages[0])
            assert told is not None
            assert told[1] == window.WORD
            return "A river." if cut else told[1].title()
        if messages[-1] not in _RIGHT:
            return "On a clear day the sky is blue, and so it is above the sea."
        right = _RIGHT[messages[-1]]
        if right is None and self.declines:
            return "NO ANSWER"
        return f"It is as the passage says {self.mark.format(right or 1)}."

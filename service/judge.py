"""A second opinion on a verdict, by the model itself: it can take `supported` away, never give it.

A careless model that says yes to everything changes nothing, so the checks hold with it as without it.
"""

import re
import time
from collections.abc import Sequence

from anyio import from_thread
from langchain_core.language_models.chat_models import BaseChatModel

import prompts
from service.errors import ModelError
from service.evidence import neutral
from service.messages import messages_of
from service.models import draft
from service.spoken import spoken

_NO = re.compile(r"\W*no\b", re.IGNORECASE)
WHY = "the judge does not find all of it in the quotes"


class Judge:
    """Asks a model about one sentence at a time; what it does not answer, or not in time, counts as no objection."""

    def __init__(self, model: BaseChatModel, timeout_s: float) -> None:
        self._model = model
        self._timeout_s = timeout_s
        self._prompt = prompts.load("judge")

    def objects(self, sentence: str, quotes: Sequence[str], ends: float) -> bool:
        """Whether the model finds that the quotes do not carry the sentence. For a worker thread of the event loop.

        `ends`, on the monotonic clock in seconds: what is not answered by then is no objection.
        """
        timeout_s = min(self._timeout_s, ends - time.monotonic())
        return timeout_s > 0 and from_thread.run(self._objects, sentence, quotes, timeout_s)

    async def _objects(self, sentence: str, quotes: Sequence[str], timeout_s: float) -> bool:
        rendered = self._prompt.render(quotes=neutral("\n".join(quotes)), sentence=neutral(sentence))
        try:
            said = await draft(self._model, messages_of(rendered), timeout_s, retries=0)
        except ModelError:
            return False
        return _NO.match(spoken(said.text)) is not None

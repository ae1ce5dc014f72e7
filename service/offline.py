"""`offline:extractive`: a chat model that needs no network, no key and no weights but the embedder's.

It reads the same prompt as any other model and answers with sentences of the evidence, each with its mark: those that
answer *this* question, trimmed of "Furthermore," and the like, without repetition, and no more than are needed. Where
the evidence does not say, it replies NO ANSWER, as the prompt asks.
"""

import re
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import ConfigDict

from service import evidence, words
from service.citations import as_text, with_marks
from service.sentence_choice import Candidate, asks_for_a_number, candidates
from vectorstore.paper import Vectors

NO_ANSWER = "NO ANSWER"
_EVIDENCE = re.compile(r"<evidence>\n(.*)\n</evidence>", re.DOTALL)
_QUESTION = re.compile(r"<question>\n(.*)\n</question>", re.DOTALL)
_ASKS_FOR_SEVERAL = re.compile(
    r"^\W*(?:which|what|are there|who|list|name|how (?:can|do|are|could))\b[^?]*\b(?:papers|works|studies|methods"
    r"|approaches|algorithms|techniques|ways|benchmarks|models|"
    r"datasets|data sets|defen[cs]es|people|researchers|authors|systems|frameworks)\b",
    re.IGNORECASE,
)
_LEAD_IN = re.compile(
    r"^(?:(?:furthermore|moreover|in addition|additionally|besides|specifically|in particular|particularly"
    r"|further|also|finally|lastly|notably|importantly|"
    r"interestingly|consequently|therefore|thus|hence|as a result|to (?:this|that) end|to (?:address|overcome"
    r"|tackle|solve|mitigate) (?:this|these|the|it)[^,]{0,60}|"
    r"in this (?:paper|work|study|article|position paper)|here|then|next|at last|successively|overall|in summary"
    r"|in conclusion|first|second|third|"
    r"empirically|theoretically|concretely|motivated by this|based on this observation"
    r"|with this in mind),\s+)+(?=[A-Za-z])",
    re.IGNORECASE,
)
_ENOUGH = 2
_SEVERAL = 4


@runtime_checkable
class Embedding(Protocol):
    """What the extractive model asks of an embedder: vectors of single word pieces."""

    def token_vectors(self, texts: Sequence[str]) -> Sequence[Vectors]:
        """For each text, one unit-length row a word piece."""
        ...


class Extractive(BaseChatModel):
    """Answers with sentences of the evidence in the last message, verbatim but for their first words."""

    embedding: Embedding

    model_config = ConfigDict(arbitrary_types_allowed=True)

    @property
    def _llm_type(self) -> str:
        return "offline:extractive"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002  the names are LangChain's
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: object,  # noqa: ARG002
    ) -> ChatResult:
        prompt = str(messages[-1].content)
        text = self._reply(prompt)
        usage = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
        message = AIMessage(text, usage_metadata=usage, response_metadata={"finish_reason": "stop"})
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _reply(self, prompt: str) -> str:
        block, question = _EVIDENCE.search(prompt), _QUESTION.search(prompt)
        if block is None or question is None:
            return NO_ANSWER
        shown = evidence.parse(block.group(1))
        ranked = candidates(question.group(1), shown, self.embedding.token_vectors)
        chosen = choose(question.group(1), ranked)
        return " ".join(with_marks(as_text(trim(one.text)), [one.number]) for one in chosen) or NO_ANSWER


def choose(question: str, ranked: Sequence[Candidate]) -> list[Candidate]:
    """The sentences to say, best first: one a paper where several papers are asked for, else as few as answer."""
    if not ranked:
        return []
    several = _ASKS_FOR_SEVERAL.search(question) is not None
    limit = _SEVERAL if several else _ENOUGH
    best = ranked[0]
    chosen = [best]
    for one in ranked[1:]:
        if len(chosen) == limit or one.score < best.score - (2.2 if several else 1.0):
            break
        same_paper = any(one.number == other.number for other in chosen)
        if several == same_paper or _repeats(one, chosen, 0.95 if several else 0.7):
            continue
        chosen.append(one)
        if asks_for_a_number(question):
            break
    return chosen if several else sorted(chosen, key=lambda one: one.position)


def _repeats(one: Candidate, chosen: Sequence[Candidate], share: float) -> bool:
    """Whether `share` of what `one` says has been said."""
    said = {stem for other in chosen for stem in words.stems(other.text)}
    mine = words.stems(one.text)
    return sum(stem in said for stem in mine) > share * len(mine)


def trim(text: str) -> str:
    """`text` without words that only link it to the sentence before it."""
    rest = _LEAD_IN.sub("", text, count=1)
    return rest[0].upper() + rest[1:] if rest != text else text

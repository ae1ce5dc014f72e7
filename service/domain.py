"""The words of the contract as values: frozen, no I/O, the same shape in code and in JSON."""

from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

Verify = Literal["annotate", "strict", "off"]
Status = Literal["answered", "partial", "abstained"]
Verdict = Literal["supported", "partly", "unsupported"]


class Value(BaseModel):
    """A frozen value that refuses fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _sayable(text: str) -> str:
    if not any(map(str.isalnum, text)):
        raise ValueError("it needs a letter or digit; leave the filter out to filter nothing")
    return text


# Words to filter by: without a letter they would let everything through.
Words = Annotated[str, Field(max_length=1_000), AfterValidator(_sayable)]


class YearRange(Value):
    """Inclusive bounds on the year of publication."""

    gte: int | None = None
    lte: int | None = None


class QuestionFilters(Value):
    """Which papers may be found, shown and cited."""

    year: YearRange | int | None = None
    venue: Words | None = None
    author: Words | None = None
    paper_ids: tuple[str, ...] | None = None


class Turn(Value):
    """One earlier message of the conversation."""

    role: Literal["user", "assistant"]
    content: Annotated[str, Field(max_length=20_000)]


class Question(Value):
    """What `POST /v1/ask` takes; only `question` is needed."""

    question: Annotated[str, Field(min_length=1, max_length=4_000)]
    history: Annotated[tuple[Turn, ...], Field(max_length=50)] = ()
    filters: QuestionFilters = QuestionFilters()
    top_k: Annotated[int | None, Field(ge=1, le=100)] = None
    collection: str = "default"
    verify: Verify | None = None
    stream: bool = False


class AnswerHit(Value):
    """A retrieved passage with its place in its abstract and its scores."""

    passage_id: str
    paper_id: str
    title: str | None
    text: str
    start: int
    end: int
    score: float
    dense_rank: int | None = None
    lexical_rank: int | None = None


class Citation(Value):
    """A mark `[number]` resolved to words: `abstract[start:end] == quote`."""

    number: int
    paper_id: str
    title: str | None
    authors: tuple[str, ...]
    year: int | None
    venue: str | None
    url: str | None
    quote: str
    start: int
    end: int
    passage_id: str
    retracted: bool = False


class Sentence(Value):
    """A sentence of the answer: `answer[start:end] == text`, checked against its citations. `why` it does not hold."""

    text: str
    start: int
    end: int
    citations: tuple[int, ...]
    verdict: Verdict | None
    score: float | None
    why: str | None = None


class Dropped(Value):
    """Words or a mark of the draft that the reader does not see, and why."""

    text: str
    why: str


class Provenance(Value):
    """What made the answer: enough to make it again."""

    model: str
    prompt: str
    index: str
    collection: str
    seed: int | None


class Usage(Value):
    """Tokens as the model counted them; 0 where no model was called."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


class Timings(Value):
    """Milliseconds by stage."""

    retrieve: int = 0
    generate: int = 0
    verify: int = 0
    total: int = 0


class Answer(Value):
    """The reply to a question. `repaired` counts right sentences whose mark was wrong or missing.

    `reason` is set where the status is not `answered`, and where the model's draft gave way to another.
    """

    id: str
    question: str
    standalone_question: str
    status: Status
    reason: str | None
    answer: str
    sentences: tuple[Sentence, ...]
    citations: tuple[Citation, ...]
    hits: tuple[AnswerHit, ...]
    near_misses: tuple[AnswerHit, ...]
    provenance: Provenance
    usage: Usage
    timings_ms: Timings
    dropped: tuple[Dropped, ...]
    repaired: int = 0
    truncated: bool


class TextPiece(Value):
    """A piece of the draft as it arrives, illegal marks removed."""

    text: str


class CheckedSentence(Value):
    """A sentence with the citations that it uses."""

    sentence: Sentence
    citations: tuple[Citation, ...]


class Hits(Value):
    """What was retrieved, before anything is said."""

    hits: tuple[AnswerHit, ...]


class Event(NamedTuple):
    """One step of an answer: "hits", "text" pieces, a "sentence" each, last the whole "answer"."""

    name: Literal["hits", "text", "sentence", "answer"]
    data: Hits | TextPiece | CheckedSentence | Answer

"""The chain with models of every kind: streamed, cut, thinking, silent, asked twice, asked for the best of several."""

from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import anyio
import pytest

from service.ask import Answerer
from service.citations import without_illegal
from service.config import Settings
from service.domain import Answer, Event, Question, TextPiece, Turn
from service.errors import EvidenceTooLong, ModelUnreachable
from service.minilm import MiniLM
from service.models import chat_model
from service.spoken import spoken
from tests.conftest import ROOT
from tests.fake_llm import FakeLLM
from tests.fake_replies import TOO_LONG, Reply, Request
from tests.laws import assert_lawful
from tests.lying import Liar
from vectorstore.readers import read
from vectorstore.store import Store

pytestmark = pytest.mark.anyio
ORTHOGONAL = Question(question="How can sparse networks be initialised so that orthogonality is exact?")
TRUE = "EOI is based on composing random Givens rotations [1]."


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, minilm: MiniLM) -> Iterator[Store]:
    with Store(tmp_path_factory.mktemp("store"), minilm) as opened:
        with (ROOT / "data" / "icml2024-sample.txt").open("rb") as file:
            opened.add(read(file))
        yield opened


def answerer(fake: FakeLLM, store: Store, minilm: MiniLM, **flags: object) -> Answerer:
    named = {"llm.model": "openai:fake", "llm.base_url": fake.url, "llm.retries": 0} | flags
    loaded = Settings.load(flags=named, environ={}, cwd=Path("/nonexistent"))
    return Answerer(loaded, store, minilm, chat_model(loaded.llm, minilm))


async def streamed(asked: Answerer, question: Question = ORTHOGONAL) -> tuple[str, Answer, list[Event]]:
    events = [event async for event in asked.events(question)]
    text = "".join(event.data.text for event in events if isinstance(event.data, TextPiece))
    last = events[-1].data
    assert isinstance(last, Answer)
    return text, last, events


async def test_streamed_is_not_streamed_to_the_letter(store: Store, minilm: MiniLM) -> None:
    """Of lies, cut by the server at random: the same Answer, and text pieces that add up to what was said."""
    abstracts = [paper.abstract for paper in store.papers(limit=19).papers]
    liar = Liar(3, abstracts, 8)
    for _ in range(25):
        draft = liar.draft()
        with FakeLLM(draft) as fake:
            asked = answerer(fake, store, minilm)
            text, last, _ = await streamed(asked)
            again = await asked.answer(ORTHOGONAL)
        unmeasured = {"timings_ms", "usage"}
        assert last.model_dump(exclude=unmeasured) == again.model_dump(exclude=unmeasured)
        if "</" not in draft or draft.startswith("<think>"):
            assert text == without_illegal(spoken(draft), frozenset(range(1, 9)))
        assert_lawful(last, store)


async def test_events_come_in_the_order_of_the_contract(store: Store, minilm: MiniLM) -> None:
    with FakeLLM(f"{TRUE} It provides exact orthogonality [1].") as fake:
        _, last, events = await streamed(answerer(fake, store, minilm))
    names = [event.name for event in events]
    assert names[0] == "hits"
    assert names[-1] == "answer"
    assert names[1:-1] == ["text"] * names.count("text") + ["sentence"] * len(last.sentences)
    assert names.count("text") > 2


async def test_a_stream_that_is_cut_is_an_error_and_never_an_answer(store: Store, minilm: MiniLM) -> None:
    with FakeLLM(Reply(TRUE, finish=None, done=False)) as fake:
        asked = answerer(fake, store, minilm)
        with pytest.raises(ModelUnreachable):
            await streamed(asked)


async def test_leaving_early_closes_the_call_to_the_model(store: Store, minilm: MiniLM) -> None:
    with FakeLLM(Reply("word " * 400, pause=0.05)) as fake:
        async with aclosing(answerer(fake, store, minilm).events(ORTHOGONAL)) as events:
            async for event in events:
                if event.name == "text":
                    break
        assert await anyio.to_thread.run_sync(fake.wait_for_leave, 2.0)


async def test_an_empty_draft_gives_way_to_the_abstracts_words_and_says_so(store: Store, minilm: MiniLM) -> None:
    for draft in ("   ", "<think>I can't say.</think>", "{}"):
        with FakeLLM(draft) as fake:
            answer = await answerer(fake, store, minilm).answer(ORTHOGONAL)
        assert "their own sentences" in (answer.reason or "") or "own sentences" in (answer.reason or ""), draft
        assert "Givens rotations" in answer.answer
        assert_lawful(answer, store)


@pytest.mark.parametrize(
    "draft",
    [
        f"<think>Perhaps [7] or 42?</think>\n{TRUE}",
        f"Perhaps [7] or 42?</think>\n{TRUE}",
        f"<thinking>Perhaps</thinking>{TRUE}",
        f"```\n{TRUE}\n```",
        f'{{"answer": "{TRUE}"}}',
        '{"sentences": [{"text": "EOI is based on composing random Givens rotations", "citations": [1]}]}',
    ],
)
async def test_what_stands_around_the_answer_never_reaches_the_reader(draft: str, store: Store, minilm: MiniLM) -> None:
    with FakeLLM(draft) as fake:
        answer = await answerer(fake, store, minilm).answer(ORTHOGONAL)
    assert answer.status == "answered"
    assert answer.answer.rstrip(".") == TRUE.rstrip(".")


async def test_a_model_seen_to_think_without_a_tag_waits_from_then_on(store: Store, minilm: MiniLM) -> None:
    with FakeLLM(f"Perhaps [7] or 42?</think>\n{TRUE}") as fake:
        asked = answerer(fake, store, minilm)
        await streamed(asked)
        text, _, _ = await streamed(asked)
    assert text == TRUE


async def test_a_named_thinker_waits_from_the_first_time(store: Store, minilm: MiniLM) -> None:
    with FakeLLM(f"Perhaps [7] or 42?</think>\n{TRUE}") as fake:
        text, _, _ = await streamed(answerer(fake, store, minilm, **{"llm.model": "openai:deepseek-r1-distill"}))
    assert text == TRUE


async def test_an_answer_cut_at_its_length_says_so(store: Store, minilm: MiniLM) -> None:
    with FakeLLM(Reply(f"{TRUE} It also", finish="length")) as fake:
        answer = await answerer(fake, store, minilm).answer(ORTHOGONAL)
    assert (answer.truncated, answer.status) == (True, "partial")


async def test_a_prompt_too_long_twice_is_an_error(store: Store, minilm: MiniLM) -> None:
    with FakeLLM(TOO_LONG["llama.cpp"]) as fake:
        asked = answerer(fake, store, minilm)
        with pytest.raises(EvidenceTooLong):
            await asked.answer(ORTHOGONAL)
        assert len(fake.chats) == 2


@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize("server", sorted(TOO_LONG))
async def test_a_window_smaller_than_configured_gets_half_of_the_evidence(
    server: str, streaming: bool, store: Store, minilm: MiniLM
) -> None:
    with FakeLLM(TOO_LONG[server], TRUE) as fake:
        asked = answerer(fake, store, minilm)
        answer = (await streamed(asked))[1] if streaming else await asked.answer(ORTHOGONAL)
        first, second = (str(chat.body["messages"][-1]["content"]) for chat in fake.chats)
    assert len(second) < 0.7 * len(first)
    assert answer.status == "answered"


TALK = (
    Turn(role="user", content="How can a sparse network be initialised exactly orthogonally?"),
    Turn(role="assistant", content="By Exact Orthogonal Initialization [1]."),
)


def rewriting(rewritten: str) -> FakeLLM:
    def script(request: Request) -> str:
        return rewritten if "rewrite the last question" in str(request.body["messages"][0]["content"]) else TRUE

    return FakeLLM(script)


async def test_a_follow_up_is_rewritten_by_the_model(store: Store, minilm: MiniLM) -> None:
    rewritten = "On what is Exact Orthogonal Initialization (EOI) based?"
    with rewriting(rewritten) as fake:
        answer = await answerer(fake, store, minilm).answer(Question(question="What is it based on?", history=TALK))
        assert "user: How can a sparse network" in str(fake.chats[0].body["messages"][-1]["content"])
        assert "[1]" not in str(fake.chats[0].body["messages"][-1]["content"])
        assert rewritten in str(fake.chats[1].body["messages"][-1]["content"])
    assert answer.standalone_question == rewritten
    assert answer.status == "answered"
    assert answer.usage.prompt_tokens > 0


@pytest.mark.parametrize("rewritten", ["", "<think>Hm</think>", "word " * 500])
async def test_a_rewriting_that_fails_carries_the_topic_over(rewritten: str, store: Store, minilm: MiniLM) -> None:
    with rewriting(rewritten) as fake:
        answer = await answerer(fake, store, minilm).answer(Question(question="What is it based on?", history=TALK))
    assert answer.standalone_question == f"{TALK[0].content} What is it based on?"


async def test_a_question_that_stands_alone_costs_no_rewriting(store: Store, minilm: MiniLM) -> None:
    with FakeLLM(TRUE) as fake:
        await answerer(fake, store, minilm).answer(ORTHOGONAL.model_copy(update={"history": TALK}))
        assert len(fake.chats) == 1


async def test_turn_two_off_topic_is_refused_after_a_good_turn_one(store: Store, minilm: MiniLM) -> None:
    with FakeLLM(TRUE) as fake:
        asked = Question(question="What is the capital of France and its population?", history=TALK)
        answer = await answerer(fake, store, minilm).answer(asked)
        assert not fake.chats
    assert answer.status == "abstained"


async def test_of_several_drafts_the_one_that_holds_wins(store: Store, minilm: MiniLM) -> None:
    with FakeLLM("It was trained on 512 GPUs [1].", TRUE, "The moon is green [1].") as fake:
        asked = answerer(fake, store, minilm, **{"answer.drafts": 3})
        text, answer, _ = await streamed(asked)
        assert len(fake.chats) == 3
    assert answer.answer == text == TRUE


async def test_a_right_sentence_with_a_wrong_mark_is_repaired_and_counted(store: Store, minilm: MiniLM) -> None:
    with FakeLLM("EOI is based on composing random Givens rotations [4].") as fake:
        answer = await answerer(fake, store, minilm).answer(ORTHOGONAL)
    assert answer.status == "answered"
    assert "Givens rotations" in answer.citations[0].quote
    assert answer.repaired == 1
    assert_lawful(answer, store)


def judging(word: str) -> FakeLLM:
    def script(request: Request) -> str:
        asked = str(request.body["messages"][0]["content"]).startswith("You check one sentence")
        return word if asked else "EOI composes random Givens rotations [1]. EOI is green cheese [1]."

    return FakeLLM(script)


@pytest.mark.parametrize(
    ("word", "verdict"), [("No.", "partly"), ("yes", "supported"), ("Hm?", "supported"), ("", "supported")]
)
async def test_a_judge_can_take_support_away_and_never_give_it(
    word: str, verdict: str, store: Store, minilm: MiniLM
) -> None:
    with judging(word) as fake:
        answer = await answerer(fake, store, minilm, **{"answer.judge": "model"}).answer(ORTHOGONAL)
    assert [sentence.verdict for sentence in answer.sentences] == [verdict, "unsupported"]
    assert_lawful(answer, store)


async def test_a_judge_that_fails_is_no_objection(store: Store, minilm: MiniLM) -> None:
    def script(request: Request) -> str | Reply:
        judged = str(request.body["messages"][0]["content"]).startswith("You check one sentence")
        return Reply(status=500, raw=b"{}") if judged else "EOI composes random Givens rotations [1]."

    with FakeLLM(script) as fake:
        answer = await answerer(fake, store, minilm, **{"answer.judge": "model"}).answer(ORTHOGONAL)
    assert answer.status == "answered"

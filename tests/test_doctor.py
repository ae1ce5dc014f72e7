"""`loccit doctor` against FAKE: everything well, then each thing that can be wrong with a model endpoint."""

from pathlib import Path

import pytest

from service.config import Settings
from service.doctor import Finding, examine, is_well
from service.doctor.endpoint import Raw, Said
from service.doctor.obedience import NUMBER, UNANSWERABLE, canned, obeyed, of_obedience
from service.doctor.replies import of_json, of_speed, of_stream, of_thoughts
from service.models import Draft
from tests.fake_llm import FakeLLM
from tests.fake_replies import FORBIDDEN, HTML, LOADING, NOT_FOUND, TOO_LONG, UNAUTHORIZED, Reply, Request
from tests.pretender import Pretender

pytestmark = pytest.mark.anyio
Found = dict[str, Finding]


async def examined(folder: Path, fake: FakeLLM | None = None, **flags: object) -> Found:
    """What is found of a model, by check."""
    named: dict[str, object] = {}
    if fake is not None:
        named = {"llm.model": "openai:fake", "llm.base_url": fake.url, "llm.timeout_s": 10}
    named |= {key.replace("__", "."): value for key, value in flags.items()}
    settings = Settings.load(flags=named, environ={}, cwd=folder)
    found = [finding async for finding in examine(settings)]
    assert all("\n" not in finding.found for finding in found)
    return {finding.check: finding for finding in found if finding.area == "model"}


def faults(found: Found) -> list[str]:
    return [check for check, finding in found.items() if finding.mark == "fault"]


async def test_all_is_well(tmp_path: Path) -> None:
    with FakeLLM(Pretender()) as fake:
        found = await examined(tmp_path, fake)
    assert {check: finding.mark for check, finding in found.items()} == dict.fromkeys(found, "ok")
    assert {"reachable", "key", "name", "answers", "streams", "usage", "parameters", "JSON schema"} <= found.keys()
    assert {"context window", "thoughts", "citations", "speed"} <= found.keys()
    assert is_well(list(found.values()))
    assert len(fake.chats) < 25
    assert "holds a prompt of " in found["context window"].found


async def test_offline_there_is_no_endpoint_to_check(tmp_path: Path) -> None:
    found = await examined(tmp_path)
    assert list(found) == ["endpoint"]
    assert "there is no endpoint to check" in found["endpoint"].found


async def test_a_silent_cut_is_found_and_the_setting_named(tmp_path: Path) -> None:
    """Traps section 4: Ollama's /v1 keeps the last 4,096 tokens of a prompt."""
    with FakeLLM(Pretender(cut_at=4_096)) as fake:
        found = await examined(tmp_path, fake)
    assert faults(found) == ["context window"]
    assert (found["context window"].change or "").startswith("set llm.context_window = 4096")
    longest = max(len(request.raw) for request in fake.chats)
    assert longest < 60_000


async def test_no_prompt_is_longer_than_the_configured_window(tmp_path: Path) -> None:
    with FakeLLM(Pretender(refuse_at=2_048)) as fake:
        found = await examined(tmp_path, fake, llm__context_window=2_048, llm__max_output_tokens=64)
    assert faults(found) == []


# The other two name the configured window, or a larger one.
@pytest.mark.parametrize("who", sorted(TOO_LONG.keys() - {"openai", "openai-newer"}))
async def test_a_refused_prompt_is_a_smaller_window_with_every_server(tmp_path: Path, who: str) -> None:
    """Traps section 4: 400 maximum context length, in everybody's words."""
    with FakeLLM(Pretender(refuse_at=4_096, refusal=who)) as fake:
        found = await examined(tmp_path, fake)
    change = found["context window"].change or ""
    wanted = int(change.removeprefix("set llm.context_window = ").split(",")[0])
    assert 3_700 <= wanted <= 4_096
    assert faults(found) == ["context window"]


async def test_nobody_is_there(tmp_path: Path) -> None:
    with FakeLLM() as fake:
        pass
    found = await examined(tmp_path, fake)
    assert list(found) == ["reachable"]
    assert found["reachable"].change == "set llm.base_url, or start the server"


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (UNAUTHORIZED, "set llm.api_key"),
        (FORBIDDEN, "does not allow this key"),
        (NOT_FOUND, "knows no model"),
        (LOADING, "failed with status 503"),
        (HTML, "gave a reply that can't be used"),
        (Reply(""), "with an empty reply"),
        (Reply("", finish="length"), "went on thoughts"),
        (Reply("<think>Hm, let me see", finish="length"), "went on thoughts"),
    ],
)
async def test_a_model_that_does_not_answer(tmp_path: Path, reply: Reply, said: str) -> None:
    with FakeLLM(reply) as fake:
        found = await examined(tmp_path, fake)
    assert faults(found) == ["answers"]
    assert said in found["answers"].found
    assert "sk-very-secret" not in str(found)
    assert len(fake.chats) == 1


async def test_a_name_that_is_not_listed_gets_the_nearest(tmp_path: Path) -> None:
    with FakeLLM(Pretender(), models=["lama-3.2-3b", "qwen"]) as fake:
        found = await examined(tmp_path, fake, llm__model="openai:llama-3.2-3b")
    assert found["name"].mark == "warning"
    assert found["name"].change == 'set llm.model = "openai:lama-3.2-3b"'
    assert faults(found) == []


async def test_refused_parameters_are_named_with_the_setting_that_spares_the_call(tmp_path: Path) -> None:
    """Traps section 4: max_tokens and temperature refused by newer models."""
    with FakeLLM(Pretender(), refuses=["temperature", "max_tokens", "seed"]) as fake:
        found = await examined(tmp_path, fake, llm__seed=1)
    assert found["parameters"].found.startswith("max_tokens, seed, temperature refused")
    assert found["parameters"].change == 'set llm.seed = "none" and set llm.temperature = "none"'
    assert found["JSON schema"].mark == "ok"
    assert faults(found) == []


@pytest.mark.parametrize(
    ("pretender", "said"),
    [
        (Pretender(json="Two blue ones."), "ignored"),
        (Pretender(json='{"colour": "green", "count": 2}'), "ignored"),
        (Pretender(json="[1]"), "ignored"),
        (Pretender(takes_json=False), "refused with status 400"),
    ],
)
async def test_json_that_is_ignored_or_refused_is_told_and_needs_no_change(
    tmp_path: Path, pretender: Pretender, said: str
) -> None:
    with FakeLLM(pretender) as fake:
        found = await examined(tmp_path, fake)
    assert said in found["JSON schema"].found
    assert faults(found) == []


@pytest.mark.parametrize("thought", ["<think>Let me see.</think>", "Let me see.</think>\n"])
async def test_thoughts_are_told(tmp_path: Path, thought: str) -> None:
    """Traps section 4: reasoning models, with the opening tag or without."""
    with FakeLLM(Pretender(thinks=thought)) as fake:
        found = await examined(tmp_path, fake)
    assert found["thoughts"].mark == "note"
    assert "in <think> tags" in found["thoughts"].found
    assert found["citations"].mark == "ok"
    assert faults(found) == []


@pytest.mark.parametrize(
    ("pretender", "said"),
    [
        (Pretender(mark=""), "0 of 10 sentences with a valid mark"),
        (Pretender(mark="[7]"), "12 marks of passages that were not sent"),
        (Pretender(mark="[n]"), "0 of 10 sentences with a valid mark"),
        (Pretender(declines=False), "NO ANSWER to 0 of 2 questions without one"),
    ],
)
async def test_disobedience_is_counted_and_no_fault(tmp_path: Path, pretender: Pretender, said: str) -> None:
    """Traps section 4: small models copy [n], cite [7] of 3, cite nothing, or answer from memory."""
    pretender.declines = pretender.declines and pretender.mark != "[7]"
    with FakeLLM(pretender) as fake:
        found = await examined(tmp_path, fake)
    assert found["citations"].mark == "warning"
    assert said in found["citations"].found
    assert faults(found) == []


async def test_no_usage_is_told(tmp_path: Path) -> None:
    with FakeLLM(Pretender(counts=False)) as fake:
        found = await examined(tmp_path, fake)
    assert found["usage"].found.startswith("not reported")
    assert found["context window"].mark == "ok"


async def test_a_stream_that_says_no_end_is_a_fault(tmp_path: Path) -> None:
    """Traps section 4: connection dropped without [DONE]."""

    def reply(request: Request) -> Reply:
        good = Pretender()(request)
        return Reply(good.text, cut_after=2) if request.body.get("stream") else good

    with FakeLLM(reply) as fake:
        found = await examined(tmp_path, fake)
    assert faults(found) == ["streams"]
    assert "closed the connection" in found["streams"].found
    assert found["citations"].mark == "ok"


async def test_a_server_that_fails_at_long_prompts_only(tmp_path: Path) -> None:
    def reply(request: Request) -> Reply:
        return LOADING if len(request.raw) > 4_000 and "secret" in request.raw.decode() else Pretender()(request)

    with FakeLLM(reply) as fake:
        found = await examined(tmp_path, fake)
    assert found["context window"].mark == "note"
    assert "failed with status 503" in found["context window"].found


async def test_a_model_that_can_not_be_set_up(tmp_path: Path) -> None:
    found = await examined(tmp_path, llm__model="openai:gpt-5-mini")
    assert "needs a key" in found["settings"].found
    assert faults(found) == ["settings"]


async def test_an_embedder_that_can_not_be_set_up_stops_nothing_else(tmp_path: Path) -> None:
    named = {"embeddings.model": "mistralai:x", "store.path": tmp_path}
    settings = Settings.load(flags=named, environ={}, cwd=tmp_path)
    found = [finding async for finding in examine(settings)]
    assert [finding.check for finding in found if finding.mark == "fault"] == ["settings"]
    assert found[-1].check == "endpoint"


async def test_what_there_is_no_time_for_is_left_out_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.doctor.examination._WINDOW_S", 0.0)
    monkeypatch.setattr("service.doctor.examination._CANNED_S", -1.0)
    with FakeLLM(Pretender()) as fake:
        found = await examined(tmp_path, fake)
    assert "longer prompts take too long to try" in found["context window"].found
    assert "citations" not in found
    assert len(fake.chats) == 4
    assert faults(found) == []


def test_thoughts_beside_the_reply_and_thoughts_that_left_no_room() -> None:
    llm = Settings().llm
    beside = Said(Draft("It is blue.", "stop", 11, 300))
    assert "apart from its replies" in of_thoughts([beside], llm).found
    cut = Said(Draft("<think>Let me", "length", 11, 512))
    assert of_thoughts([beside, cut], llm).change == "set llm.max_output_tokens = 2048"


def test_usage_of_one_sort_only() -> None:
    *_, usage = of_stream(Said(Draft("word", "stop"), pieces=1), streamed(pieces=3, seconds=1.0, spread_s=0.5))
    assert usage.found.startswith("reported for streamed replies only")


def test_json_that_was_cut_or_never_came() -> None:
    assert "cut before" in of_json(Raw(200, '{"colour": "bl', "length")).found
    assert "no usable reply" in of_json(Raw(None)).found


def test_obedience_of_few_and_of_the_silent() -> None:
    silent = obeyed("NO ANSWER", canned(0))
    found = of_obedience([silent, obeyed("NO ANSWER", canned(5))])
    assert found.mark == "warning"
    assert "and to 1 that have one; only 2 of 12 prompts were asked, for time" in found.found


def test_canned_prompts_ask_about_a_passage_that_is_sent_or_about_none() -> None:
    asked = [canned(which) for which in range(NUMBER)]
    assert [which for which, each in enumerate(asked) if each.right is None] == sorted(UNANSWERABLE)
    assert {each.right for each in asked} == {None, 1, 2, 3}
    for each in asked:
        assert each.sent == {1, 2, 3}
        assert [role for role, _ in each.messages] == ["system", "user"]


def streamed(**fields: object) -> Said:
    return Said(Draft("word " * 30, "stop", 11, 30), **fields)  # type: ignore[arg-type]  # fields of Said


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (streamed(seconds=3.0, first_s=2.99, pieces=30, spread_s=0.01), "all at once"),
        (streamed(seconds=3.0, first_s=3.0, pieces=1), "in one piece"),
    ],
)
def test_a_stream_in_one_lump_is_told(said: Said, told: str) -> None:
    """Traps section 3: SSE behind a proxy arrives in one lump."""
    first, *_ = of_stream(said, said)
    assert first.mark == "warning"
    assert told in first.found


def test_a_model_that_is_too_slow_for_the_timeout() -> None:
    llm = Settings().llm
    said = [streamed(seconds=4.0, first_s=1.0, pieces=30, spread_s=3.0)]
    slow = of_speed(said, (1_000, 60.0), 8, llm)
    assert slow.mark == "fault"
    assert (slow.change or "").startswith("set llm.timeout_s = 33")
    assert "10 tokens/s" in slow.found
    assert of_speed(said, (1_000, 6.0), 8, llm).mark == "ok"
    assert of_speed([], (0, 0.0), 8, llm).mark == "note"

"""Observed replies of a model endpoint -> what they mean, and which setting to change (pure)."""

import difflib
import json
from collections.abc import Iterator, Sequence
from statistics import median

from service import tokens
from service.config import Llm
from service.doctor.endpoint import Listed, Raw, Said
from service.doctor.findings import Finding, Mark, tokens_said
from service.models import Draft
from service.spoken import has_thought, spoken

_SHOWN_NAMES = 5
# A usual prompt: the rules, and for each paper found a passage of at most 256 tokens with its title.
_RULES, _A_PASSAGE = 400, 270
_USUAL_REPLY = 150
# A reply in pieces that all come within this share of its time has waited somewhere on its way.
_LUMP = 0.05
_SETTINGS = {"temperature": 'set llm.temperature = "none"', "seed": 'set llm.seed = "none"'}


def of_list(listed: Listed, llm: Llm) -> Iterator[Finding]:
    """Reachable? The key? The name? Only a server that can't be reached, or refuses the key, stops the examination."""
    if listed.status is None:
        yield _finding("reachable", "fault", "no connection", "set llm.base_url, or start the server")
    elif listed.status in {401, 403}:
        yield _finding("reachable", "ok", "answers")
        yield _finding("key", "fault", f"refused with status {listed.status}", "set llm.api_key")
    else:
        yield _finding("reachable", "ok", "answers")
        yield _finding("key", "ok", "accepted" if llm.api_key else "none is asked for")
        yield _of_name(listed, llm.model.partition(":")[2])


def _of_name(listed: Listed, name: str) -> Finding:
    if not listed.names:
        return _finding("name", "note", "the endpoint gives no list of models")
    if name in listed.names:
        return _finding("name", "ok", f"{name} is known")
    near = difflib.get_close_matches(name, listed.names, n=1) or (listed.names if len(listed.names) == 1 else ())
    known = ", ".join(listed.names[:_SHOWN_NAMES]) + (", …" if len(listed.names) > _SHOWN_NAMES else "")
    change = f'set llm.model = "openai:{near[0]}"' if near else "set llm.model to one of these"
    return _finding("name", "warning", f"{name} is not among the models listed: {known}", change)


def of_reply(said: Said, llm: Llm) -> Finding:
    """Whether the model answers at all."""
    if said.error is not None:
        return _finding(
            "answers", "fault", str(said.error), "see llm.model, llm.base_url, llm.api_key and llm.timeout_s"
        )
    if not spoken(said.draft.text):
        return _of_silence(said, llm)
    ended = said.draft.finish_reason
    return _finding("answers", "ok", f"in {said.seconds:.1f} s, finish_reason {ended or 'not given'}")


def _of_silence(said: Said, llm: Llm) -> Finding:
    if said.draft.truncated:
        found = f"nothing to read: its {tokens_said(llm.max_output_tokens)} went on thoughts"
        return _finding(
            "answers", "fault", found, f"set llm.max_output_tokens = {max(2_048, 4 * llm.max_output_tokens)}"
        )
    return _finding(
        "answers", "fault", "with an empty reply", "set llm.model to another, or mend the chat template of the server"
    )


def of_stream(whole: Said, streamed: Said) -> Iterator[Finding]:
    """Whether a reply comes piece by piece, says why it ended, and what it cost."""
    if streamed.error is not None:
        found = f"no: {streamed.error}"
        yield _finding("streams", "fault", found, "mend the server: streamed answers fail, whole ones do not")
        return
    if streamed.pieces < 2:
        yield _finding(
            "streams", "warning", "in one piece", "see what stands before the server: it may hold replies back"
        )
    elif streamed.pieces > 7 and streamed.spread_s < _LUMP * streamed.seconds:
        found = f"{streamed.pieces} pieces, but all at once after {streamed.first_s:.1f} s"
        yield _finding("streams", "warning", found, "see what stands before the server: it holds replies back")
    else:
        yield _finding("streams", "ok", f"{streamed.pieces} pieces, finish_reason {streamed.draft.finish_reason}")
    counted = [how for how, said in (("whole", whole), ("streamed", streamed)) if said.draft.prompt_tokens]
    if len(counted) == 2:
        yield _finding("usage", "ok", "reported, streamed or not")
    else:
        found = f"reported for {counted[0]} replies only" if counted else "not reported"
        yield _finding("usage", "note", f"{found}; answers show 0 tokens then")


def of_parameters(refused: Sequence[str]) -> Finding:
    """The optional parameters that were refused. They are left out by themselves, after one refused call."""
    if not refused:
        return _finding("parameters", "ok", "none refused")
    changes = [_SETTINGS[name] for name in refused if name in _SETTINGS]
    found = f"{', '.join(refused)} refused, and left out or renamed from then on"
    return _finding("parameters", "warning" if changes else "note", found, " and ".join(changes) or None)


def of_json(raw: Raw) -> Finding:
    """Whether a JSON schema is honoured. Answers do not need it."""
    if raw.status is None:
        return _finding("JSON schema", "note", "no usable reply to a request with one")
    if raw.status != 200:
        return _finding("JSON schema", "note", f"refused with status {raw.status}; answers do not need it")
    if _follows_schema(raw.text):
        return _finding("JSON schema", "ok", "honoured")
    if raw.finish_reason == "length":
        return _finding("JSON schema", "note", "the reply was cut before its JSON was whole; answers do not need it")
    return _finding("JSON schema", "note", "ignored; answers do not need it")


def _follows_schema(text: str) -> bool:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if not isinstance(value, dict) or value.keys() != {"colour", "count"}:
        return False
    return value["colour"] in {"red", "blue"} and isinstance(value["count"], int)


def of_thoughts(replies: Sequence[Said], llm: Llm) -> Finding:
    """Whether the model thinks aloud, or unseen: both cost output tokens."""
    if not thinks(replies):
        return _finding("thoughts", "ok", "none")
    good = [each.draft for each in replies if each.error is None]
    how = "in <think> tags, which readers do not see" if any(map(_aloud, good)) else "apart from its replies"
    if cut := sum(each.truncated and not spoken(each.text) for each in good):
        wanted = f"set llm.max_output_tokens = {4 * llm.max_output_tokens}"
        return _finding("thoughts", "fault", f"{how}; {cut} of {len(good)} replies held nothing else", wanted)
    return _finding("thoughts", "note", f"{how}; they count as output: llm.max_output_tokens must hold both")


def thinks(replies: Sequence[Said]) -> bool:
    """Whether more is written than is said."""
    return any(_aloud(each.draft) or _unseen(each.draft) for each in replies if each.error is None)


def _aloud(said: Draft) -> bool:
    return "<think" in said.text.lower() or has_thought(said.text)


def _unseen(said: Draft) -> bool:
    return said.completion_tokens > 3 * tokens.count(said.text) + 64


def of_speed(replies: Sequence[Said], longest_read: tuple[int, float], top_k: int, llm: Llm) -> Finding:
    """Tokens a second, time to the first piece, and whether a usual answer is there before the timeout.

    `longest_read`: tokens and seconds of the longest prompt that was read.
    """
    good = [each for each in replies if each.error is None and each.pieces]
    if not good:
        return _finding("speed", "note", "can't be told: no reply was whole")
    writing = [_written(each) / each.spread_s for each in good if each.spread_s > 0]
    told = [f"first piece after {median(each.first_s for each in good):.2f} s"]
    if writing:
        told.append(f"then {median(writing):.0f} tokens/s")
    read, seconds = longest_read
    usual = min(llm.context_window - llm.max_output_tokens, _RULES + top_k * _A_PASSAGE)
    needed = usual * seconds / read if read else 0.0
    needed += _USUAL_REPLY / median(writing) if writing else 0.0
    told.append(
        f"an answer from {tokens_said(usual)} takes about {needed:.0f} s" if needed >= 1 else "answers in no time"
    )
    if needed <= llm.timeout_s:
        return _finding("speed", "ok", ", ".join(told))
    change = f"set llm.timeout_s = {round(2 * needed)}, or retrieval.top_k to less than {top_k}"
    return _finding("speed", "fault", f"{', '.join(told)}: longer than llm.timeout_s = {llm.timeout_s:g}", change)


def _written(said: Said) -> int:
    return said.draft.completion_tokens or tokens.count(said.draft.text)


def _finding(check: str, mark: Mark, found: str, change: str | None = None) -> Finding:
    return Finding("model", check, mark, found, change)

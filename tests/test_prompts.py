"""Prompts: declared inputs, one substitution, and tags that notice an edit."""

from importlib.resources import files

import pytest

import prompts

# A prompt edited without a new version breaks this table: give it a new version and `changes` line, then its new tag.
TAGS = {"answer": "answer@1#faa32605", "judge": "judge@1#da95e32d", "rewrite": "rewrite@1#d4989da6"}


def names() -> list[str]:
    return sorted(file.name.removesuffix(".md") for file in files("prompts").iterdir() if file.name.endswith(".md"))


def test_every_prompt_has_its_pinned_tag() -> None:
    assert {name: prompts.load(name).tag for name in names()} == TAGS


@pytest.mark.parametrize("name", names())
def test_every_prompt_says_its_purpose(name: str) -> None:
    prompt = prompts.load(name)
    assert prompt.purpose
    assert prompt.messages[0][0] == "system"


def test_missing_and_unknown_inputs_are_named() -> None:
    with pytest.raises(prompts.PromptError, match=r"missing inputs \['evidence'\], unknown inputs \['colour'\]"):
        prompts.load("answer").render(question="?", colour="red")


@pytest.mark.parametrize(
    "nasty", ["$question", "${evidence}", "$$", "{x}", "{{a}}", "{% raw %}", r"\frac{3}{2}", "{0}", '{"k": "v"}']
)
def test_a_value_is_never_read_as_a_template(nasty: str) -> None:
    _, user = prompts.load("answer").render(evidence=nasty, question="?")
    assert nasty in user[1]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("no front matter", "no front matter"),
        ("---\nversion: 1\ninputs: a\n---\n# System\n$b\n", "declares"),
        ("---\nversion: one\n---\n# System\nx\n", "whole number"),
        ("---\nversion: 1\n---\nloose\n# System\nx\n", "before the first"),
        ("---\nversion 1\n---\n# System\nx\n", "key: value"),
    ],
)
def test_a_malformed_prompt_says_what_is_wrong(text: str, fault: str) -> None:
    with pytest.raises(prompts.PromptError, match=fault):
        prompts.parse("x", text)


def test_an_unknown_prompt_is_named() -> None:
    with pytest.raises(prompts.PromptError, match="no prompt named nonesuch"):
        prompts.load("nonesuch")

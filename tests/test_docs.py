"""The documents can't lie: README, .env.example and OpenAPI against the code."""

import re

import typer.main

from service.app import create_app
from service.cli import app as commands
from service.config import Settings, setting_keys
from service.models import PROVIDERS
from tests.conftest import ROOT
from vectorstore.readers import READERS

README = (ROOT / "README.md").read_text(encoding="utf-8")
ENV = (ROOT / ".env.example").read_text(encoding="utf-8")


def test_readme_names_every_setting() -> None:
    assert [key for key in setting_keys() if f"`{key}`" not in README] == []


def test_env_example_holds_every_variable_with_its_default() -> None:
    written = dict(re.findall(r"^# LOCCIT_(\w+)=(.*)$", ENV, re.MULTILINE))
    written.pop("PORT")
    assert {name.lower().replace("__", ".") for name in written} == set(setting_keys())
    loaded = Settings.load(
        environ={f"LOCCIT_{name}": value for name, value in written.items() if value}, cwd=ROOT / "tests"
    )
    assert loaded.model_dump(exclude={"store": {"path"}}) == Settings().model_dump(exclude={"store": {"path"}})


def test_readme_names_every_command() -> None:
    known = typer.main.get_command(commands)
    assert [name for name in getattr(known, "commands", {}) if f"`loccit {name}" not in README] == []


def test_readme_names_every_format_and_provider() -> None:
    missing = [
        reader.name
        for reader in READERS
        if not re.search(reader.name.replace("jsonl", "JSON lines"), README, re.IGNORECASE)
    ]
    assert missing == []
    assert [name for name in PROVIDERS if f"{name}:" not in README] == []


def test_every_path_of_the_contract_is_in_openapi() -> None:
    paths = create_app(Settings()).openapi()["paths"]
    for path in (
        "/v1/ask",
        "/v1/search",
        "/v1/papers",
        "/v1/papers/{paper_id}",
        "/v1/jobs/{job_id}",
        "/v1/collections",
        "/healthz",
        "/readyz",
    ):
        assert path in paths, path


def test_the_layout_in_readme_exists() -> None:
    for path in re.findall(r"`((?:service|vectorstore|prompts|tests|data)/[\w./]*)`", README):
        assert (ROOT / path).exists(), path

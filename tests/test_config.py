"""Settings: layers, faults in words, secrets, and what is unsafe."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.config import Settings, is_loopback, setting_keys
from service.errors import ConfigError
from service.layers import variable

Flags = dict[str, object] | None
OPEN_HOST = ".".join("0000")


def load(folder: Path, toml: str | None = None, flags: Flags = None, /, **environ: str) -> Settings:
    if toml is not None:
        (folder / "loccit.toml").write_text(toml, encoding="utf-8")
    return Settings.load(flags=flags, environ=environ, cwd=folder)


def faults(folder: Path, toml: str | None = None, flags: Flags = None, /, **environ: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(folder, toml, flags, **environ)
    return str(caught.value).splitlines()


def test_defaults_need_no_file(tmp_path: Path) -> None:
    settings = load(tmp_path)
    assert settings.llm.model == "offline:extractive"
    assert settings.embeddings.model == "builtin"
    assert settings.store.path == tmp_path / ".loccit"
    assert settings.server.host == "127.0.0.1"
    assert {setting.origin for setting in settings.in_force()} == {"default"}


def test_flags_over_environment_over_file(tmp_path: Path) -> None:
    toml = "[server]\nport = 1001\nhost = 'localhost'\n[retrieval]\ntop_k = 3\n"
    settings = load(tmp_path, toml, {"server.port": 1003, "server.host": None}, LOCCIT_SERVER__PORT="1002")
    assert (settings.server.port, settings.server.host, settings.retrieval.top_k) == (1003, "localhost", 3)
    origins = {setting.key: (setting.origin, setting.name) for setting in settings.in_force()}
    assert origins["server.port"] == ("flag", "--port")
    assert origins["server.host"] == ("file", "server.host in loccit.toml")
    assert origins["llm.model"] == ("default", "")
    assert {s.key: s.origin for s in load(tmp_path, LOCCIT_SERVER__PORT="1002").in_force()}[
        "server.port"
    ] == "environment"


def test_another_file_by_variable(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("llm.seed = 7", encoding="utf-8")
    assert load(tmp_path, LOCCIT_CONFIG="mine.toml").llm.seed == 7
    assert "none.toml can't be read" in faults(tmp_path, LOCCIT_CONFIG="none.toml")[0]


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("[llm]\nmodle = 'x:y'", "llm.modle in loccit.toml is not a setting; did you mean llm.model?"),
        ("prot = 1", "prot in loccit.toml is not a setting; did you mean server.port?"),
        ("[zzzzz]\nqqqqq = 1", "zzzzz.qqqqq in loccit.toml is not a setting."),
        ("[server]\nport = 1\nport = 2", "line 3"),
        ("[llm\n", "line 1"),
        ("llm = 3", "llm in loccit.toml is not a setting"),
        ("[llm.model]\nname = 'x'", "must be a valid string"),
        ("[server]\nport = 65536", "server.port in loccit.toml: must be less than or equal to 65535."),
        ("[server]\nport = true", "server.port in loccit.toml: true and false are no value"),
        ("[llm]\ntimeout_s = nan", "llm.timeout_s in loccit.toml: must be"),
        ("[llm]\ntimeout_s = inf", "llm.timeout_s in loccit.toml: must be"),
        ("[llm]\nmodel = 'gpt'", "provider:model"),
        ("[embeddings]\nmodel = 'minilm'", "provider:model"),
        ("[llm]\nmax_output_tokens = 8192", "must leave half"),
        ("[server]\napi_keys = ['sha256:abc']", "64 hexadecimal digits"),
        ("[server]\napi_keys = [3]", "non-empty string"),
        ("x = " + "[" * 5_000, "loccit.toml is not valid TOML"),
    ],
)
def test_a_fault_is_one_clear_sentence(tmp_path: Path, toml: str, said: str) -> None:
    (fault,) = faults(tmp_path, toml)
    assert said in fault
    assert fault.endswith((".", "?"))


def test_all_faults_at_once(tmp_path: Path) -> None:
    found = faults(tmp_path, "[llm]\nretries = 99\nx = 1", {"sever.port": 1}, LOCCIT_SERVER__PROT="1", LOCCIT_ZZZZZ="")
    assert len(found) == 5
    assert "LOCCIT_SERVER__PROT is not a setting; did you mean LOCCIT_SERVER__PORT?" in found
    assert any(fault.startswith("LOCCIT_ZZZZZ is not a setting") for fault in found)


def test_file_not_utf8_or_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "loccit.toml").write_bytes(b"\xff\xfe")
    assert faults(tmp_path) == ["loccit.toml is not UTF-8 text."]
    (tmp_path / "loccit.toml").write_bytes(b"\xef\xbb\xbfllm.seed = 3")
    assert load(tmp_path).llm.seed == 3


def test_secrets_are_never_shown(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        "[server]\napi_keys = ['hush-server']\n[llm]\nbase_url = 'http://me:hush-url@127.0.0.1/v1'",
        LOCCIT_LLM__API_KEY="hush-llm",
    )
    assert "hush" not in repr(settings) + str(settings.server)
    assert "hush" not in repr(settings.in_force())
    assert settings.llm.api_key is not None
    assert settings.llm.api_key.get_secret_value() == "hush-llm"
    assert "hush-bad" not in faults(tmp_path, "", LOCCIT_LLM__API_KEY="hush-bad", LOCCIT_SERVER__PORT="hush-bad")[0]


def test_keys_plain_or_hashed(tmp_path: Path) -> None:
    plain = load(tmp_path, LOCCIT_SERVER__API_KEYS="one, zwei-ä")
    assert all(key.startswith("sha256:") and len(key) == 71 for key in plain.server.api_keys)
    hashed = load(tmp_path, LOCCIT_SERVER__API_KEYS=plain.server.api_keys[0])
    for server in (plain.server, hashed.server):
        assert server.accepts(b"one")
        assert not server.accepts(b"two")
        assert not server.accepts(b"")
        assert not server.accepts(server.api_keys[0].encode())
    assert plain.server.accepts("zwei-ä".encode())


def test_lists_in_the_environment(tmp_path: Path) -> None:
    for spelled in ("https://a.example,https://b.example", '["https://a.example", "https://b.example"]'):
        origins = load(tmp_path, LOCCIT_SERVER__CORS_ORIGINS=spelled).server.cors_origins
        assert origins == ("https://a.example", "https://b.example")


def test_open_host_needs_a_key(tmp_path: Path) -> None:
    (fault,) = faults(tmp_path, LOCCIT_SERVER__HOST=OPEN_HOST)
    assert "server.api_keys" in fault
    assert "server.allow_anonymous = true" in fault
    assert load(tmp_path, LOCCIT_SERVER__HOST=OPEN_HOST, LOCCIT_SERVER__API_KEYS="k").server.host == OPEN_HOST
    assert load(tmp_path, LOCCIT_SERVER__HOST=OPEN_HOST, LOCCIT_SERVER__ALLOW_ANONYMOUS="true").server.allow_anonymous


def test_loopback_spellings() -> None:
    assert all(is_loopback(host) for host in ("localhost", "127.0.0.1", "127.9.9.9", "::1"))
    assert not any(is_loopback(host) for host in (OPEN_HOST, "::", "10.0.0.1", "example.org"))


def test_openai_variables_only_for_openai_models_with_nothing_set(tmp_path: Path) -> None:
    openai = {"OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
    offline = load(tmp_path, None, None, **openai)
    assert offline.llm.api_key is None
    assert offline.llm.base_url is None
    settings = load(tmp_path, None, None, LOCCIT_LLM__MODEL="openai:m", LOCCIT_LLM__BASE_URL="http://mine", **openai)
    assert settings.llm.api_key is not None
    assert settings.llm.api_key.get_secret_value() == "sk-1"
    assert settings.llm.base_url == "http://mine"
    assert {s.key: s.name for s in settings.in_force()}["llm.api_key"] == "OPENAI_API_KEY"
    assert (
        load(tmp_path, LOCCIT_EMBEDDINGS__MODEL="openai:e", **openai).embeddings.base_url == openai["OPENAI_BASE_URL"]
    )
    assert load(tmp_path, LOCCIT_LLM__MODEL="openai:m", OPENAI_API_KEY="").llm.api_key is None


def test_none_unsets_and_empty_is_unset(tmp_path: Path) -> None:
    assert load(tmp_path, "[llm]\ntemperature = 'none'").llm.temperature is None
    assert load(tmp_path, "", LOCCIT_LLM__TEMPERATURE="none").llm.temperature is None
    assert load(tmp_path, "", LOCCIT_LLM__TEMPERATURE=" ").llm.temperature == 0
    assert load(tmp_path, "[llm]\nbase_url = ''").llm.base_url is None


def test_frozen(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="frozen"):
        setattr(load(tmp_path).server, "port", 1)  # noqa: B010 - a plain assignment would not type


@pytest.mark.parametrize("key", setting_keys())
def test_every_setting_has_a_variable_that_reaches_it(tmp_path: Path, key: str) -> None:
    found = faults(tmp_path, None, None, **{variable(key): "\x07"})
    assert found == [f"{variable(key)} holds characters that can't be printed."]


@given(st.dictionaries(st.sampled_from([variable(key) for key in setting_keys()]), st.text(max_size=20), max_size=4))
def test_any_environment_loads_or_is_refused_in_words(environ: dict[str, str]) -> None:
    try:
        settings = Settings.load(environ=environ, cwd=Path("nowhere"))
    except ConfigError as error:
        said = str(error)
    else:
        said = settings.store.path.name
    assert said


def test_what_is_for_compose_alone_is_no_fault(tmp_path: Path) -> None:
    load(tmp_path, LOCCIT_PORT="8000", LOCCIT_DATA="./papers", LOCCIT_MEMORY="3g", LOCCIT_CHROMA_MEMORY="2g")

"""`loccit doctor` on settings, the data folder and the embedding model; and the command itself."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import httpx
import pytest

from service.cli_doctor import _summary
from service.config import Settings
from service.doctor import Finding, configuration, folder
from service.doctor.endpoint import Endpoint, Listed, _read_list
from service.doctor.replies import of_list
from service.wire import Json
from tests.embedders import HashingEmbedder
from tests.fake_llm import FakeLLM
from tests.live import SPARSE, serving, settings_in
from tests.pretender import Pretender
from tests.stores import opened, paper
from tests.test_cli import Loccit, runner
from vectorstore.catalogue import CollectionInfo
from vectorstore.database import FILE_NAME
from vectorstore.lock import Announcement
from vectorstore.store import StoreState
from vectorstore.upkeep import IndexState


@pytest.fixture
def loccit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Loccit:
    """Run a command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return runner(monkeypatch, capsys)


def looked_at(settings: Settings) -> dict[str, Finding]:
    return {finding.check: finding for finding in folder.of_folder(settings, HashingEmbedder())}


def test_the_command_says_that_all_is_well(loccit: Loccit, tmp_path: Path) -> None:
    ran = loccit("doctor")
    assert ran.status == 0, ran.out
    assert "✓ configuration, settings: valid: all defaults" in ran.out
    assert "there is no endpoint to check" in ran.out
    assert ran.out.endswith("All is well.\n")
    assert not (tmp_path / ".loccit").exists()


def test_the_file_is_named(loccit: Loccit, tmp_path: Path) -> None:
    (tmp_path / "loccit.toml").write_text("[answer]\ndrafts = 2\n", encoding="utf-8")
    ran = loccit("doctor", LOCCIT_SERVER__PORT="8001")
    assert "valid: 1 from loccit.toml, 1 from the environment" in ran.out


def test_the_command_says_what_must_be_changed(loccit: Loccit) -> None:
    with FakeLLM(Pretender(cut_at=4_096)) as fake:
        ran = loccit("doctor", LOCCIT_LLM__MODEL="openai:fake", LOCCIT_LLM__BASE_URL=fake.url)
    assert ran.status == 1
    line = next(line for line in ran.out.splitlines() if "context window" in line)
    assert line.startswith("✗ model, context window: about 4,096 tokens")
    assert "→ set llm.context_window = 4096" in line
    assert "1 of 16 checks found something that must be changed." in ran.out


def test_as_json(loccit: Loccit) -> None:
    ran = loccit("doctor", "--json")
    told = json.loads(ran.out)
    assert told["well"] is True
    assert {finding["area"] for finding in told["findings"]} == {"configuration", "store", "embedding", "model"}
    assert all(finding.keys() == {"area", "check", "mark", "found", "change"} for finding in told["findings"])


def test_unknown_keys_are_faults_a_line_each(loccit: Loccit, tmp_path: Path) -> None:
    (tmp_path / "loccit.toml").write_text('[llm]\nmodle = "openai:x"\n[stor]\npath = "x"\n', encoding="utf-8")
    ran = loccit("doctor")
    assert ran.status == 1
    assert "llm.modle in loccit.toml is not a setting; did you mean llm.model?" in ran.out
    assert ran.out.count("✗") == 2
    assert json.loads(loccit("doctor", "--json").out)["well"] is False


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ({"llm__base_url": "http://127.0.0.1:1"}, "no model is"),
        ({"llm__model": "openai:x", "answer__drafts": 3}, "3 drafts at temperature 0 are all the same"),
        (
            {"llm__model": "openai:x", "llm__api_key": "k", "llm__base_url": "http://example.com"},
            "goes to another machine without encryption",
        ),
        ({"server__host": "0.0.0.0", "server__allow_anonymous": True}, "anybody who reaches 0.0.0.0"),
    ],
)
def test_settings_that_defeat_one_another(tmp_path: Path, flags: dict[str, object], said: str) -> None:
    first, *others = configuration.of_settings(settings_in(tmp_path, **flags))
    assert first.found == f"valid: {len(flags)} from flags"
    assert [finding.mark for finding in others] == ["warning"]
    assert said in others[0].found


def test_a_key_for_a_near_or_encrypted_or_malformed_endpoint_is_no_warning(tmp_path: Path) -> None:
    for url in ("http://192.168.1.5:8080", "https://example.com", "http://x:y:z"):
        settings = settings_in(tmp_path, llm__model="openai:x", llm__api_key="k", llm__base_url=url)
        assert len(list(configuration.of_settings(settings))) == 1


def test_a_folder_that_can_be_made(tmp_path: Path) -> None:
    found = looked_at(settings_in(tmp_path))
    assert found["folder"].mark == "note"
    assert not (tmp_path / ".loccit").exists()


def test_a_folder_of_papers(tmp_path: Path) -> None:
    with opened(tmp_path / ".loccit", papers=[paper(1), paper(2)]):
        pass
    found = looked_at(settings_in(tmp_path))
    assert {finding.mark for finding in found.values()} == {"ok"}
    assert found["catalogue"].found == "readable: 2 papers, 2 passages (default 2)"
    assert found["index"].found == "current"


def test_an_empty_store_is_told(tmp_path: Path) -> None:
    with opened(tmp_path / ".loccit"):
        pass
    assert "add papers with" in looked_at(settings_in(tmp_path))["catalogue"].found


def test_a_collection_of_another_embedder_is_a_fault(tmp_path: Path) -> None:
    with opened(tmp_path / ".loccit", HashingEmbedder(name="another"), [paper(1)]):
        pass
    found = looked_at(settings_in(tmp_path))
    assert found["collections"].mark == "fault"
    assert "was embedded by another" in found["collections"].found
    assert "run `loccit reindex`" in (found["collections"].change or "")


def test_a_folder_that_another_process_owns_without_serving(tmp_path: Path) -> None:
    with opened(tmp_path / ".loccit"):
        found = looked_at(settings_in(tmp_path))
    assert found["owner"].mark == "fault"
    assert "another process owns the data folder" in found["owner"].found


def test_a_folder_that_a_server_owns_is_asked_about_there(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    with serving(settings) as live:
        live.runtime.store.announce(live.url, live.runtime.token)
        with live.client() as http:
            http.post("/v1/papers", json={"papers": [SPARSE]}).raise_for_status()
        found = looked_at(settings)
        assert found["owner"].mark == "ok"
        assert f"owned by the server at {live.url}, which asks offline:extractive" in found["owner"].found


def test_an_announced_server_that_is_silent_is_a_fault() -> None:
    (finding,) = folder.of_server(Announcement("http://127.0.0.1:9", "t", 4_711))
    assert finding.mark == "fault"
    assert "process 4711" in finding.found


class _NotReady(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert self.headers["Authorization"] == "Bearer t"
        raw = json.dumps({"ready": False, "degraded": ["It is stopping."], "model": "m", "embedder": "e"}).encode()
        self.send_response(503)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


def test_a_server_that_is_not_ready_says_why() -> None:
    with HTTPServer(("127.0.0.1", 0), _NotReady) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        found = list(folder.of_server(Announcement(f"http://127.0.0.1:{server.server_port}", "t", 1)))
        thread.join()
    assert [(finding.check, finding.mark) for finding in found] == [("owner", "fault"), ("index", "warning")]
    assert found[1].found == "It is stopping."


def test_a_broken_catalogue_is_a_fault(tmp_path: Path) -> None:
    with opened(tmp_path / ".loccit"):
        pass
    (tmp_path / ".loccit" / FILE_NAME).write_bytes(b"no database at all" * 400)
    assert looked_at(settings_in(tmp_path))["catalogue"].mark == "fault"


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / ".loccit").write_text("a file", encoding="utf-8")
    found = looked_at(settings_in(tmp_path))
    assert found["folder"].mark == "fault"
    assert found["folder"].change == "set store.path to a folder that can be written"


def test_an_index_that_is_behind_is_no_fault() -> None:
    info = CollectionInfo("default", 3, 4, "e", 1)
    state = StoreState(True, ("the index is slow",), 3, 4, (IndexState("default", "rebuilding", 4),))
    found = list(folder.of_state(state, [info]))
    assert [finding.mark for finding in found] == ["ok", "note", "warning"]
    assert "exact search answers meanwhile" in found[1].found
    unready = list(folder.of_state(StoreState(False, ("it is read-only",), 0, 0, ()), []))
    assert [finding.mark for finding in unready] == ["fault"]


@pytest.mark.parametrize(
    ("body", "names", "stated"),
    [
        ({"data": [{"id": "a", "max_model_len": 4_096}, {"id": "b"}]}, ("a", "b"), 4_096),
        ({"data": [{"id": "z", "meta": {"n_ctx": 2_048}}]}, ("z",), 2_048),
        ({"data": [{"id": "x"}, {"id": "b", "context_length": 9}]}, ("x", "b"), None),
        ({"data": [{"id": "a", "max_model_len": None, "n_ctx": True}, 7]}, ("a",), None),
        ([{"id": "a", "context_window": 99}], ("a",), 99),
        ({"models": []}, (), None),
        ("nothing", (), None),
    ],
)
def test_lists_of_models_of_every_server(body: Json, names: tuple[str, ...], stated: int | None) -> None:
    assert _read_list(200, body, "a") == Listed(200, names, stated)


def test_a_refused_key_and_a_list_that_is_none() -> None:
    llm = Settings().llm
    assert [finding.mark for finding in of_list(Listed(401), llm)] == ["ok", "fault"]
    assert [finding.mark for finding in of_list(Listed(404), llm)] == ["ok", "ok", "note"]
    long = Listed(200, tuple("abcdefgh"))
    assert list(of_list(long, llm))[-1].found.endswith("a, b, c, d, e, …")


@pytest.mark.anyio
async def test_an_endpoint_that_speaks_no_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, text="<html>")

    settings = settings_in(tmp_path, llm__model="openai:x", llm__base_url="http://127.0.0.1:9")
    asked = Endpoint(settings.llm, HashingEmbedder())
    monkeypatch.setattr(
        asked, "_http", lambda: httpx.AsyncClient(transport=httpx.MockTransport(respond), base_url="http://x")
    )
    assert await asked.listed() == Listed(200)
    assert (await asked.in_json("?")).status is None


def test_the_last_line_counts() -> None:
    ok, warning = Finding("model", "x", "ok", ""), Finding("model", "y", "warning", "")
    assert _summary([ok]) == "All is well."
    assert _summary([ok, warning]) == "All works; 1 of 2 checks found what could be better."

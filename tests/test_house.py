"""The measures of the house that no other tool takes: sizes, words, and promises about what is in the repository."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import service

ROOT = Path(__file__).parents[1]
OURS = ("service", "vectorstore", "prompts")
LONGEST_FILE = 300
LONGEST_FUNCTION = 40

Function = ast.FunctionDef | ast.AsyncFunctionDef


def _files() -> list[Path]:
    """Every file that is, or is about to be, in the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    return sorted({ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()})


FILES = _files()
PYTHON = [path for path in FILES if path.suffix == ".py"]
CODE = [path for path in PYTHON if path.relative_to(ROOT).parts[0] in OURS]
WRITTEN = [path for path in FILES if path.suffix in {".py", ".js", ".css", ".html", ".sh"}]
TEXTS = [
    path for path in FILES if path.suffix not in {".png", ".ico", ".gz", ".npy", ".npz"} and path != Path(__file__)
]


def _place(path: Path, line: int = 0) -> str:
    return f"{path.relative_to(ROOT)}:{line}"


def _none(found: list[str]) -> None:
    assert not found, "\n" + "\n".join(found)


def _nodes(paths: list[Path]) -> Iterator[tuple[Path, ast.AST]]:
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            yield path, node


def _matches(paths: list[Path], pattern: str) -> list[str]:
    found = re.compile(pattern)
    return [
        f"{_place(path, number)} {line.strip()[:120]}"
        for path in paths
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if found.search(line)
    ]


def test_files_are_short() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in WRITTEN}
    _none([f"{_place(path)} {length}" for path, length in lengths.items() if length > LONGEST_FILE])


def test_functions_are_short() -> None:
    lengths = {
        f"{_place(path, node.lineno)} {node.name}": (node.end_lineno or 0) - node.lineno + 1
        for path, node in _nodes(PYTHON)
        if isinstance(node, Function)
    }
    _none([f"{name} {length}" for name, length in lengths.items() if length > LONGEST_FUNCTION])


def test_nothing_of_ours_is_imported_inside_a_function() -> None:
    """An import that only works late hides a cycle."""
    late = [
        _place(path, inner.lineno)
        for path, node in _nodes(CODE)
        if isinstance(node, Function)
        for inner in ast.walk(node)
        if (isinstance(inner, ast.ImportFrom) and (inner.module or "").split(".")[0] in OURS)
        or (isinstance(inner, ast.Import) and any(alias.name.split(".")[0] in OURS for alias in inner.names))
    ]
    _none(late)


READS_THE_ENVIRONMENT = {"environ", "environb", "getenv", "load_dotenv"}


def _environment_names(node: ast.AST) -> set[str]:
    if isinstance(node, ast.ImportFrom):
        return READS_THE_ENVIRONMENT & {alias.name for alias in node.names}
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return READS_THE_ENVIRONMENT & {node.attr}
    return set()


def test_only_config_reads_the_environment() -> None:
    readers = {path for path, node in _nodes(CODE) if _environment_names(node)}
    assert readers == {ROOT / "service" / "config.py"}


def test_a_silenced_checker_is_told_what_and_why() -> None:
    ignores = _matches(PYTHON, r"#\s*type:\s*ignore(?!\[[a-z-, ]+\]\s+#\s*\S)")
    _none([line for line in ignores if "test_house.py" not in line])
    _none(_matches([path for path in PYTHON if path != Path(__file__)], r"#\s*noqa(?!:\s?[A-Z]+\d)"))
    _none(_matches(CODE, r"pragma: no (?:cover|branch)(?!\s*\S*[:(-])"))


NOT_OUR_WORDS = {
    "document",
    "documents",
    "chunk",
    "chunks",
    "context",
    "contexts",
    "source",
    "sources",
    "result",
    "results",
}
# The contract's setting of the model's window, and a method of LangChain's Embeddings.
SPELLED_SO_BY_OTHERS = {"context_window", "embed_documents"}


def _defined(node: ast.AST) -> list[str]:
    """The names that a node brings into the world."""
    if isinstance(node, Function | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.arg):
        return [node.arg]
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return [node.id]
    return []


def test_names_use_the_words_of_the_contract() -> None:
    others = [
        f"{_place(path, getattr(node, 'lineno', 0))} {name}"
        for path, node in _nodes(CODE)
        for name in _defined(node)
        if name not in SPELLED_SO_BY_OTHERS
        and NOT_OUR_WORDS & set(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().split("_"))
    ]
    _none(others)


def test_no_module_is_named_after_nothing() -> None:
    nameless = {"utils", "util", "helpers", "helper", "manager", "common", "misc"}
    _none([_place(path) for path in PYTHON if path.stem in nameless])


def test_no_registry_and_no_place_of_one_machine_is_named() -> None:
    """Where packages come from, and where a checkout lies, is the machine's business."""
    registries = (
        r"pythonhosted|pypi\.org|npmjs\.(?:org|com)|deb\.debian\.org|ghcr\.io|--(?:extra-)?index-url|--find-links"
    )
    places = r"(?<![\w.])/(?:work|root)/|/tmp/\w"
    _none(_matches(TEXTS, registries))
    _none(_matches(TEXTS, places))


def test_no_secret_is_in_the_repository() -> None:
    assert (
        _matches(TEXTS, r"sk-(?:proj-)?[A-Za-z0-9]{20}|-----BEGIN [A-Z ]*PRIVATE KEY|AKIA[0-9A-Z]{16}|hf_[A-Za-z]{30}")
        == []
    )


def _project() -> dict[str, object]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert isinstance(project, dict)
    return project


def _locked(name: str) -> dict[str, str]:
    """Name -> version of every requirement of a lock."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    pins = (re.match(r"([A-Za-z0-9._-]+)==(\S+)", line) for line in lines)
    return {canonicalize_name(pin.group(1)): pin.group(2) for pin in pins if pin}


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_the_lock_pins_each_package_by_hash(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    entries = [entry.replace("\\\n", " ") for entry in re.split(r"\n(?=\S)", text.strip())]
    assert len(entries) >= 20
    loose = [e for e in entries if not re.match(r"[A-Za-z0-9._-]+==\S+( ; [^\n]+?)?\s+--hash=sha256:[0-9a-f]{64}", e)]
    _none(loose)
    assert "://" not in text


def test_the_lock_holds_what_the_project_asks_for() -> None:
    locked = _locked("requirements.txt")
    wanted = _project()["dependencies"]
    assert isinstance(wanted, list)
    for text in wanted:
        requirement = Requirement(text)
        assert requirement.specifier.contains(locked[canonicalize_name(requirement.name)]), text
    assert "torch" not in locked


def test_the_locks_agree() -> None:
    run, dev = _locked("requirements.txt"), _locked("requirements-dev.txt")
    assert {name for name in run.keys() & dev.keys() if run[name] != dev[name]} == set()


def test_the_version_is_said_once() -> None:
    assert _project()["version"] == service.__version__


def test_readme_knows_every_make_target() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z]+):.*## ", makefile, re.MULTILINE)
    assert {"run", "test", "check", "lock"} <= set(targets)
    _none([target for target in targets if not re.search(rf"\bmake {target}\b", readme)])


_IMPORTS_WITH_A_GUARD = """
import sys
reached = []
def watch(event, arguments):
    # urllib3, which LangChain imports, asks whether there is IPv6 by taking a free loopback port for a moment.
    if event == "socket.bind" and arguments[1][:2] in {("::1", 0), ("127.0.0.1", 0)}:
        return
    if event in {"socket.connect", "socket.getaddrinfo", "socket.bind", "socket.sendto", "subprocess.Popen", "os.fork"}:
        reached.append((event, str(arguments)))
sys.addaudithook(watch)
import service.app, service.cli
sys.exit(f"at import: {reached}" if reached else 0)
"""


def test_importing_everything_reaches_for_nothing() -> None:
    """Law 12: no network at import; no process either."""
    run = subprocess.run(
        [sys.executable, "-c", _IMPORTS_WITH_A_GUARD], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr

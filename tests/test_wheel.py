"""What is installed without a checkout holds what the service needs, and finds it."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

_FIND_ALL = """
from importlib import resources
import prompts, service.cli
from service.serving import SAMPLE
assert "site" in service.__file__, service.__file__
assert (resources.files("service") / "data" / SAMPLE).is_file()
assert (resources.files("service") / "web" / "index.html").is_file()
assert (resources.files("prompts") / "answer.md").is_file()
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built as pip builds it, with no network and only what the lock holds."""
    folder = tmp_path_factory.mktemp("wheel")
    offline = ["--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check", "--quiet"]
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", *offline, "--wheel-dir", folder, ROOT], check=True, timeout=200
    )
    return next(folder.glob("loccit-*.whl"))


def test_the_wheel_holds_code_and_data_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {"service/data/icml2024-sample.txt", "prompts/answer.md", "service/web/index.html"} <= set(names)
    assert {name.split("/")[0].split("-")[0] for name in names} == {"service", "vectorstore", "prompts", "loccit"}


def test_an_installed_loccit_finds_its_files(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    environment = {**os.environ, "PYTHONPATH": str(site)}
    subprocess.run([sys.executable, "-c", _FIND_ALL], cwd=tmp_path, env=environment, check=True, timeout=100)

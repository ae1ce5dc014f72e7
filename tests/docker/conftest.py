"""One engine and one set of images for all; a compose project for each test that asks."""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from tests.docker.engine import API, HERE, ROOT, STANDIN, Missing, Project, base_image, build, require_engine

BUILD_S = 1500


class Composed(Protocol):
    """Makes a project; it is taken down after the test."""

    def __call__(self, **options: object) -> Project: ...


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.docker)
            if item.get_closest_marker("timeout") is None:
                # The first of them waits for the images.
                item.add_marker(pytest.mark.timeout(BUILD_S + 300))


@pytest.fixture(scope="session")
def image() -> str:
    """The image of the service, built from this checkout as README says."""
    try:
        require_engine()
        base = base_image()
    except Missing as reason:
        pytest.skip(str(reason))
    build(API, ROOT, base)
    return API


@pytest.fixture(scope="session")
def standin(image: str) -> str:
    """A model server and nginx, in one image."""
    build(STANDIN, HERE / "standins", base_image())
    return STANDIN


@pytest.fixture
def composed(image: str, tmp_path: Path) -> Iterator[Composed]:
    """Compose projects, removed with all they hold when the test ends."""
    made: list[Project] = []

    def make(**options: object) -> Project:
        folder = tmp_path / f"project{len(made)}"
        folder.mkdir()
        made.append(Project(folder, **options))  # type: ignore[arg-type]  # passed on
        return made[-1]

    yield make
    for project in made:
        project.down()

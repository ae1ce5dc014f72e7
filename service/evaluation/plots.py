"""The figures drawn: bars with their intervals, and risk against coverage. SVG, written here."""

from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from service.evaluation.estimates import Estimate, mean
from service.evaluation.files import BadLabels
from service.evaluation.retrieval import FIRST, MODES, Run

_COLOURS = ("#8a8f98", "#c98a2b", "#2f6f9f")
_HEIGHT, _TOP, _LEFT, _BOTTOM = 300.0, 40.0, 56.0, 54.0
_BAR, _GAP = 22.0, 26.0


def check(path: Path | None) -> None:
    """BadLabels where the plot can't be drawn as asked: said before anything is measured."""
    if path is not None and path.suffix.lower() != ".svg":
        raise BadLabels(f"A plot is drawn as SVG: name it {path.stem}.svg. Any browser opens it.")


def bars(runs: Sequence[Run]) -> str:
    """nDCG@10 of each retriever on each set, with 95 % intervals."""
    group = _BAR * len(MODES) + _GAP
    width = _LEFT + group * len(runs) + 24
    parts = [*_axis(width, FIRST), *_legend(MODES, _COLOURS)]
    for place, one in enumerate(runs):
        left = _LEFT + _GAP / 2 + place * group
        for index, mode in enumerate(MODES):
            figure = mean(one.scores[mode][FIRST])
            if figure is not None:
                parts += _bar(left + index * _BAR, figure, _COLOURS[index])
        parts.append(_text(left + group / 2 - _GAP / 2, _base() + 18, one.name, "middle"))
    return _svg(max(width, 320.0), parts)


def risk(points: Sequence[tuple[float, float]], here: tuple[float, float] | None) -> str:
    """Share of wrong answers against the share of questions answered; `here` is where the floor in force stands."""
    width = 460.0
    span = width - _LEFT - 24
    parts = _axis(width, "risk: share of answers not shown to be right")
    for tick in range(0, 101, 20):
        parts.append(_text(_LEFT + span * tick / 100, _base() + 18, f"{tick} %", "middle"))
    parts.append(_text(_LEFT + span / 2, _base() + 38, "coverage: share of questions answered", "middle"))
    path = " ".join(f"{_LEFT + span * coverage:.1f},{_y(share):.1f}" for coverage, share in points)
    parts.append(f'<polyline points="{path}" fill="none" stroke="{_COLOURS[2]}" stroke-width="2"/>')
    if here is not None:
        x, y = _LEFT + span * here[0], _y(here[1])
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{_COLOURS[1]}"/>')
        parts.append(_text(x - 9, y - 9, f"as answered: {here[1]:.0%} of {here[0]:.0%}", "end"))
    return _svg(width, parts)


def _base() -> float:
    return _HEIGHT - _BOTTOM


def _y(value: float) -> float:
    return _base() - value * (_base() - _TOP)


def _axis(width: float, title: str) -> list[str]:
    parts = [_text(_LEFT, 16, title, "start", bold=True)]
    for tick in range(0, 11, 2):
        y = _y(tick / 10)
        parts.append(f'<line x1="{_LEFT}" x2="{width - 24}" y1="{y:.1f}" y2="{y:.1f}" stroke="#d8dade"/>')
        parts.append(_text(_LEFT - 8, y + 4, f"{tick / 10:.1f}", "end"))
    return parts


def _legend(names: Sequence[str], colours: Sequence[str]) -> list[str]:
    parts: list[str] = []
    for index, (name, colour) in enumerate(zip(names, colours, strict=True)):
        x = _LEFT + 90 * index
        parts.append(f'<rect x="{x}" y="24" width="10" height="10" fill="{colour}"/>')
        parts.append(_text(x + 15, 33, name, "start"))
    return parts


def _bar(x: float, figure: Estimate, colour: str) -> list[str]:
    middle = x + _BAR / 2 - 1
    top, low, high = _y(figure.value), _y(figure.low), _y(figure.high)
    words = f"{figure.value:.3f} [{figure.low:.3f}, {figure.high:.3f}]"
    return [
        f'<rect x="{x:.1f}" y="{top:.1f}" width="{_BAR - 2}" height="{_base() - top:.1f}" fill="{colour}">',
        f"<title>{words}</title></rect>",
        f'<line x1="{middle:.1f}" x2="{middle:.1f}" y1="{low:.1f}" y2="{high:.1f}" stroke="#1d1f23"/>',
    ]


def _text(x: float, y: float, text: str, anchor: str, *, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{weight}>{escape(text)}</text>'


def _svg(width: float, parts: Sequence[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {_HEIGHT:.0f}" width="{width:.0f}"'
        f' height="{_HEIGHT:.0f}" font-family="sans-serif" font-size="12" fill="#1d1f23">'
    )
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>"]) + "\n"

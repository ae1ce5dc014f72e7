"""Words, numbers and names in comparable form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.quantities import numbers
from service.words import american, names, plain, stems, tokens


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2.62% higher", [(2.62, "%")]),
        (r"2.62\% higher", [(2.62, "%")]),
        ("2.62 percent", [(2.62, "%")]),
        ("2.1$\\times$ faster", [(2.1, "×")]),
        ("2.1x faster", [(2.1, "×")]),
        ("2.1 times", [(2.1, "×")]),
        ("two times", [(2.0, "×")]),
        ("10,632 images", [(10632.0, "")]),
        ("1.5B parameters", [(1.5e9, "")]),
        ("3 million", [(3e6, "")]),
        ("300K pairs", [(3e5, "")]),
        ("10-100$\\times$", [(10.0, ""), (100.0, "×")]),
        ("16-bit training", [(16.0, "bit")]),
        ("a loss of -1.5", [(-1.5, "")]),
        ("seven subjects", [(7.0, "")]),
        ("one of them", []),
        ("GPT-4 and IM-3D", [(4.0, ""), (3.0, "")]),
        ("$8$% points", [(8.0, "%")]),
        ("0.3 seconds, 20 GB", [(0.3, "s"), (20.0, "gb")]),
    ],
)
def test_a_number_and_its_unit(text: str, found: list[tuple[float, str]]) -> None:
    assert [(number.value, number.unit) for number in numbers(text)] == found


def test_names_are_methods_acronyms_and_inner_capitals() -> None:
    text = "Our method, IM-3D, beats GPT-4 and LoRA+ with Adam on ImageNet. The DNNs use ReLU; We show it."
    assert names(text) == {"im3d", "gpt4", "lora+", "adam", "imagenet", "dnn", "relu"}


def test_a_sentence_opening_capital_is_no_name() -> None:
    assert names("Discrete models are fast. Training is slow.") == frozenset()


def test_markup_and_inflection_do_not_count() -> None:
    assert stems(r"\textit{Discrete} *models* were **generated**") == stems("discrete model generate")
    assert tokens("$\\mathcal{O}(L)$ speed-ups") == ["O", "L", "speed", "ups"]


@pytest.mark.parametrize(
    ("british", "spelled"),
    [
        ("optimise", "optimize"),
        ("optimisation", "optimization"),
        ("behaviour", "behavior"),
        ("modelling", "modeling"),
        ("unsupervised", "unsupervised"),
        ("noise", "noise"),
        ("four", "four"),
        ("called", "called"),
        ("surprise", "surprise"),
        ("summarise", "summarize"),
        ("contours", "contours"),
    ],
)
def test_british_spelling_is_read_as_american(british: str, spelled: str) -> None:
    assert american(british) == spelled


@given(st.text(max_size=200))
def test_any_text_has_words_numbers_and_names(text: str) -> None:
    assert all(isinstance(stem, str) for stem in stems(text))
    assert all(0 <= number.start < number.end <= len(plain(text)) for number in numbers(text))
    assert all(names(text)) or not names(text)

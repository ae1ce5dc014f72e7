"""What abstracts say, and what drafts make of it: true in other words, and false by one word. See `test_verify_pairs`.

Each line: the words of the abstracts (several passages by " // "), and what is said of them.
"""

from collections.abc import Iterator
from typing import NamedTuple


class Pair(NamedTuple):
    """What is `said` of `quotes`; the kind of thing that it turns on."""

    kind: str
    quotes: tuple[str, ...]
    said: str


def _pairs(lines: str) -> Iterator[Pair]:
    kind, quotes = "", tuple[str, ...]()
    for line in filter(None, map(str.strip, lines.splitlines())):
        if line.startswith("# "):
            kind = line[2:]
        elif line.startswith("> "):
            quotes = tuple(line[2:].split(" // "))
        else:
            yield Pair(kind, quotes, line)


FALSE = tuple(
    _pairs("""
    # number words
    > The data set contains thirteen annotated languages.
    The data set contains fourteen annotated languages.
    The data set contains 15 annotated languages.
    > The study covers seventy hospitals in Europe.
    The study covers ninety hospitals in Europe.
    The study covers 80 hospitals in Europe.
    > The study covers twenty-five hospitals in Europe.
    The study covers twenty-six hospitals in Europe.
    The study covers twenty hospitals in Europe.
    > Our method uses half of the training data.
    Our method uses a third of the training data.
    Our method uses a quarter of the training data.
    > Pruning doubles the throughput of the decoder.
    Pruning triples the throughput of the decoder.
    Pruning halves the throughput of the decoder.
    > The new kernel is twice as fast as the baseline.
    The new kernel is three times as fast as the baseline.
    The new kernel is half as fast as the baseline.
    > Foo ranks second on the public leaderboard.
    Foo ranks first on the public leaderboard.
    Foo ranks third on the public leaderboard.
    > We evaluate two datasets of street scenes.
    We evaluate one dataset of street scenes.
    > The method fails on several datasets of street scenes.
    The method fails on one dataset of street scenes.
    # units
    > Training the model costs 300 € on rented hardware.
    Training the model costs 300 $ on rented hardware.
    > Training the model costs $300 on rented hardware.
    Training the model costs £300 on rented hardware.
    Training the model costs 300 hours on rented hardware.
    > The effect of the drug was significant (p < 0.05).
    The effect of the drug was significant (p > 0.05).
    The effect of the drug was significant (p ≥ 0.05).
    > Accuracy is ≥ 90% for all classes.
    Accuracy is ≤ 90% for all classes.
    > Inference takes 5 ms on a laptop.
    Inference takes 5 μs on a laptop.
    Inference takes 5 ns on a laptop.
    Inference takes 5 us on a laptop.
    Inference takes 5 s on a laptop.
    > The chip draws 5 mW at full load.
    The chip draws 5 MW at full load.
    The chip draws 5 W at full load.
    The chip draws 5 kW at full load.
    > The robot walked 300 metres without a fall.
    The robot walked 300 kilometres without a fall.
    The robot walked 300 km without a fall.
    > The sample weighs 12 grams after drying.
    The sample weighs 12 kilograms after drying.
    # opening name
    > Muon converges faster than the baselines on large models.
    Adam converges faster than the baselines on large models.
    > The optimizer converges faster than the baselines on large models.
    Adam converges faster than the baselines on large models.
    > Our method improves retrieval on long texts.
    Longformer improves retrieval on long texts.
    # prefix negation
    > The learned controller is stable under large disturbances.
    The learned controller is unstable under large disturbances.
    > We train an unsupervised model of speech on raw audio.
    We train a supervised model of speech on raw audio.
    > We derive a parametric test of independence.
    We derive a non-parametric test of independence.
    We derive a nonparametric test of independence.
    > The attention layer is efficient on long inputs.
    The attention layer is inefficient on long inputs.
    > The gradient estimate is reversible under time shifts.
    The gradient estimate is irreversible under time shifts.
    > The posterior is proper under a flat prior.
    The posterior is improper under a flat prior.
    > The loss is continuous in all of its parameters.
    The loss is discontinuous in all of its parameters.
    > Users were satisfied with the generated answers.
    Users were dissatisfied with the generated answers.
    # cues
    > The method often succeeds on noisy images.
    The method rarely succeeds on noisy images.
    The method seldom succeeds on noisy images.
    The method hardly ever succeeds on noisy images.
    The method scarcely succeeds on noisy images.
    The method barely succeeds on noisy images.
    > The method succeeds on noisy images.
    The method rarely succeeds on noisy images.
    The method scarcely succeeds on noisy images.
    > Many models solve the hardest problems.
    Few models solve the hardest problems.
    > Few models solve the hardest problems.
    Models solve the hardest problems.
    # opposites
    > The scheme needs at least 10 labels in each class.
    The scheme needs at most 10 labels in each class.
    > Foo is the most sensitive of the tested methods.
    Foo is the least sensitive of the tested methods.
    > Data augmentation helps generalization to new domains.
    Data augmentation hurts generalization to new domains.
    > Smoking causes lung disease in adults.
    Smoking prevents lung disease in adults.
    > The dose increases the survival of the mice.
    The dose decreases the survival of the mice.
    > Fine-tuning improves calibration on shifted data.
    Fine-tuning degrades calibration on shifted data.
    > The solver is faster on sparse graphs.
    The solver is slower on sparse graphs.
    > Foo needs fewer samples on all tasks.
    Foo needs more samples on all tasks.
    > Foo needs less memory on all tasks.
    Foo needs more memory on all tasks.
    > Collapse often occurs late in training.
    Collapse rarely occurs late in training.
    > The scores lie above the human level.
    The scores lie below the human level.
    > Normalization is applied before the attention layer.
    Normalization is applied after the attention layer.
    > The agent learns the task with demonstrations.
    The agent learns the task without demonstrations.
    > Foo outperforms the baselines on images.
    Foo underperforms the baselines on images.
    > We prove an upper bound on the regret.
    We prove a lower bound on the regret.
    > The condition is necessary for identifiability of the model.
    The condition is sufficient for identifiability of the model.
    > The objective is convex in the weights.
    The objective is non-convex in the weights.
    The objective is nonconvex in the weights.
    # stitching
    > Alpha outperforms Gamma on images. // Delta outperforms Beta on images.
    Alpha outperforms Beta on images.
    > Alpha outperforms Gamma on images. Delta outperforms Beta on images.
    Alpha outperforms Beta on images.
    > Alpha is faster than Gamma on graphs. // Delta is faster than Beta on graphs.
    Alpha is faster than Beta on graphs.
    # complexity
    > The algorithm runs in O(n log n) time.
    The algorithm runs in O(log n) time.
    The algorithm runs in O(n) time.
    > The algorithm runs in $O(n^2)$ time.
    The algorithm runs in O(n) time.
    The algorithm runs in O(n^3) time.
    The algorithm runs in O(n^2 log n) time.
    > The regret of the policy is $\\mathcal{O}(\\sqrt{T})$ in this setting.
    The regret of the policy is O(T) in this setting.
    The regret of the policy is O(log T) in this setting.
    """)
)

TRUE = tuple(
    _pairs("""
    # number words
    > The data set contains thirteen annotated languages.
    The data set contains 13 annotated languages.
    > The study covers twenty-five hospitals in Europe.
    The study covers 25 hospitals in Europe.
    > The study covers ninety hospitals in Europe.
    The study covers 90 hospitals in Europe.
    > Our method uses half of the training data.
    The authors' method uses half of the training data.
    Their method uses 50% of the training data.
    > Pruning doubles the throughput of the decoder.
    Pruning doubled the throughput of the decoder.
    > The new kernel is twice as fast as the baseline.
    The new kernel is two times as fast as the baseline.
    > Foo ranks second on the public leaderboard.
    On the public leaderboard, Foo ranks second.
    > The method uses one dataset of street scenes.
    The method uses a dataset of street scenes.
    > First, we train a model of speech on raw audio.
    The authors train a model of speech on raw audio.
    # units
    > Training the model costs 300 € on rented hardware.
    Training the model costs €300 on rented hardware.
    > Training the model costs $300 on rented hardware.
    Training the model costs 300 dollars on rented hardware.
    > The effect of the drug was significant (p < 0.05).
    The effect of the drug was significant.
    The effect of the drug was significant (p<0.05).
    > Inference takes 5 ms on a laptop.
    Inference takes 5 milliseconds on a laptop.
    > Inference takes 5 μs on a laptop.
    Inference takes 5 microseconds on a laptop.
    > The chip draws 5 mW at full load.
    The chip draws 5 milliwatts at full load.
    > The robot walked 300 metres without a fall.
    The robot walked 300 m without a fall.
    The robot walked 300 meters without a fall.
    # opening name
    > Our method Muon converges faster than the baselines on large models.
    Muon converges faster than the baselines on large models.
    > In practice, transformers generalize to longer sequences.
    Transformers generalize to longer sequences.
    > Selecting data by its gradient improves accuracy.
    Data selection by gradients improves accuracy.
    # prefix negation
    > The learned controller is stable under large disturbances.
    The learned controller stays stable under large disturbances.
    > We train an unsupervised model of speech on raw audio.
    The authors train an unsupervised model of speech on raw audio.
    > We derive a non-parametric test of independence.
    The paper derives a nonparametric test of independence.
    > We compare unsupervised and supervised models of speech.
    The authors compare supervised and unsupervised models of speech.
    # cues
    > The method rarely succeeds on noisy images.
    The method seldom succeeds on noisy images.
    > A few models solve the hardest problems.
    A few models solve the hardest of the problems.
    > We use few-shot prompts of a language model.
    The authors use few-shot prompts of a language model.
    # opposites
    > The scheme needs at least 10 labels in each class.
    At least 10 labels in each class are needed by the scheme.
    > Foo needs fewer samples on all tasks.
    Foo requires fewer samples on all tasks.
    > We prove upper and lower bounds on the regret.
    The authors prove lower and upper bounds on the regret.
    > The condition is necessary and sufficient for identifiability of the model.
    The condition is sufficient and necessary for identifiability of the model.
    > Normalization is applied before the attention layer.
    The normalization is applied before the attention layer.
    > Foo reduces the error and increases accuracy.
    Foo increases accuracy.
    # stitching
    > Alpha outperforms Gamma on images. // Delta outperforms Beta on images.
    Alpha outperforms Gamma on images, and Delta outperforms Beta on images.
    Alpha outperforms Gamma on images.
    > Alpha outperforms Gamma and Beta on images.
    Alpha outperforms Beta on images.
    # complexity
    > The algorithm runs in $O(n \\log n)$ time.
    The algorithm runs in O(n log n) time.
    > The algorithm runs in $O(n^2)$ time.
    The algorithm runs in O(n²) time.
    The algorithm runs in O(n^2) time.
    > The regret of the policy is $\\mathcal{O}(\\sqrt{T})$ in this setting.
    The regret of the policy is O(√T) in this setting.
    """)
)

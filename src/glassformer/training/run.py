"""A run from its recipe: which corpus, which model, how to train. One recipe, one translator."""

import dataclasses
import json
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from glassformer.data.corpora import Corpus, load_corpus
from glassformer.data.sources import SOURCES
from glassformer.data.tokenizer import Tokenizer
from glassformer.files import atomic_write
from glassformer.modules.configuration import RecurrentConfig, TransformerConfig
from glassformer.modules.storage import ARCHITECTURES, AnyTranslator, build_model, make_config
from glassformer.training.checkpoints import list_checkpoints
from glassformer.training.evaluation import evaluate, name_device, summarize, write_record
from glassformer.training.parallel import join_workers
from glassformer.training.settings import TrainingSettings
from glassformer.training.trainer import Trainer
from glassformer.translator import TOKENIZER_FILE, Translator
from glassformer.validation import require_choice, require_whole

RECIPE_FILE, RESULT_FILE = "recipe.json", "results.json"
CHECKPOINTS_FOLDER, TRANSLATOR_FOLDER = "checkpoints", "translator"
_SEARCH: dict[str, Any] = {"beam_size": 4, "length_penalty": "gnmt", "alpha": 0.6}
_RENAMED = {"kind": "architecture", "accumulate": "accumulation_steps"}  # names in older recipes
_FROM_THE_VOCABULARY = ("source_vocabulary_size", "target_vocabulary_size", "pad_id")


def small_model(architecture: str) -> dict[str, Any]:
    """Give the settings of a small model, but for those that its vocabulary decides.

    A transformer is `TransformerConfig.tiny` with its norms before each sublayer, which trains without care.
    The others have one LSTM of the same width on either side.

    Args:
        architecture: as in `Recipe`.
    """
    require_choice(tuple(ARCHITECTURES), architecture=architecture)
    config = (
        TransformerConfig.tiny(1, norm="pre")
        if architecture == "transformer"
        else RecurrentConfig(
            source_vocabulary_size=1, target_vocabulary_size=1, tie_embeddings="all", dropout=0.1
        )
    )
    settings = dataclasses.asdict(config)
    return {name: value for name, value in settings.items() if name not in _FROM_THE_VOCABULARY}


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """All that decides what a run comes to.

    Attributes:
        corpus: what to learn from, by its name in `data.corpora.load_corpus`.
        architecture: "transformer", or for comparison one of the LSTMs before it: "fixed_context" without
            attention, "additive_attention" with it.
        vocabulary_size: how many tokens there are at most, which both languages share.
        model: the sizes and choices of the model by their names in its configuration, without the
            vocabulary; those that are not named are `small_model`'s.
        settings: how to train.

    Raises:
        ValueError: the corpus or the architecture is not known, or a setting of the model does not fit.
    """

    corpus: str
    architecture: str = "transformer"
    vocabulary_size: int = 8000
    model: dict[str, Any] = field(default_factory=dict)
    settings: TrainingSettings = field(default_factory=TrainingSettings)

    def __post_init__(self) -> None:
        require_choice(tuple(SOURCES), corpus=self.corpus)
        require_choice(tuple(ARCHITECTURES), architecture=self.architecture)
        require_whole(vocabulary_size=self.vocabulary_size)
        object.__setattr__(self, "model", small_model(self.architecture) | self.model)
        make_config(self.architecture, self._model_settings(self.vocabulary_size))

    def make_model(self, tokenizer: Tokenizer) -> AnyTranslator:
        """Make the model for a tokenizer, which may have found less tokens than asked for.

        Its weights are fresh, drawn from torch's generator.
        """
        config = self._model_settings(tokenizer.vocabulary_size)
        return build_model({"architecture": self.architecture, "config": config})

    def _model_settings(self, size: int) -> dict[str, Any]:
        return self.model | {"source_vocabulary_size": size, "target_vocabulary_size": size}


def run_recipe(
    recipe: Recipe,
    folder: Path,
    *,
    device: torch.device,
    data_folder: Path | str | None = None,
    progress_bar: bool | None = None,
    command: str = "",
    report: Callable[[str], None] = lambda line: None,
) -> Translator:
    """Train what a recipe says in a folder, or go on where it was interrupted, and score what comes of it.

    The folder holds the recipe, the tokenizer, ``log.jsonl``, ``checkpoints``, and in the end the
    ``translator`` and ``results.json``, its translations of the corpus' tests with their scores.

    Args:
        recipe: what to train.
        folder: where the run is kept; made if it is not there.
        device: what to train on.
        data_folder: as ``folder`` in `data.corpora.load_corpus`.
        progress_bar: as in `Trainer`.
        command: what was typed to start the run, for its notes and results.
        report: called with each line that a reader may want to see, in one of several processes only.

    Returns:
        The trained translator, with the mean of the last checkpoints as its weights.

    Raises:
        ValueError: the folder belongs to another recipe; the message says where they differ.
        DataFileError: the corpus is out of reach, or damaged.
        DivergenceError: the loss is no number any more.
    """
    _require_same(recipe, folder)
    with join_workers(device) as (workers, own_device):
        corpus = load_corpus(recipe.corpus, folder=data_folder)
        if workers.leads:
            _claim_folder(recipe, folder)
            if not (folder / TOKENIZER_FILE).exists():
                _train_tokenizer(corpus, recipe.vocabulary_size).save(folder / TOKENIZER_FILE)
        workers.wait()
        tokenizer = Tokenizer.load(folder / TOKENIZER_FILE)
        torch.manual_seed(recipe.settings.seed)
        translator = Translator(recipe.make_model(tokenizer).to(own_device), tokenizer)
        trainer = Trainer(
            translator, corpus, recipe.settings, folder, workers=workers, progress_bar=progress_bar
        )
        if workers.leads:
            for line in _describe_run(recipe, corpus, trainer):
                report(line)
        trainer.run()
    if workers.leads:
        _keep_results(recipe, corpus, trainer, command=command, report=report)
    return translator


def read_recipe(folder: Path) -> Recipe:
    """Read the recipe of the run in a folder.

    Settings that the file does not name, since they came later, are as they are in a recipe without them.

    Raises:
        FileNotFoundError: there is no recipe.
        ValueError: it is damaged, or of another version.
    """
    path = folder / RECIPE_FILE
    if not path.is_file():
        raise FileNotFoundError(f"{folder} contains no {RECIPE_FILE}: it is not the folder of a run")
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))["recipe"]
        recipe, settings = (
            {_RENAMED.get(name, name): value for name, value in names.items()}
            for names in (stored, stored["settings"])
        )
        return Recipe(**(recipe | {"settings": TrainingSettings(**settings)}))
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{path} is damaged, or was written by another version: {error}") from error


def describe_origin(recipe: Recipe) -> dict[str, Any]:
    """Say where the sentences come from that a run learned from, as the notes of its translator do."""
    source = SOURCES[recipe.corpus]
    return {"corpus": recipe.corpus, "licence": source.licence, "attribution": source.attribution}


def _train_tokenizer(corpus: Corpus, vocabulary_size: int) -> Tokenizer:
    sources, targets = corpus.train.pairs()
    return Tokenizer.train([*sources, *targets], vocabulary_size=vocabulary_size)


def _require_same(recipe: Recipe, folder: Path) -> None:
    if (folder / RECIPE_FILE).exists():
        there, wanted = (dataclasses.asdict(one) for one in (read_recipe(folder), recipe))
        if different := list(_differences(there, wanted)):
            raise ValueError(
                f"folder {folder} holds a run of another recipe: {'; '.join(different)}. Name another folder "
                f"to begin a new run, or the same settings to go on with this one"
            )


def _claim_folder(recipe: Recipe, folder: Path) -> None:
    """Write the recipe into a folder that has none."""
    path = folder / RECIPE_FILE
    if path.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    versions = {"python": platform.python_version(), "torch": torch.__version__}
    content = {"recipe": dataclasses.asdict(recipe), "versions": versions}
    with atomic_write(path) as part:
        part.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _differences(there: dict[str, Any], wanted: dict[str, Any], under: str = "") -> Iterator[str]:
    for name in sorted(there.keys() | wanted.keys()):
        old, new = there.get(name), wanted.get(name)
        if isinstance(old, dict) and isinstance(new, dict):
            yield from _differences(old, new, f"{under}{name}.")
        elif old != new:
            yield f"{under}{name} was {old!r} there, and is {new!r} now"


def _describe_run(recipe: Recipe, corpus: Corpus, trainer: Trainer) -> Iterator[str]:
    tests = ", ".join(f"{name} ({len(sentences.sources):,})" for name, sentences in corpus.tests.items())
    yield (
        f"corpus: {corpus.name} ({corpus.licence}), {len(corpus.train.sources):,} sentences to learn from, "
        f"{len(corpus.validation.sources):,} to validate; tests: {tests}"
    )
    size = sum(parameter.numel() for parameter in trainer.model.parameters())
    tokens = trainer.translator.tokenizer.vocabulary_size
    yield f"model: {recipe.architecture}, {size:,} parameters, {tokens:,} tokens"
    yield f"device: {name_device(trainer.translator)}"
    there = list_checkpoints(trainer.checkpoints)
    begins = f"goes on after {there[-1].name}" if there else "begins"
    yield f"run: {trainer.folder} {begins}, {recipe.settings.steps:,} steps in all; log: {trainer.log.path}"


def _keep_results(
    recipe: Recipe, corpus: Corpus, trainer: Trainer, *, command: str, report: Callable[[str], None]
) -> None:
    """Note with the translator how it was trained, and score it on the tests of its corpus."""
    training = {
        "command": command,
        "seed": recipe.settings.seed,
        "device": name_device(trainer.translator),
        "seconds": round(trainer.progress.seconds, 1),
    }
    place = trainer.folder / TRANSLATOR_FOLDER
    trainer.translator.save(place, **describe_origin(recipe), training=training)
    report(f"translator: {place}; now it translates the tests")
    record = evaluate(trainer.translator, corpus, **_SEARCH) | training
    write_record(trainer.folder / RESULT_FILE, record | {"recipe": dataclasses.asdict(recipe)})
    for line in summarize(record):
        report(line)
    report(f"results: {trainer.folder / RESULT_FILE}")

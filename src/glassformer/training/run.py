"""Run recipes: train and evaluate a translator with a given corpus, model and training settings."""

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
from glassformer.training.evaluation import describe_device, evaluate, summarise, write_results
from glassformer.training.parallel import join_workers
from glassformer.training.settings import TrainingSettings
from glassformer.training.trainer import Trainer
from glassformer.translator import TOKENIZER_FILE, Translator
from glassformer.validation import require_choice, require_positive_int

RECIPE_FILE, RESULT_FILE, TRANSLATOR_FOLDER = "recipe.json", "results.json", "translator"
DECODING: dict[str, Any] = {"beam_size": 4, "length_penalty": "gnmt", "alpha": 0.6}
_VOCABULARY_SETTINGS = ("source_vocabulary_size", "target_vocabulary_size", "pad_id")
_RENAMED = {"kind": "architecture", "accumulate": "accumulation_steps"}  # keys in older recipes


def small_config(architecture: str) -> dict[str, Any]:
    """Return the settings of a small model, except those that depend on the vocabulary.

    A transformer is `TransformerConfig.tiny` with pre-norm, which needs less tuning. The recurrent
    architectures have one LSTM layer of the same width in the encoder and in the decoder.

    Args:
        architecture: name of the architecture, as in `Recipe`.

    Raises:
        ValueError: the architecture is unknown.
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
    return {name: value for name, value in settings.items() if name not in _VOCABULARY_SETTINGS}


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Corpus, model and training settings of a run.

    Attributes:
        corpus: name of the corpus, as in `data.corpora.load_corpus`.
        architecture: "transformer" or, for comparison, an LSTM encoder-decoder with attention
            ("additive_attention") or without it ("fixed_context").
        vocabulary_size: maximum number of tokens in the vocabulary, which both languages share.
        model: settings of the model's configuration, except the vocabulary; settings left out default to
            `small_config`.
        settings: training settings.

    Raises:
        ValueError: the corpus or the architecture is unknown, or a size or a setting of the model is invalid.
    """

    corpus: str
    architecture: str = "transformer"
    vocabulary_size: int = 8000
    model: dict[str, Any] = field(default_factory=dict)
    settings: TrainingSettings = field(default_factory=TrainingSettings)

    def __post_init__(self) -> None:
        require_choice(tuple(SOURCES), corpus=self.corpus)
        require_choice(tuple(ARCHITECTURES), architecture=self.architecture)
        require_positive_int(vocabulary_size=self.vocabulary_size)
        object.__setattr__(self, "model", small_config(self.architecture) | self.model)
        make_config(self.architecture, self._model_settings(self.vocabulary_size))

    def make_model(self, tokenizer: Tokenizer) -> AnyTranslator:
        """Build the model with the vocabulary of a tokenizer, which may be smaller than requested.

        The initial weights are drawn from PyTorch's global random number generator.
        """
        settings = self._model_settings(tokenizer.vocabulary_size)
        return build_model({"architecture": self.architecture, "config": settings})

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
    """Train a translator as a recipe specifies, or resume an interrupted run, then evaluate it.

    The folder holds the recipe, the tokenizer, ``log.jsonl`` and ``checkpoints``. At the end, it also holds
    the ``translator`` and ``results.json``: its translations of the corpus's test sets, with their scores.

    Args:
        recipe: corpus, model and training settings.
        folder: folder of the run, created if missing.
        device: device to train on.
        data_folder: local folder with the corpus, as in `data.corpora.load_corpus`.
        progress_bar: True to show a progress bar; by default, only in a terminal.
        command: command line that started the run, stored with the translator and the results.
        report: function that receives each line of progress, in the main process only.

    Returns:
        The trained translator, with the mean of the most recent checkpoints as its weights.

    Raises:
        ValueError: the folder holds a run of a different recipe; the message lists the differences.
        DataFileError: the corpus is unavailable or damaged.
        DivergenceError: the loss is NaN or infinite.
        RuntimeError: torchrun would restart workers in a way that prevents them from connecting.
    """
    _require_same_recipe(recipe, folder)
    with join_workers(device) as (workers, own_device):
        corpus = load_corpus(recipe.corpus, folder=data_folder)
        if workers.is_main:
            _write_recipe(recipe, folder)
            if not (folder / TOKENIZER_FILE).exists():
                _train_tokenizer(corpus, recipe.vocabulary_size).save(folder / TOKENIZER_FILE)
        workers.barrier()
        tokenizer = Tokenizer.load(folder / TOKENIZER_FILE)
        torch.manual_seed(recipe.settings.seed)
        translator = Translator(recipe.make_model(tokenizer).to(own_device), tokenizer)
        trainer = Trainer(
            translator, corpus, recipe.settings, folder, workers=workers, progress_bar=progress_bar
        )
        if workers.is_main:
            for line in _describe_run(recipe, corpus, trainer):
                report(line)
        trainer.run()
    if workers.is_main:
        _save_results(recipe, corpus, trainer, command=command, report=report)
    return translator


def read_recipe(folder: Path) -> Recipe:
    """Read the recipe of a run.

    Settings introduced after the file was written take their default values.

    Raises:
        FileNotFoundError: there is no recipe.
        ValueError: the recipe is damaged or from another version.
    """
    path = folder / RECIPE_FILE
    if not path.is_file():
        raise FileNotFoundError(f"{folder} contains no {RECIPE_FILE}: it is not the folder of a run")
    try:
        stored = _rename(json.loads(path.read_text(encoding="utf-8"))["recipe"])
        if stored["model"].get("positions") == "linear_bias":  # the name in older recipes
            stored["model"]["positions"] = "alibi"
        return Recipe(**(stored | {"settings": TrainingSettings(**_rename(stored["settings"]))}))
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{path} is damaged or was written by another version: {error}") from error


def describe_origin(recipe: Recipe) -> dict[str, Any]:
    """Return the corpus of a recipe with its licence and attribution, to be stored with the translator."""
    source = SOURCES[recipe.corpus]
    return {"corpus": recipe.corpus, "licence": source.licence, "attribution": source.attribution}


def _rename(stored: dict[str, Any]) -> dict[str, Any]:
    return {_RENAMED.get(name, name): value for name, value in stored.items()}


def _train_tokenizer(corpus: Corpus, vocabulary_size: int) -> Tokenizer:
    sources, targets = corpus.train.pairs()
    return Tokenizer.train([*sources, *targets], vocabulary_size=vocabulary_size)


def _require_same_recipe(recipe: Recipe, folder: Path) -> None:
    """Require that the folder holds no run, or a run of this recipe."""
    if (folder / RECIPE_FILE).exists():
        stored, requested = (dataclasses.asdict(one) for one in (read_recipe(folder), recipe))
        if different := list(_differences(stored, requested)):
            raise ValueError(
                f"folder {folder} holds a run of another recipe: {'; '.join(different)}. Name another folder "
                f"to start a new run, or use the same settings to resume this one"
            )


def _write_recipe(recipe: Recipe, folder: Path) -> None:
    path = folder / RECIPE_FILE
    if path.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    versions = {"python": platform.python_version(), "torch": torch.__version__}
    content = {"recipe": dataclasses.asdict(recipe), "versions": versions}
    with atomic_write(path) as part:
        part.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _differences(stored: dict[str, Any], requested: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for name in sorted(stored.keys() | requested.keys()):
        old, new = stored.get(name), requested.get(name)
        if isinstance(old, dict) and isinstance(new, dict):
            yield from _differences(old, new, f"{prefix}{name}.")
        elif old != new:
            yield f"{prefix}{name} was {old!r} and is now {new!r}"


def _describe_run(recipe: Recipe, corpus: Corpus, trainer: Trainer) -> Iterator[str]:
    tests = ", ".join(f"{name} ({len(sentences.sources):,})" for name, sentences in corpus.test_sets.items())
    yield (
        f"corpus: {corpus.name} ({corpus.licence}), {len(corpus.train.sources):,} training and "
        f"{len(corpus.validation.sources):,} validation sentences; test sets: {tests}"
    )
    size = sum(parameter.numel() for parameter in trainer.model.parameters())
    tokens = trainer.translator.tokenizer.vocabulary_size
    yield f"model: {recipe.architecture}, {size:,} parameters, vocabulary of {tokens:,} tokens"
    yield f"device: {describe_device(trainer.translator)}"
    saved = list_checkpoints(trainer.checkpoints)
    start = f"resumes after {saved[-1].name}" if saved else "starts"
    yield f"run: {trainer.folder} {start}, {recipe.settings.steps:,} steps in all; log: {trainer.log.path}"


def _save_results(
    recipe: Recipe, corpus: Corpus, trainer: Trainer, *, command: str, report: Callable[[str], None]
) -> None:
    """Save the translator with a record of its training, then evaluate it on the corpus's test sets."""
    training: dict[str, Any] = {
        "command": command,
        "seed": recipe.settings.seed,
        "device": describe_device(trainer.translator),
        "seconds": round(trainer.progress.seconds, 1),
    }
    translator = trainer.folder / TRANSLATOR_FOLDER
    trainer.translator.save(translator, **describe_origin(recipe), training=training)
    report(f"translator: {translator}; translating the test sets")
    evaluation = evaluate(trainer.translator, corpus, **DECODING)
    write_results(trainer.folder / RESULT_FILE, evaluation, **training, recipe=dataclasses.asdict(recipe))
    for line in summarise(evaluation):
        report(line)
    report(f"results: {trainer.folder / RESULT_FILE}")

"""Save and load a model as two files: a description (JSON) and the weights (safetensors)."""

import dataclasses
import json
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from glassformer.files import atomic_update
from glassformer.modules.recurrent import AdditiveAttentionTranslator, FixedContextTranslator, RecurrentConfig
from glassformer.modules.transformer import Transformer, TransformerConfig

MODEL_FILE, WEIGHTS_FILE = "model.json", "model.safetensors"

AnyTranslator = Transformer | FixedContextTranslator


class Architecture(NamedTuple):
    """Model class and configuration class of an architecture."""

    model: type[Transformer] | type[FixedContextTranslator]
    config: type[TransformerConfig] | type[RecurrentConfig]


ARCHITECTURES = {
    "transformer": Architecture(Transformer, TransformerConfig),
    "fixed_context": Architecture(FixedContextTranslator, RecurrentConfig),
    "additive_attention": Architecture(AdditiveAttentionTranslator, RecurrentConfig),
}


def describe_model(model: AnyTranslator) -> dict[str, Any]:
    """Return a model's architecture and configuration, from which `build_model` makes a new model like it.

    Raises:
        ValueError: the model's class is not in `ARCHITECTURES`; subclasses are not accepted.
    """
    for name, architecture in ARCHITECTURES.items():
        if type(model) is architecture.model:
            return {"architecture": name, "config": dataclasses.asdict(model.config)}
    known = ", ".join(architecture.model.__name__ for architecture in ARCHITECTURES.values())
    raise ValueError(f"model must be one of {known}, got {type(model).__name__}")


def build_model(description: dict[str, Any]) -> AnyTranslator:
    """Build a model with newly initialised parameters from a description that `describe_model` returned.

    Raises:
        ValueError: the architecture is unknown, or a setting is missing, unknown or invalid.
    """
    name = description.get("architecture", description.get("kind"))  # older files call it "kind"
    settings = description.get("config")
    if not isinstance(settings, dict):
        raise ValueError(f"config must be an object with the model's settings, got {type(settings).__name__}")
    config: Any = make_config(name, settings)
    return ARCHITECTURES[str(name)].model(config)


def make_config(architecture: Any, settings: dict[str, Any]) -> TransformerConfig | RecurrentConfig:
    """Build a configuration from the name of the architecture and a dictionary of its settings.

    Raises:
        ValueError: the architecture is unknown, or a setting is missing, unknown or invalid.
    """
    if architecture not in tuple(ARCHITECTURES):  # a tuple: the value in a damaged file may be unhashable
        known = ", ".join(map(repr, ARCHITECTURES))
        raise ValueError(f"architecture must be one of {known}, got {architecture!r}")
    if settings.get("positions") == "linear_bias":  # its name in older files
        settings = settings | {"positions": "alibi"}
    config = ARCHITECTURES[architecture].config
    fields = dataclasses.fields(config)
    required = {field.name for field in fields if field.default is dataclasses.MISSING}
    if unknown := sorted(settings.keys() - {field.name for field in fields}):
        raise ValueError(f"config of a {architecture} has no settings {', '.join(unknown)}")
    if missing := sorted(required - settings.keys()):
        raise ValueError(f"config of a {architecture} must have the settings {', '.join(missing)}")
    try:
        return config(**settings)
    except TypeError as error:  # such as a size written as a string
        raise ValueError(f"config of a {architecture} is invalid: {error}") from error


def save_model(
    model: AnyTranslator, folder: Path | str, *, dtype: torch.dtype = torch.float32, **notes: Any
) -> None:
    """Save a model to a folder, leaving the folder's other files unchanged. Tied weights are stored once.

    Args:
        model: model to save.
        folder: folder for `MODEL_FILE` and `WEIGHTS_FILE`, created if missing.
        dtype: dtype of the stored weights; float16 halves the size of the file.
        **notes: additional entries of `MODEL_FILE`; `load_model` ignores them.

    Raises:
        ValueError: the model's class is not in `ARCHITECTURES`, or its weights are not finite in ``dtype``.
        OSError: the files cannot be written.
    """
    description = describe_model(model) | notes
    weights = {
        name: parameter.detach().to("cpu", dtype).contiguous() for name, parameter in model.named_parameters()
    }
    _require_finite(weights)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_update(folder, last=MODEL_FILE) as stage:
        try:
            save_file(weights, stage / WEIGHTS_FILE)
        except SafetensorError as error:
            raise OSError(f"{folder / WEIGHTS_FILE} could not be written: {error}") from error
        text = json.dumps(description, indent=2, ensure_ascii=False) + "\n"
        (stage / MODEL_FILE).write_text(text, encoding="utf-8")


def load_model(folder: Path | str) -> AnyTranslator:
    """Load a model saved by `save_model`, in float32, on the CPU, in evaluation mode.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a file is damaged, or the weights are not finite or do not match the description.
    """
    folder = Path(folder)
    for name in (MODEL_FILE, WEIGHTS_FILE):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{folder} contains no {name}, so it is not a model folder")
    try:
        description = json.loads((folder / MODEL_FILE).read_text(encoding="utf-8"))
        if not isinstance(description, dict):
            raise ValueError(f"expected architecture and config, got a {type(description).__name__}")
        model = build_model(description)
    except ValueError as error:
        raise ValueError(f"{folder / MODEL_FILE}: {error}") from error
    try:
        weights = load_file(folder / WEIGHTS_FILE)
        _fill(model, weights)
    except (SafetensorError, ValueError) as error:
        raise ValueError(f"{folder / WEIGHTS_FILE}: {error}") from error
    return model.eval()


@torch.no_grad()
def _fill(model: AnyTranslator, weights: dict[str, Tensor]) -> None:
    """Copy stored weights into a model; names and shapes must match exactly."""
    parameters = dict(model.named_parameters())
    if missing := sorted(parameters.keys() - weights.keys()):
        raise ValueError(f"weights are missing: {', '.join(missing[:5])}")
    if unknown := sorted(weights.keys() - parameters.keys()):
        raise ValueError(f"the model has no parameters {', '.join(unknown[:5])}")
    for name, parameter in parameters.items():
        if weights[name].shape != parameter.shape:
            wanted, got = tuple(parameter.shape), tuple(weights[name].shape)
            raise ValueError(f"{name} must have shape {wanted}, got {got}")
    _require_finite(weights)
    for name, parameter in parameters.items():
        parameter.copy_(weights[name])


def _require_finite(weights: dict[str, Tensor]) -> None:
    for name, weight in weights.items():
        if not bool(weight.isfinite().all()):
            raise ValueError(f"weights must be finite in {weight.dtype}, but {name} holds NaN or infinity")

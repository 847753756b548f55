"""Record activations, patch them from one run into another, and read predictions off the residual stream."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from glassformer.modules.transformer import Transformer


def find_sites(model: nn.Module) -> dict[str, nn.Module]:
    """Return the modules whose outputs can be recorded and patched, by name.

    Among them are "source_embedding", "encoder.layers.0" (the residual stream after that layer), "encoder"
    (the memory), "decoder.layers.0.cross_attention" (its output, before it is added) and
    "decoder.layers.0.cross_attention.heads" (the output of each head).
    """
    return {name: module for name, module in model.named_modules() if name}


@contextmanager
def record_activations(model: nn.Module, sites: Iterable[str]) -> Iterator[dict[str, Tensor]]:
    """Record the outputs of modules that run inside the block.

    >>> with record_activations(model, ["encoder"]) as activations:        # doctest: +SKIP
    ...     model(source_ids, target_ids)

    Args:
        model: model to observe.
        sites: names of modules, as in `find_sites`.

    Yields:
        A detached copy of the output of each site, by name: that of the last pass if there are several. For
        the heads of an attention layer the shape is ``batch heads query d_head``, otherwise
        ``batch time d_model``.

    Raises:
        ValueError: a site does not exist.
    """
    activations: dict[str, Tensor] = {}
    modules = {site: _find(model, site) for site in sites}
    with ExitStack() as hooks:
        for site, module in modules.items():
            hooks.enter_context(module.register_forward_hook(_keep(site, activations)))
        yield activations


@contextmanager
def patch_activations(
    model: nn.Module,
    site: str,
    activation: Float[Tensor, "..."],
    *,
    positions: Sequence[int] | None = None,
    heads: Sequence[int] | None = None,
) -> Iterator[None]:
    """Replace the output of a module by that of another run, inside the block.

    If the prediction changes, then the replaced activation caused it, with everything else held fixed (Vig et
    al., 2020; Meng et al., 2022, section 2). Patch single positions or heads to find where the cause is.

    >>> with record_activations(model, ["encoder"]) as other:              # doctest: +SKIP
    ...     model(other_source_ids, target_ids)
    >>> with patch_activations(model, "encoder", other["encoder"], positions=[8]):   # doctest: +SKIP
    ...     model(source_ids, target_ids)

    Args:
        model: model to change.
        site: name of a module, as in `find_sites`.
        activation: output of this module in another run, from `record_activations`, of the same shape.
        positions: positions to replace, in the second axis from the right; all if omitted.
        heads: heads to replace, if the site is the heads of an attention layer; all if omitted.

    Raises:
        ValueError: the site does not exist, the shapes differ, or a position or head is out of range.
    """
    module = _find(model, site)
    if heads is not None and not site.endswith("heads"):
        raise ValueError(f"site must be the heads of an attention layer if heads are given, got {site!r}")
    axes = {-2: ("positions", positions), -3: ("heads", heads)}
    chosen = torch.ones(activation.shape, dtype=torch.bool)
    for axis, (name, numbers) in axes.items():
        if numbers is None:
            continue
        size = activation.shape[axis]
        if outside := [number for number in numbers if number not in range(size)]:
            raise ValueError(f"{name} must be from 0 to {size - 1}, got {outside}")
        shape = [1] * activation.ndim
        shape[axis] = size
        chosen &= torch.tensor([number in numbers for number in range(size)]).view(shape)
    with module.register_forward_hook(_replace(activation, chosen)):
        yield


@torch.no_grad()
def logit_lens(
    model: Transformer, source_ids: Int[Tensor, "batch source"], target_ids: Int[Tensor, "batch target"]
) -> Float[Tensor, "stages batch target vocabulary"]:
    """Compute the logits that the decoder would output if it stopped early (nostalgebraist, 2020).

    The final norm and the output projection are applied to the embedded target tokens, and to the residual
    stream after each decoder layer. The last stage is the model's own output.

    Args:
        model: model in evaluation mode.
        source_ids: padded source sentences.
        target_ids: padded target sentences, with start tokens.

    Raises:
        ValueError: an argument is invalid, as in `Transformer.forward`.
    """
    layers = [f"decoder.layers.{number}" for number in range(len(model.decoder.layers))]
    sites = ["target_embedding", *layers]
    with record_activations(model, sites) as activations:
        model(source_ids, target_ids)
    stream = torch.stack([activations[site] for site in sites])
    logits: Tensor = model.output_proj(model.decoder.final_norm(stream))
    return logits


def _find(model: nn.Module, site: str) -> nn.Module:
    sites = find_sites(model)
    if site not in sites:
        near = [name for name in sites if name.split(".")[0] == site.split(".")[0]] or list(sites)
        raise ValueError(f"site must be one of {', '.join(near)}, got {site!r}")
    return sites[site]


def _keep(site: str, activations: dict[str, Tensor]) -> Callable[..., None]:
    def hook(module: nn.Module, args: Any, output: Any) -> None:
        activations[site] = _first(output).detach().clone()

    return hook


def _replace(activation: Tensor, chosen: Tensor) -> Callable[..., Any]:
    def hook(module: nn.Module, args: Any, output: Any) -> Any:
        own = _first(output)
        if own.shape != activation.shape:
            raise ValueError(
                f"activation must have the shape of the output, {tuple(own.shape)}, "
                f"got {tuple(activation.shape)}"
            )
        patched = torch.where(chosen.to(own.device), activation.to(own), own)
        return (patched, *output[1:]) if isinstance(output, tuple) else patched

    return hook


def _first(output: Any) -> Tensor:
    return output[0] if isinstance(output, tuple) else output

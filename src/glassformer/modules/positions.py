"""Positional encodings: sinusoidal, learned, rotary and ALiBi."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from glassformer.reference.positions import sinusoidal_positions
from glassformer.validation import (
    require_axes,
    require_floating,
    require_not_empty,
    require_positive,
    require_positive_int,
    require_shape,
    require_width,
)


def apply_rotary_embedding(
    x: Float[Tensor, "*batch time d_k"],
    positions: Int[Tensor, "time"] | None = None,
    base: float = 10000.0,
) -> Float[Tensor, "*batch time d_k"]:
    """Apply rotary position embedding differentiably, as in `reference.positions.apply_rotary_embedding`."""
    require_floating(x=x)
    require_axes(2, x=x)
    require_not_empty(x=x)
    require_positive(base=base)
    time, d_k = x.shape[-2:]
    if d_k % 2:
        raise ValueError(f"x must have an even width, to be rotated in pairs, got {d_k}")
    if positions is None:
        positions = torch.arange(time, device=x.device)
    require_shape((time,), positions=positions)
    # Half precision cannot represent large angles.
    precise = torch.promote_types(x.dtype, torch.float32)
    exponents = torch.arange(0, d_k, 2, device=x.device, dtype=precise) / d_k
    angles = positions[:, None] * base**-exponents
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


def alibi(
    query_length: int,
    key_length: int,
    num_heads: int,
    *,
    device: torch.device | str | None = None,
    dtype: torch.dtype | None = None,
) -> Float[Tensor, "heads query key"]:
    """Compute the ALiBi bias, as in `reference.positions.alibi`, with a choice of device and dtype."""
    require_positive_int(query_length=query_length, key_length=key_length, num_heads=num_heads)
    key_positions = torch.arange(key_length, device=device)
    query_positions = torch.arange(query_length, device=device) + key_length - query_length
    return _bias(query_positions, key_positions, num_heads, dtype or torch.get_default_dtype())


class SinusoidalPositions(nn.Module):
    """Add sinusoidal positional encodings to the vectors (Vaswani et al., 2017, section 3.5).

    The table, from `reference.positions.sinusoidal_positions`, is not part of the state dict.

    Args:
        d_model: width of the vectors.
        max_length: number of positions in the table; a call with a longer sequence computes a larger one.

    Raises:
        ValueError: a size is not a positive integer.
    """

    table: Tensor

    def __init__(self, d_model: int, max_length: int = 5000) -> None:
        super().__init__()
        self.register_buffer("table", _sinusoid_table(max_length, d_model), persistent=False)

    def forward(
        self, x: Float[Tensor, "*batch time d_model"], start: int = 0
    ) -> Float[Tensor, "*batch time d_model"]:
        """Add to each vector the encoding of its position.

        Args:
            x: one vector per position.
            start: position of the first vector.

        Raises:
            ValueError: the shape of ``x`` is invalid, or ``start`` is negative.
        """
        d_model = self.table.shape[-1]
        _require_vectors(x, d_model, start)
        stop = start + x.shape[-2]
        table = self.table if stop <= len(self.table) else _sinusoid_table(stop, d_model)
        return x + table[start:stop].to(x)


class LearnedPositions(nn.Module):
    """Add a learned positional embedding to each vector (Gehring et al., 2017, section 3.1).

    Args:
        d_model: width of the vectors.
        max_length: number of positions; a longer sequence raises an error.

    Raises:
        ValueError: a size is not a positive integer.
    """

    def __init__(self, d_model: int, max_length: int) -> None:
        super().__init__()
        require_positive_int(d_model=d_model, max_length=max_length)
        self.table = nn.Embedding(max_length, d_model)
        nn.init.normal_(self.table.weight, std=d_model**-0.5)

    def forward(
        self, x: Float[Tensor, "*batch time d_model"], start: int = 0
    ) -> Float[Tensor, "*batch time d_model"]:
        """Add to each vector the embedding of its position.

        Args:
            x: one vector per position.
            start: position of the first vector.

        Raises:
            ValueError: the shape of ``x`` is invalid, ``start`` is negative, or the sequence extends beyond
                the last position.
        """
        max_length, d_model = self.table.weight.shape
        _require_vectors(x, d_model, start)
        stop = start + x.shape[-2]
        if stop > max_length:
            raise ValueError(f"x reaches position {stop - 1}, but max_length is {max_length}")
        return x + self.table.weight[start:stop]


class RotaryPositions(nn.Module):
    """Rotary position embedding (RoPE): rotate queries and keys by their positions (Su et al., 2021).

    Args:
        base: base of the frequencies, as in `apply_rotary_embedding`.

    Raises:
        ValueError: ``base`` is not positive.
    """

    def __init__(self, base: float = 10000.0) -> None:
        super().__init__()
        require_positive(base=base)
        self.base = base

    def forward(
        self,
        query: Float[Tensor, "*batch heads query d_head"],
        key: Float[Tensor, "*batch heads key d_head"],
        positions: Int[Tensor, " all_keys"] | None = None,
    ) -> tuple[Float[Tensor, "*batch heads query d_head"], Float[Tensor, "*batch heads key d_head"], None]:
        """Rotate queries and keys by their positions; return them, and None in place of a score bias.

        Args:
            query: query vectors; the last query has the same position as the last key.
            key: key vectors of this call, without cached ones.
            positions: positions of all keys, with cached keys first; 0, 1, 2, … if omitted.

        Raises:
            ValueError: the head width is odd, or the shape or dtype of an argument is invalid.
        """
        query_positions, positions = _positions(query, key, positions)
        key_positions = positions[-key.shape[-2] :]
        query = apply_rotary_embedding(query, query_positions, self.base)
        return query, apply_rotary_embedding(key, key_positions, self.base), None


class AlibiPositions(nn.Module):
    """ALiBi: lower each score in proportion to the distance between query and key (Press et al., 2022)."""

    def forward(
        self,
        query: Float[Tensor, "*batch heads query d_head"],
        key: Float[Tensor, "*batch heads key d_head"],
        positions: Int[Tensor, " all_keys"] | None = None,
    ) -> tuple[
        Float[Tensor, "*batch heads query d_head"],
        Float[Tensor, "*batch heads key d_head"],
        Float[Tensor, "heads query all_keys"],
    ]:
        """Return the queries and keys unchanged, and the bias to add to the scaled scores.

        Arguments are as in `RotaryPositions.forward`.
        """
        return query, key, _bias(*_positions(query, key, positions), query.shape[-3], query.dtype)


AbsolutePositions = SinusoidalPositions | LearnedPositions
RelativePositions = RotaryPositions | AlibiPositions


def make_absolute_positional_encoding(name: str, d_model: int, max_length: int) -> AbsolutePositions | None:
    """Make the module that adds "sinusoidal" or "learned" encodings, or return None for other names."""
    added = {"sinusoidal": SinusoidalPositions, "learned": LearnedPositions}
    return added[name](d_model, max_length) if name in added else None


def make_relative_positional_encoding(name: str) -> RelativePositions | None:
    """Make the "rotary" or "alibi" module for attention layers, or return None for other names."""
    inside = {"rotary": RotaryPositions, "alibi": AlibiPositions}
    return inside[name]() if name in inside else None


def _positions(query: Tensor, key: Tensor, positions: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return the positions of the queries and of all keys; the last query is at the last key's position."""
    num_queries, num_keys = query.shape[-2], key.shape[-2]
    if positions is not None:
        return positions[-num_queries:], positions
    positions = torch.arange(num_keys, device=key.device)
    return torch.arange(num_queries, device=key.device) + num_keys - num_queries, positions


def _bias(query_positions: Tensor, key_positions: Tensor, num_heads: int, dtype: torch.dtype) -> Tensor:
    slopes = 2.0 ** (-8 * torch.arange(1, num_heads + 1, device=query_positions.device) / num_heads)
    distance = (query_positions[:, None] - key_positions).abs()
    return (-slopes[:, None, None] * distance).to(dtype)


def _sinusoid_table(length: int, d_model: int) -> Tensor:
    return torch.as_tensor(sinusoidal_positions(length, d_model), dtype=torch.get_default_dtype())


def _require_vectors(x: Tensor, d_model: int, start: int) -> None:
    require_axes(2, x=x)
    require_width(d_model, x=x)
    if start < 0:
        raise ValueError(f"start must be at least 0, got {start}")

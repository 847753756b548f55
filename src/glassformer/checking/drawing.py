"""Draw inputs and answers as text: aligned grids side by side, with differing entries in brackets."""

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy import ndarray as Array

from glassformer.checking.tolerance import Part, mismatches, parts_of

_INDENT = "  "
_GAP = "      "
_LIMIT = 12  # of a drawn axis; larger answers are shown as a list of differing entries
_DECIMALS = (2, 3, 4, 6, 8)


def draw_input(arguments: Mapping[str, Any]) -> str:
    """Draw the arguments of a call: numbers and vectors on one line, matrices as grids."""
    blocks = [_draw_argument(name, value) for name, value in arguments.items()]
    return "\n".join(itertools.chain.from_iterable(blocks))


def draw_answers(expected: Any, answer: Any) -> str:
    """Draw the expected and the learner's answer, of the same form, side by side."""
    pairs = zip(parts_of(expected, expected), parts_of(answer, expected), strict=True)
    drawings = [_draw_part(expected_part.array, part) for expected_part, part in pairs]
    if len(drawings) > 1:
        drawings = [f"{_INDENT}result {number}\n{text}" for number, text in enumerate(drawings, start=1)]
    return "\n\n".join(drawings)


def draw_shapes(expected: Any, answer: Any) -> str:
    """Draw two answers of different shapes side by side if both are small vectors or matrices."""
    arrays = [part.array for part in parts_of(expected, expected) + parts_of(answer, expected)]
    if len(arrays) != 2 or not all(map(_is_small, arrays)) or arrays[0].shape == arrays[1].shape:
        return ""
    decimals = max(map(_decimals_for, arrays))
    return _side_by_side(*(_grid(_format(array, decimals)) for array in arrays))


def _is_small(array: Array) -> bool:
    return (
        array.dtype.kind in "biuf" and array.ndim < 3 and array.size > 0 and max((1, *array.shape)) <= _LIMIT
    )


def _draw_argument(name: str, value: Any) -> list[str]:
    array = np.asarray(value) if isinstance(value, np.ndarray | list | tuple) else None
    if array is None or array.dtype.kind not in "biuf":
        return [f"{_INDENT}{name} = {_describe(value)}"]
    if array.ndim == 0 or max(array.shape, default=0) > _LIMIT:
        return [f"{_INDENT}{name}: {array.dtype} of shape {array.shape}"]
    if array.ndim == 1:
        return [f"{_INDENT}{name} = {' '.join(_format(array, _decimals_for(array)).ravel()) or 'empty'}"]
    return [
        f"{_INDENT}{name}",
        *(2 * _INDENT + row for row in _grid(_format(array, _decimals_for(array)))),
    ]


def _draw_part(expected: Array, part: Part) -> str:
    wrong = mismatches(part, expected)
    decimals = _decimals_for(expected, part.array, wrong)
    if max(expected.shape, default=0) > _LIMIT:
        return _list_mismatches(expected, part.array, wrong, decimals)
    return _side_by_side(_grid(_format(expected, decimals)), _grid(_format(part.array, decimals), wrong))


def _side_by_side(expected: list[str], answer: list[str]) -> str:
    width = max(map(len, ["expected", *expected])) + len(_GAP)
    rows = itertools.zip_longest(["expected", *expected], ["yours", *answer], fillvalue="")
    return "\n".join(f"{_INDENT}{left:<{width}}{right}".rstrip() for left, right in rows)


def _list_mismatches(expected: Array, answer: Array, wrong: Array, decimals: int) -> str:
    right, yours = _format(expected, decimals), _format(answer, decimals)
    indices = [tuple(map(int, index)) for index in np.argwhere(wrong)]
    lines = [f"{_INDENT}at {list(at)}: expected {right[at]}, yours {yours[at]}" for at in indices[:3]]
    more = [f"{_INDENT}and {len(indices) - 3} more"] if len(indices) > 3 else []
    return "\n".join(lines + more)


def _grid(texts: Array, marked: Array | None = None) -> list[str]:
    """Align texts in columns; print the index of each matrix of a stack above it."""
    if texts.ndim > 2:
        blocks = []
        for index in np.ndindex(texts.shape[:-2]):
            rows = _grid(texts[index], None if marked is None else marked[index])
            blocks.append([f"[{', '.join(map(str, index))}]", *rows])
        return list(itertools.chain.from_iterable(blocks))
    marks = np.zeros(texts.shape, dtype=bool) if marked is None else marked
    width = max(map(len, texts.flat), default=0)
    return [
        " ".join(
            f"{'[' if mark else ' '}{text:>{width}}{']' if mark else ' '}"
            for text, mark in zip(row, row_marks, strict=True)
        ).rstrip()
        for row, row_marks in zip(np.atleast_2d(texts), np.atleast_2d(marks), strict=True)
    ]


def _format(array: Array, decimals: int) -> Array:
    """Format each number with the same number of decimals."""
    texts = np.empty(array.shape, dtype=object)
    for index, number in np.ndenumerate(array):
        texts[index] = _format_number(number, decimals)
    return texts


def _format_number(number: Any, decimals: int) -> str:
    if isinstance(number, bool | np.bool_):
        return "✓" if number else "·"
    if np.isnan(number):
        return "NaN"
    if np.isinf(number):
        return "∞" if number > 0 else "−∞"
    if abs(number) >= 1e6:
        return f"{number:.3g}".replace("-", "−")
    if float(number).is_integer() and decimals == 0:
        return f"{number:.0f}".replace("-", "−")
    return f"{number + 0.0:.{decimals}f}".replace("-", "−")


def _decimals_for(array: Array, other: Array | None = None, wrong: Array | None = None) -> int:
    """Return the smallest number of decimals at which mismatched entries look different."""
    finite: Iterable[Any] = (n for a in (array, other) if a is not None for n in a[np.isfinite(a)].flat)
    if all(float(number).is_integer() for number in finite):
        return 0
    if other is None or wrong is None:
        return 2 if np.allclose(array, np.round(array, 2), equal_nan=True) else 4
    for decimals in _DECIMALS:
        pairs = zip(_format(array, decimals)[wrong].flat, _format(other, decimals)[wrong].flat, strict=True)
        if all(one != other for one, other in pairs):
            return decimals
    return _DECIMALS[-1]


def _describe(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}".replace("inf", "∞").replace("-", "−")
    return getattr(value, "__name__", None) or repr(value)

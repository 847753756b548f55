"""Inputs and answers as text: small aligned grids, side by side, with the places that differ in brackets."""

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy import ndarray as Array

from glassformer.exercises.agreement import Numbers, differences, parts_of

_INDENT = "  "
_GAP = "      "
_MOST = 12  # rows or columns that are drawn; beyond, only the first places that differ are listed
_DECIMALS = (2, 3, 4, 6, 8)


def draw_input(arguments: Mapping[str, Any]) -> str:
    """Draw what a function was called with: numbers on a line of their own, arrays as grids."""
    blocks = [_draw_argument(name, value) for name, value in arguments.items()]
    return "\n".join(itertools.chain.from_iterable(blocks))


def draw_answers(wanted: Any, got: Any) -> str:
    """Draw the wanted answer beside the one that came; both have the same form."""
    wanted_parts = parts_of(wanted, wanted)
    drawings = [
        _draw_part(wanted_part.array, part)
        for wanted_part, part in zip(wanted_parts, parts_of(got, wanted), strict=True)
    ]
    if len(drawings) > 1:
        drawings = [f"{_INDENT}result {number}\n{text}" for number, text in enumerate(drawings, start=1)]
    return "\n\n".join(drawings)


def draw_shapes(wanted: Any, got: Any) -> str:
    """Draw two answers of different shapes side by side, if both are rows or tables that are small enough."""
    pairs = parts_of(wanted, wanted), parts_of(got, wanted)
    arrays = [part.array for parts in pairs for part in parts]
    if len(arrays) != 2 or not all(map(_is_small, arrays)) or arrays[0].shape == arrays[1].shape:
        return ""
    decimals = max(map(_enough, arrays))
    return _side_by_side(*(_grid(_write(array, decimals)) for array in arrays))


def _is_small(array: Array) -> bool:
    return (
        array.dtype.kind in "biuf" and array.ndim < 3 and array.size > 0 and max((1, *array.shape)) <= _MOST
    )


def _draw_argument(name: str, value: Any) -> list[str]:
    array = np.asarray(value) if isinstance(value, np.ndarray | list | tuple) else None
    if array is None or array.dtype.kind not in "biuf":
        return [f"{_INDENT}{name} = {_tell(value)}"]
    if array.ndim == 0 or max(array.shape, default=0) > _MOST:
        return [f"{_INDENT}{name}: {array.dtype} of shape {array.shape}"]
    if array.ndim == 1:
        return [f"{_INDENT}{name} = {' '.join(_write(array, _enough(array)).ravel()) or 'nothing'}"]
    return [f"{_INDENT}{name}", *(2 * _INDENT + row for row in _grid(_write(array, _enough(array))))]


def _draw_part(wanted: Array, part: Numbers) -> str:
    wrong = differences(part, wanted)
    decimals = _enough(wanted, part.array, wrong)
    if max(wanted.shape, default=0) > _MOST:
        return _list_places(wanted, part.array, wrong, decimals)
    return _side_by_side(_grid(_write(wanted, decimals)), _grid(_write(part.array, decimals), wrong))


def _side_by_side(wanted: list[str], got: list[str]) -> str:
    width = max(map(len, ["wanted", *wanted])) + len(_GAP)
    rows = itertools.zip_longest(["wanted", *wanted], ["got", *got], fillvalue="")
    return "\n".join(f"{_INDENT}{left:<{width}}{right}".rstrip() for left, right in rows)


def _list_places(wanted: Array, got: Array, wrong: Array, decimals: int) -> str:
    texts = _write(wanted, decimals), _write(got, decimals)
    places = [tuple(map(int, place)) for place in np.argwhere(wrong)]
    lines = [
        f"{_INDENT}at {list(place)}: wanted {texts[0][place]}, got {texts[1][place]}" for place in places[:3]
    ]
    more = [f"{_INDENT}and at {len(places) - 3} more places"] if len(places) > 3 else []
    return "\n".join(lines + more)


def _grid(texts: Array, marked: Array | None = None) -> list[str]:
    """Align texts in columns; each matrix of a stack of matrices has its index above it."""
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


def _write(array: Array, decimals: int) -> Array:
    """Write each number so that a column of them is easy to compare."""
    texts = np.empty(array.shape, dtype=object)
    for place, number in np.ndenumerate(array):
        texts[place] = _write_number(number, decimals)
    return texts


def _write_number(number: Any, decimals: int) -> str:
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


def _enough(array: Array, other: Array | None = None, wrong: Array | None = None) -> int:
    """Find how few decimals show the numbers, and that those which differ do."""
    finite: Iterable[Any] = (n for a in (array, other) if a is not None for n in a[np.isfinite(a)].flat)
    if all(float(number).is_integer() for number in finite):
        return 0
    if other is None or wrong is None:
        return 2 if np.allclose(array, np.round(array, 2), equal_nan=True) else 4
    for decimals in _DECIMALS:
        pairs = zip(_write(array, decimals)[wrong].flat, _write(other, decimals)[wrong].flat, strict=True)
        if all(wanted != got for wanted, got in pairs):
            return decimals
    return _DECIMALS[-1]


def _tell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}".replace("inf", "∞").replace("-", "−")
    return getattr(value, "__name__", None) or repr(value)

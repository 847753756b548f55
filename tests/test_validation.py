import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from glassformer import validation as v

ROWS, COLUMNS, WIDTH = 2, 3, 5
libraries = pytest.mark.parametrize("library", [np, torch], ids=["numpy", "torch"])


@libraries
def test_valid_arguments_pass(library):
    x = library.ones((ROWS, COLUMNS, WIDTH))
    v.require_floating(x=x)
    v.require_axes(3, x=x)
    v.require_not_empty(x=x)
    v.require_width(WIDTH, x=x)
    v.require_shape((ROWS, COLUMNS, WIDTH), x=x)
    v.require_same_batch(x=x, y=x[:, 0])
    v.require_same_dtype(x=x, y=x[:, 0])
    v.require_mask(x[0] > 0, (ROWS, COLUMNS, WIDTH))
    v.require_mask(x[:, :1, :1] > 0, (ROWS, COLUMNS, WIDTH))
    v.require_attention_inputs(x, x[:, :2], x[:, :2, :1], x[:, :1, :2] > 0)
    v.require_ids("ids", library.arange(WIDTH), vocabulary_size=WIDTH)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_every_floating_point_dtype_passes(dtype):
    v.require_floating(x=torch.ones(3, dtype=dtype))


@libraries
@pytest.mark.parametrize(
    ("check", "message"),
    [
        (
            lambda lib: v.require_floating(x=lib.arange(3)),
            r"x must hold floating-point numbers, got \S*int64",
        ),
        (lambda lib: v.require_floating(x=[1.0]), r"x must be an array of floats, got list"),
        (lambda lib: v.require_floating(x=lib.ones(3), y=lib.ones(3) > 0), r"y must hold .*, got \S*bool"),
        (
            lambda lib: v.require_axes(3, x=lib.ones((2, 5))),
            r"x must have at least 3 axes, got shape \(2, 5\)",
        ),
        (lambda lib: v.require_not_empty(x=lib.ones((2, 0))), r"x must not be empty, got shape \(2, 0\)"),
        (lambda lib: v.require_width(7, x=lib.ones((2, 5))), r"x must have size 7 .*, got shape \(2, 5\)"),
        (lambda lib: v.require_width(7, x=lib.ones(())), r"x must have at least 1 axes, got shape \(\)"),
        (
            lambda lib: v.require_shape((5, 2), x=lib.ones((2, 5))),
            r"x must have shape \(5, 2\), got \(2, 5\)",
        ),
        (
            lambda lib: v.require_same_batch(x=lib.ones((2, 5)), y=lib.ones((3, 5))),
            r"x \(2\) and y \(3\) must have the same number of sentences",
        ),
        (
            lambda lib: v.require_same_dtype(x=lib.ones(3), y=lib.ones(3) > 0),
            r"x \(\S*float\d\d\) and y \(\S*bool\) must have the same dtype",
        ),
        (lambda lib: v.require_ids("ids", lib.ones(3)), r"ids must hold whole numbers, got \S*float"),
        (lambda lib: v.require_ids("ids", [1, 2]), r"ids must hold whole numbers, got list"),
        (lambda lib: v.require_ids("ids", lib.arange(0)), r"ids must not be empty, got shape \(0,\)"),
        (
            lambda lib: v.require_ids("ids", lib.arange(3) - 1),
            r"ids must be at least 0, got ids from -1 to 1",
        ),
        (
            lambda lib: v.require_ids("ids", lib.arange(3), vocabulary_size=2),
            r"ids must be at least 0 and below the vocabulary size \(2\), got ids from 0 to 2",
        ),
    ],
)
def test_an_invalid_array_raises_an_error_with_the_expected_and_actual_value(library, check, message):
    with pytest.raises(ValueError, match=message):
        check(library)


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (
            lambda: v.require_no_nan(x=np.array([1.0, np.nan, 2.0])),
            r"x must not hold NaN, got 1 among 3 numbers",
        ),
        (lambda: v.require_positive(epsilon=0.0), r"epsilon must be positive, got 0\.0"),
        (lambda: v.require_positive(epsilon=float("nan")), r"epsilon must be positive, got nan"),
        (lambda: v.require_multiple(7, 3), r"d_model \(7\) must be a multiple of num_heads \(3\)"),
        (lambda: v.require_multiple(7, 0), r"num_heads must be a positive integer, got 0"),
        (lambda: v.require_probability(dropout=1.0), r"dropout must be at least 0 and below 1, got 1\.0"),
        (lambda: v.require_probability(dropout=-0.1), r"dropout must be at least 0 and below 1, got -0\.1"),
        (lambda: v.require_probability(dropout=float("nan")), r"dropout must be .*, got nan"),
        (
            lambda: v.require_choice(("pre", "post"), norm="mid"),
            r"norm must be one of 'pre', 'post', got 'mid'",
        ),
    ],
)
def test_an_invalid_number_or_name_raises_an_error_that_shows_it(check, message):
    with pytest.raises(ValueError, match=message):
        check()


@pytest.mark.parametrize("number", [0, -3, True])
def test_a_size_is_a_whole_number_of_at_least_one(number):
    with pytest.raises(ValueError, match=rf"length must be a positive integer, got {number}"):
        v.require_positive_int(length=number)


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize("number", [2.0, "2", None])
def test_a_size_is_neither_a_float_nor_a_string(number):
    with pytest.raises(ValueError, match=rf"length must be a positive integer, got {number!r}"):
        v.require_positive_int(length=number)


def test_numbers_at_the_limits_pass():
    v.require_positive_int(length=1)
    v.require_probability(dropout=0.0)
    v.require_probability(dropout=0.999)
    v.require_positive(epsilon=5e-324)
    v.require_multiple(WIDTH, WIDTH)
    v.require_no_nan(x=np.array([np.inf]))


@libraries
@pytest.mark.parametrize("shape", [(), (1,), (WIDTH,), (COLUMNS, 1), (ROWS, 1, WIDTH), (1, COLUMNS, WIDTH)])
def test_a_mask_may_broadcast_to_the_scores(library, shape):
    v.require_mask(library.ones(shape) > 0, (ROWS, COLUMNS, WIDTH))


@libraries
@pytest.mark.parametrize("shape", [(2,), (WIDTH, COLUMNS), (7, ROWS, COLUMNS, WIDTH), (ROWS, 1)])
def test_a_mask_may_not_enlarge_the_scores(library, shape):
    with pytest.raises(ValueError, match=r"attn_mask must broadcast against \(2, 3, 5\), got shape"):
        v.require_mask(library.ones(shape) > 0, (ROWS, COLUMNS, WIDTH))


@given(st.lists(st.integers(1, 3), max_size=3), st.lists(st.integers(1, 3), max_size=3))
def test_a_mask_passes_exactly_when_numpy_can_broadcast_it_to_the_scores(mask_shape, shape):
    mask = np.ones(mask_shape, dtype=bool)
    try:
        np.broadcast_to(mask, shape)
    except ValueError:
        with pytest.raises(ValueError, match="where must broadcast"):
            v.require_mask(mask, tuple(shape), name="where")
    else:
        v.require_mask(mask, tuple(shape), name="where")


@pytest.mark.parametrize(
    ("mask", "given_type"),
    [
        (np.ones(3), "float64"),
        (torch.ones(3, dtype=torch.uint8), "torch.uint8"),
        ([True], "list"),
        (True, "bool"),
    ],
)
def test_a_mask_must_be_an_array_of_booleans(mask, given_type):
    with pytest.raises(ValueError, match=rf"where must be .*boolean.*, got {given_type}"):
        v.require_mask(mask, (3,), name="where")


@libraries
@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((2, 3, 5), (2, 7, 11), (2, 7, 13)), r"query \(5\) and key \(11\) must have the same width"),
        (((2, 3, 5), (2, 7, 5), (2, 11, 13)), r"key \(7\) and value \(11\) must have the same length"),
        (
            ((2, 3, 5), (1, 7, 5), (2, 7, 13)),
            r"query and key must .*, got \(2,\) and \(1,\)",
        ),
        (
            ((2, 3, 5), (2, 7, 5), (7, 13)),
            r"query and value must .*, got \(2,\) and \(\)",
        ),
        (((5,), (7, 5), (7, 13)), r"query must have at least 2 axes, got shape \(5,\)"),
        (((2, 0, 5), (2, 7, 5), (2, 7, 13)), r"query must not be empty, got shape \(2, 0, 5\)"),
        (((2, 3, 5), (2, 0, 5), (2, 0, 13)), r"key must not be empty, got shape \(2, 0, 5\)"),
    ],
)
def test_attention_inputs_that_disagree_are_named_with_both_sizes(library, shapes, message):
    with pytest.raises(ValueError, match=message):
        v.require_attention_inputs(*map(library.ones, shapes))


@libraries
def test_the_attention_mask_must_broadcast_to_query_by_key(library):
    query, key = library.ones((2, 3, 5)), library.ones((2, 7, 5))
    v.require_attention_inputs(query, key, attn_mask=library.ones((3, 7)) > 0)
    with pytest.raises(ValueError, match=r"attn_mask must broadcast against \(2, 3, 7\), got shape \(7, 3\)"):
        v.require_attention_inputs(query, key, attn_mask=library.ones((7, 3)) > 0)

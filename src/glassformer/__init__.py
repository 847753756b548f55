"""A Transformer you can see through.

The floors of the house, from the ground up; each imports only from those below it:

0. ``runtime`` (seeds, devices), ``claims`` (measured sentences), ``validation`` (clear errors),
   ``files`` (atomic writes)
1. ``reference`` (NumPy: the definitions), ``plotting`` (arrays in, Axes out)
2. ``modules`` (PyTorch: the same names, trainable), ``data`` (corpora, strings to batches)
3. ``interop`` (to and from torch.nn), ``inspection`` (look inside a model from outside),
   ``decoding`` (from logits to sentences), ``metrics`` (scores of translations),
   ``tasks`` (synthetic tasks with known answers, and small models for them)
4. ``translator`` (a model with its tokenizer: sentences in, sentences out; one is in ``pretrained``)
5. ``training`` (losses, schedules, checkpoints, the trainer)
6. ``checking`` (machinery of the exercise checks)
7. ``exercises`` (checks that name the slip), ``quizzes`` (questions whose wrong answers are explained)
8. ``cli`` (the program ``glassformer``)

Each package re-exports its public names, and everything is imported on first use:

>>> import glassformer as gf
>>> gf.reference.softmax([0.0, 0.0])
array([0.5, 0.5])
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glassformer.claims import claim as claim
    from glassformer.claims import folklore as folklore
    from glassformer.runtime import pick_device as pick_device
    from glassformer.runtime import seed_everything as seed_everything
    from glassformer.translator import Translator as Translator

__version__ = "0.1.0"

_HOME = {
    "Translator": "translator",
    "claim": "claims",
    "folklore": "claims",
    "pick_device": "runtime",
    "seed_everything": "runtime",
}


def __getattr__(name: str) -> Any:
    """Import a subpackage, or one of the names that chapters use most, when it is first needed."""
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    if name in __dir__():
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the subpackages and the shortcuts."""
    return sorted({*globals(), *_HOME, *(module.name for module in iter_modules(__path__))})

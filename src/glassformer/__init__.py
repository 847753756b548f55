"""A Transformer you can see through.

The floors of the house, from the ground up; each imports only from those below it:

0. ``runtime`` (seeds, devices), ``claims`` (measured sentences), ``validation`` (clear errors)
1. ``reference`` (NumPy: the definitions), ``plotting`` (arrays in, Axes out)
2. ``modules`` (PyTorch: the same names, trainable), ``data`` (corpora, strings to batches)
3. ``interop`` (to and from torch.nn), ``inspection`` (look inside a model from outside),
   ``decoding`` (from logits to sentences), ``metrics`` (how good these are)
4. ``translator`` (a model with its tokenizer: sentences in, sentences out; one is in ``shipped``)
5. ``training`` (what a model is asked, how it is corrected, and what it came to)
6. ``exercises`` (checks that name the slip), ``quizzes`` (questions whose wrong answers are explained)
7. ``cli`` (the program ``glassformer``)
"""

__version__ = "0.1.0"

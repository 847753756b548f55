"""Right and wrong answers to the exercises, one module per chapter.

For each exercise, ``RIGHT`` lists answers that must pass, and ``WRONG`` maps a part of a message to an answer
that must get it.
"""

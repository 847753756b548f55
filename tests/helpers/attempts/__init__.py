"""Right and wrong answers to the exercises, one module a chapter.

``RIGHT`` holds, by the name of an exercise, answers that must pass. ``WRONG`` holds, by the name of an
exercise, answers that must not, each by a part of the message that must meet it.
"""

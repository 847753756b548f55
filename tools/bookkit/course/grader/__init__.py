"""Grade submissions of the course, each in isolation: `python -m grader` in the folder of the course."""

READY = "ready"  # the referee's first line

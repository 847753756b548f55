"""Grade submissions of the course, each in isolation: `python -m grader` in the course's folder."""

READY = "ready"  # the referee's first line

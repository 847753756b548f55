"""Outcomes of a check other than success: a slip, a function that stopped, an attempt not started."""


class Slip(AssertionError):  # noqa: N818 (the learner's mistake, not an error of the program)
    """A wrong attempt, with a message that names the mistake.

    Attributes:
        message: description of the mistake, in the learner's terms.
        see: section of the chapter to read again.
        drawing: input on which the attempt is wrong, with the expected and the actual answer.
        exercise: name of the exercise, once it is known.
    """

    def __init__(self, message: str, *, see: str = "", drawing: str = "") -> None:
        super().__init__(message)
        self.message, self.see, self.drawing, self.exercise = message, see, drawing, ""

    def __str__(self) -> str:
        section = f' (see "{self.see}")' if self.see else ""
        return self.message + section + (f"\n\n{self.drawing}" if self.drawing else "")

    def _render_traceback_(self) -> list[str]:
        """Show the message alone in a notebook, without the traceback through the check."""
        return [f"✘ {self.exercise}: {self}" if self.exercise else f"✘ {self}"]


class Stopped(Slip):
    """The learner's function raised an error."""


class NotStartedError(Exception):
    """The attempt is still the empty template of the exercise."""

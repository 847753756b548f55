"""What there is to say to an attempt that is wrong, and to one that is not begun."""


class Slip(AssertionError):  # noqa: N818 (a slip is no error of the program)
    """An attempt is wrong, and the message says how.

    Attributes:
        message: what is wrong, in the learner's terms.
        see: the section of the chapter where to look again.
        drawing: the input on which it is wrong, and what came of it.
        exercise: the name of the exercise, once it is known.
    """

    def __init__(self, message: str, *, see: str = "", drawing: str = "") -> None:
        super().__init__(message)
        self.message, self.see, self.drawing, self.exercise = message, see, drawing, ""

    def __str__(self) -> str:
        where = f' (see "{self.see}")' if self.see else ""
        return self.message + where + (f"\n\n{self.drawing}" if self.drawing else "")

    def _render_traceback_(self) -> list[str]:
        """Show a learner the message alone, not the inside of the check."""
        return [f"✘ {self.exercise}: {self}" if self.exercise else f"✘ {self}"]


class Stopped(Slip):
    """The learner's function raised an error."""


class NotBegunError(Exception):
    """An attempt still holds the dots it was handed out with."""

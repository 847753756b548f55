"""Attacks of a learner's code on the grader and its host."""

import os
import pickle
import pwd
import signal
import stat
import time

import numpy as np
import pytest
import torch

from bookkit.course.grader.attempts import Notebook
from bookkit.course.grader.isolation import (
    SCRATCH,
    Limits,
    StoppedError,
    clean_scratch,
    run_in_child,
    runs_as_nobody,
)
from bookkit.course.grader.referee import Exercise, judge

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
LIMITS = Limits(seconds=30, memory=256, answer=1)  # enough for an answer on a busy machine
SHORT = Limits(seconds=1, memory=256, answer=1)  # for code that never answers


def ask(code, *args, name="answer", limits=LIMITS):
    answer = Notebook([code], limits, 60).answer(name)
    return answer(*args) if callable(answer) else answer


@pytest.mark.parametrize(
    "value",
    [
        3,
        0.5,
        True,
        "words",
        None,
        1 + 2j,
        (1, [2, {"three": {4}}]),
        frozenset({5}),
        np.float32(0.5),
        range(7),
    ],
)
def test_a_plain_answer_comes_back_unchanged(value):
    assert ask(f"import numpy as np\nanswer = {value!r}") == value


def test_arrays_and_tensors_come_back_with_their_type():
    query = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    doubled = ask("def answer(query):\n    return 2 * query.T", query)
    np.testing.assert_array_equal(doubled, 2 * query.T, strict=True)
    tensor = ask("def answer(query):\n    return 2 * query", torch.tensor([1.5], dtype=torch.bfloat16))
    torch.testing.assert_close(tensor, torch.tensor([3.0], dtype=torch.bfloat16))


def test_a_change_to_an_argument_reaches_the_judge():
    array, words = np.zeros(3), ["a"]
    tensor, module = torch.zeros(2), torch.nn.Dropout()
    changes = "array[1] = 5; words.append('b'); tensor[0] = 7; module.eval()"
    ask(
        f"def answer(array, words, tensor, module):\n    {changes}\n    return 0",
        array,
        words,
        tensor,
        module,
    )
    assert array.tolist() == [0, 5, 0]
    assert words == ["a", "b"]
    assert tensor.tolist() == [7, 0]
    assert not module.training


def test_an_error_names_the_learners_line():
    with pytest.raises(Exception, match=r"division by zero, in the line `return 1 / x`") as caught:
        ask("def answer(x):\n    return 1 / x", 0)
    assert type(caught.value).__name__ == "ZeroDivisionError"
    assert caught.value.__traceback__ is None


@pytest.mark.parametrize(
    "body",
    ["...", "pass", "raise NotImplementedError", "return ..."],
    ids=["dots", "pass", "raise", "return dots"],
)
def test_an_unwritten_function_is_recognised(body):
    try:
        assert ask(f"def answer(x): {body}", 3) is ...
    except NotImplementedError:
        assert "raise" in body


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("while True: pass", "no answer within 1 seconds"),
        ("import signal, time\nfor n in (1, 2, 15): signal.signal(n, 1)\ntime.sleep(100)", "no answer"),
        ("while True:\n    try:\n        while True: pass\n    except BaseException: pass", "no answer"),
        ("import time\ntime.sleep(100)", "no answer within"),
        ("while True: print('x' * 1000)", "no answer within"),
        ("hoard = bytearray(10**9)", "MemoryError: the limit is 256 MiB"),
        ("import numpy as np\nnp.ones(10**9)", "MemoryError|Memory"),
        ("answer = bytes(2 * 2**20)", "the answer is larger than 1 MiB"),
        ("import os\nos._exit(0)", "the cells ended Python before"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "Python was killed"),
        ("import sys\nsys.exit('bye')", "SystemExit: bye"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("import os\nos.closerange(0, 100)\nanswer = 1", "the cells ended Python before"),
        ("import tempfile\ntempfile.TemporaryFile().write(bytes(3 * 2**20))", "OSError: .*File too large"),
        ("def f(): return f()\nf()", "RecursionError"),
        ("answer = lambda: 3\nanswer = [answer]", "made of numbers|PicklingError|AttributeError"),
        ("answer = iter([])", "made of numbers"),
        ("del answer", "NameError"),
        ("other = 3", "answer is not defined: was the cell deleted"),
        ("get_ipython().system('true')\n%rm\n", "answer is not defined"),
    ],
)  # fmt: skip
def test_code_without_an_answer_is_stopped_with_a_reason(code, reason):
    began = time.monotonic()
    with pytest.raises(StoppedError, match=reason):
        ask(code, limits=SHORT if "no answer" in reason else LIMITS)
    assert time.monotonic() - began < 60


def test_after_a_stop_no_question_is_asked():
    notebook = Notebook(["def answer():\n    while True: pass"], SHORT, 60)
    answer = notebook.answer("answer")
    with pytest.raises(StoppedError):
        answer()
    began = time.monotonic()
    with pytest.raises(StoppedError):
        answer()
    assert time.monotonic() - began < SHORT.seconds
    assert notebook.stopped == "stopped: no answer within 1 seconds"


def test_an_exercise_has_a_time_limit_for_all_calls():
    notebook = Notebook(["import time\ndef answer():\n    time.sleep(0.2)\n    return 1"], LIMITS, 0.5)
    answer = notebook.answer("answer")
    with pytest.raises(StoppedError):
        [answer() for _ in range(10)]
    assert notebook.stopped


@pytest.mark.skipif(os.geteuid() == 0 and not runs_as_nobody(), reason="root may start as many as it likes")
def test_no_other_process_can_be_started():
    with pytest.raises(StoppedError, match="BlockingIOError"):
        ask("import os\nanswer = os.fork()")


@pytest.mark.skipif(not runs_as_nobody(), reason="only root can let others run as nobody")
def test_the_user_nobody_cannot_stop_us():
    with pytest.raises(StoppedError, match="PermissionError"):
        ask("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nanswer = 1")


def test_an_answer_that_would_run_code_here_is_refused(tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "caught"),)

    with pytest.raises(StoppedError, match="made of numbers"):
        ask(f"import os\nos.write(3, {pickle.dumps(Trap())!r})\nos._exit(0)")
    assert not (tmp_path / "caught").exists()


def test_the_child_inherits_no_open_files():
    kinds = run_in_child(lambda: " ".join(map(_kind, range(100))).encode(), LIMITS).split()
    assert sorted(kinds) == [b"device"] * 4 + [b"pipe"]


def _kind(number):
    try:
        mode = os.fstat(number).st_mode
    except OSError:
        return ""
    return "pipe" if stat.S_ISFIFO(mode) else "device" if stat.S_ISCHR(mode) else "other"


def test_the_child_ends_with_the_question():
    code = "import os\nanswer = os.getpid()"
    child = ask(code)
    with pytest.raises(ProcessLookupError):
        os.kill(child, signal.SIGCONT)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files for nobody, and delete them")
def test_only_files_of_the_user_nobody_are_deleted(tmp_path, monkeypatch):
    nobody = pwd.getpwnam("nobody").pw_uid
    (tmp_path / "ours").write_text("kept")
    (tmp_path / "left" / "deep").mkdir(parents=True)
    (tmp_path / "left" / "deep" / "file").write_text("x")
    for path in (tmp_path / "left").rglob("*"):
        os.chown(path, nobody, -1)
    os.chown(tmp_path / "left", nobody, -1)
    (tmp_path / "left").chmod(0o1000)
    clean_scratch()
    assert (tmp_path / "left").exists()
    monkeypatch.setenv(SCRATCH, f"/no such folder:{tmp_path}")
    clean_scratch()
    assert [path.name for path in tmp_path.iterdir()] == ["ours"]


CHECK = """
exercises.check_scaled_scores(scaled_scores)
assert exercises.check_scaled_scores.judge(scaled_scores, seed=5).state == "right"
"""
RIGHT = (
    "import numpy as np\ndef scaled_scores(query, key):\n    return query @ key.T / np.sqrt(key.shape[-1])"
)
WRONG = "def scaled_scores(query, key):\n    return query @ key.T"


def verdict(*cells):
    exercise = Exercise(
        grade_id="scaling-scaled-scores-check",
        check=CHECK,
        trusted=["from glassformer.exercises import scaling as exercises"],
        asked=["scaled_scores"],
        cells=list(cells),
        without=[],
    )
    return judge(exercise, Limits(seconds=30), 300)


def test_a_right_answer_passes_among_broken_cells():
    broken = ("import time\ntime.sleep(100)\n(", "%matplotlib inline", "this is no Python")
    assert verdict(*broken, RIGHT) == ""
    helper = "from numpy import *\ndef helper(key): return sqrt(key.shape[-1])"
    assert verdict(helper, "def scaled_scores(query, key):\n    return query @ key.T / helper(key)") == ""


TRICKS = {
    "the check": """
from glassformer import checking
checking.Check.judge = lambda *given: checking.Verdict("mine", "right")
""",
    "the slip": """
from glassformer import checking
checking.Slip.__str__ = lambda self: ""
checking.Slip.__bool__ = lambda self: False
""",
    "Python": """
import builtins
builtins.AssertionError = ValueError
builtins.print = lambda *given: None
""",
    "NumPy": """
import numpy
numpy.allclose = numpy.array_equal = lambda *given, **named: True
""",
    "the module": """
import sys
sys.modules["glassformer.exercises.scaling"] = exercises = None
""",
    "every function that compares": """
import gc, types
for each in gc.get_objects():
    if type(each) is types.FunctionType and each.__name__ in ("is_close", "compare", "judge", "_judge_once"):
        each.__code__ = each.__code__.replace(co_code=(lambda: None).__code__.co_code)
""",
    "the code that called it": """
import sys
frame = sys._getframe()
while frame := frame.f_back:
    frame.f_globals.update(judge=lambda *given: "", compare=lambda *given: None)
""",
}


@pytest.mark.parametrize("trick", TRICKS)
def test_a_wrong_answer_stays_wrong_whatever_it_patches(trick):
    assert "unscaled" in verdict(TRICKS[trick] + WRONG)
    assert verdict(RIGHT) == ""


def test_an_answer_that_equals_everything_is_refused():
    code = "class All:\n    def __eq__(self, other): return True\n    def __array__(self, *given): return 1\n"
    assert "made of numbers" in verdict(code + "def scaled_scores(query, key): return All()")

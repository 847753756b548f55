import signal
import textwrap
import threading

import pytest

from glassformer.cli import main
from glassformer.exercises import CHAPTERS, list_checks

RIGHT = "longest_row = 149\n"
WRONG = "longest_row = 148\n"
ALL_RIGHT = """
from math import log

import torch

temperature = 3 / log(2)
longest_row = 149


def stable_softmax(x):
    return x.softmax(-1)


def my_log_softmax(x):
    return x.log_softmax(-1)


def masked_softmax(x, attn_mask):
    return x.masked_fill(~attn_mask, -torch.inf).softmax(-1).nan_to_num(0)


def attend(query, key, value, attn_mask):
    return masked_softmax(query @ key.T / query.shape[-1] ** 0.5, attn_mask) @ value


def softmax_gradient(grad_weights, weights):
    return weights * (grad_weights - (weights * grad_weights).sum(-1, keepdims=True))


def stream_step(peak, total, block):
    new = max(peak, float(block.max()))
    return new, total * torch.tensor(peak - new).exp() + torch.as_tensor(block - new).exp().sum()
"""


@pytest.fixture
def check(tmp_path, capsys):
    def run(source, *options):
        path = tmp_path / "attempt.py"
        path.write_text(textwrap.dedent(source), encoding="utf-8")
        code = main(["check", "softmax", str(path), *options])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


@pytest.fixture
def interruptible():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs ignore it
    yield
    signal.signal(signal.SIGINT, before)


def test_the_chapters_and_their_exercises_are_listed(capsys):
    assert main(["check"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{slug}: {len(list_checks(slug))} exercises" for slug in CHAPTERS
    ]
    assert main(["check", "softmax"]) == 0
    assert capsys.readouterr().out.splitlines() == list(list_checks("softmax"))


def test_each_exercise_has_a_line_of_output(check):
    code, out, _ = check(WRONG + "temperature = 4.33\n")
    assert code == 1
    assert '✘ longest row: you did not count the leader itself (see "The softmax cannot stay sharp")' in out
    assert "✔ temperature: right." in out
    assert out.count("◦") == len(list_checks("softmax")) - 2


def test_the_check_succeeds_if_every_started_exercise_is_right(check):
    assert check(RIGHT)[0] == 0
    assert check(RIGHT + "def stable_softmax(x): ...\n")[0] == 0
    assert check(WRONG)[0] == 1


def test_with_all_exercises_that_are_not_started_count_as_wrong(check):
    assert check(RIGHT, "--all")[0] == 1
    assert check(ALL_RIGHT, "--all")[0] == 0


def test_another_seed_gives_the_same_verdicts(check):
    assert check(ALL_RIGHT, "--all", "--seed", "7")[0] == 0
    assert check(WRONG, "--seed", "7")[0] == 1


def test_a_file_without_solutions_is_reported_with_the_names(check):
    code, _, err = check("softmaxx = 3\n")
    assert code == 1
    assert "defines none of stable_softmax, temperature" in err


def test_checks_called_by_the_file_itself_do_not_stop_it(check):
    called = (
        "from glassformer.exercises import softmax as exercises\nexercises.check_longest_row(longest_row)\n"
    )
    code, out, _ = check(WRONG + called + "temperature = 4.33\n")
    assert code == 1
    assert out.count("longest row") == 1
    assert "✔ temperature" in out


def test_output_of_the_file_is_kept_apart_from_the_verdicts(check):
    _, out, err = check("print('thinking')\n" + RIGHT)
    assert "thinking" not in out
    assert "thinking" in err


@pytest.mark.parametrize(
    ("crash", "told"),
    [
        ("oops", "line 2 raised NameError: name 'oops' is not defined"),
        ("raise SystemExit(3)", "line 2 raised SystemExit: 3"),
    ],
)
def test_a_file_that_raises_an_error_is_checked_up_to_that_line(crash, told, check):
    code, out, err = check(f"{RIGHT}{crash}\ntemperature = 4.33\n")
    assert code == 1
    assert told in err
    assert "✔ longest row" in out
    assert "◦ temperature" in out


@pytest.mark.parametrize(
    ("source", "told"),
    [("def f(:\n", "is not valid Python: line 1: "), ("x = '\x00'\n", "is not valid Python: ")],
)
def test_a_file_that_is_not_valid_python_is_reported(source, told, check):
    code, out, err = check(source)
    assert (code, out) == (1, "")
    assert told in err


def test_a_file_in_another_encoding_is_reported(tmp_path, capsys):
    path = tmp_path / "attempt.py"
    path.write_bytes("größe = 3\n".encode("latin-1"))
    assert main(["check", "softmax", str(path)]) == 1
    assert "is not valid UTF-8" in capsys.readouterr().err


def test_a_missing_chapter_or_file_is_named(tmp_path, capsys):
    with pytest.raises(SystemExit) as end:
        main(["check", "hardmax"])
    assert end.value.code == 2
    told = capsys.readouterr().err
    assert "error: CHAPTER must be one of" in told
    assert "got 'hardmax'" in told
    assert main(["check", "softmax", str(path := tmp_path / "nothing.py")]) == 1
    assert f"cannot read '{path}': no such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("def stable_softmax(x):\n    while True: pass\n", "stable_softmax was being checked"),
        (f"{RIGHT}while True: pass\n", "line 2 was running"),
    ],
)
def test_an_endless_loop_can_be_interrupted(source, told, check, interruptible):
    threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
    code, _, err = check(source)
    assert code == 130
    assert told in err
    assert "is there an endless loop?" in err


def test_the_folder_of_the_file_can_be_imported_from(tmp_path, check):
    (tmp_path / "my_numbers.py").write_text("LONGEST = 149\n")
    code, out, _ = check("from my_numbers import LONGEST\n\nlongest_row = LONGEST\n")
    assert code == 0
    assert "✔ longest row" in out

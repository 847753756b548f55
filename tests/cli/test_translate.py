import io
import subprocess
import sys
import threading
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from glassformer.cli import main
from glassformer.data.tokenizer import Tokenizer
from glassformer.translator import Translator

SENTENCES = ["the cat sleeps .", "nobody sleeps", "Привет, мир", "😀"]
SHORT = ["--max-length", "7"]


@pytest.fixture
def expected(translator):
    return [" ".join(text.split()) for text in translator.translate(SENTENCES, max_length=7)]


@pytest.fixture
def pipe(monkeypatch):
    """Replace standard input by bytes."""

    def put(content):
        buffer = io.BytesIO(content)
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=buffer, isatty=lambda: False))

    return put


def translate(model, *arguments):
    return main(["translate", "--model", str(model), *SHORT, *map(str, arguments)])


def as_lines(sentences):
    return "".join(f"{sentence}\n" for sentence in sentences)


def test_different_sentences_have_different_translations(expected):
    assert len(set(expected)) == len(SENTENCES)


def test_arguments_are_translated_one_per_line(model, expected, capsys):
    assert translate(model, *SENTENCES) == 0
    assert capsys.readouterr().out == as_lines(expected)


def test_a_file_gives_the_same_translations_as_arguments(model, expected, tmp_path, capsys):
    (tmp_path / "in").write_text("\ufeff" + "\r\n".join(SENTENCES), encoding="utf-8")
    assert translate(model, "--input", tmp_path / "in") == 0
    assert capsys.readouterr().out == as_lines(expected)


def test_a_pipe_gives_the_same_translations_as_arguments(model, expected, pipe, capsys):
    pipe(as_lines(SENTENCES).encode())
    assert translate(model) == 0
    assert capsys.readouterr().out == as_lines(expected)


def test_many_lines_keep_their_order(model, translator, pipe, capsys):
    numbers = [str(number) for number in range(139)]
    pipe(as_lines(numbers).encode())
    assert translate(model, "--beam-size", 1) == 0
    written = translator.translate(numbers, beam_size=1, max_length=7)
    assert capsys.readouterr().out == as_lines(" ".join(text.split()) for text in written)


@pytest.mark.parametrize(
    ("content", "written"), [(b"", ""), (b"\n", "\n"), (b"\n \n\t\n", "\n\n\n"), (b" ", "\n")]
)
def test_blank_lines_give_blank_lines_and_empty_input_gives_none(model, pipe, capsys, content, written):
    pipe(content)
    assert translate(model) == 0
    assert capsys.readouterr().out == written


def test_a_line_that_cannot_be_translated_is_reported_and_blank(model, expected, pipe, capsys):
    long = " ".join(["cat"] * 10_000)
    lines = [SENTENCES[0].encode(), long.encode(), SENTENCES[1].encode(), b"caf\xe9", SENTENCES[2].encode()]
    pipe(b"\n".join(lines))
    assert translate(model) == 1
    told = capsys.readouterr()
    assert told.out == as_lines([expected[0], "", expected[1], "", expected[2]])
    assert "line 2 is too long: its 10000 words are" in told.err
    assert "line 4 is not valid UTF-8: byte 0xe9 at position 4" in told.err
    assert "2 lines could not be translated and were left blank" in told.err


def test_an_argument_that_is_not_valid_utf8_is_reported(model, capsys):
    assert translate(model, "caf\udce9") == 1
    told = capsys.readouterr()
    assert (told.out, "line 1 is not valid UTF-8" in told.err) == ("\n", True)
    assert "1 line could not be translated and was left blank" in told.err


def test_the_output_file_is_written_atomically(model, expected, tmp_path, monkeypatch, capsys):
    output = tmp_path / "out"
    output.write_text("old", encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(Translator, "_decode", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            translate(model, *SENTENCES, "--output", output)
    assert output.read_text(encoding="utf-8") == "old"
    assert translate(model, *SENTENCES, "--output", output) == 0
    assert output.read_text(encoding="utf-8") == as_lines(expected)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("how", [[], ["--beam-size", "1"], ["--n-best", "1"], ["--sample"]])
def test_generated_line_breaks_do_not_split_a_line(model, how, monkeypatch, capsys):
    monkeypatch.setattr(Tokenizer, "decode", lambda _, rows: ["a\tb\r\n\n c" for _ in rows])
    assert translate(model, "the cat", *how) == 0
    assert capsys.readouterr().out.rpartition("\t")[2] == "a b c\n"


def test_a_file_can_be_translated_in_its_place(model, expected, tmp_path):
    place = tmp_path / "text"
    place.write_text(as_lines(SENTENCES), encoding="utf-8")
    assert translate(model, "--input", place, "--output", place) == 0
    assert place.read_text(encoding="utf-8") == as_lines(expected)


def test_n_best_translations_are_printed_with_number_and_score(model, translator, capsys):
    assert translate(model, "a cat", "", "the dog", "--n-best", 3) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows] == ["1", "1", "1", "2", "3", "3", "3"]
    assert rows[3] == ["2", "0.0000", ""]
    best = translator.translate_n_best(["a cat"], n_best=3, max_length=7)[0]
    assert [row[1] for row in rows[:3]] == [f"{one.score:.4f}" for one in best]
    assert float(rows[0][1]) >= float(rows[1][1]) >= float(rows[2][1])


def test_a_sample_depends_only_on_seed_and_line_number(model, pipe, capsys):
    written = []
    for lines, seed in ((["a cat"] * 5, 3), (["a cat"] * 3, 3), (["a cat"] * 5, 4)):
        pipe(as_lines(lines).encode())
        assert translate(model, "--sample", "--seed", seed) == 0
        written.append(capsys.readouterr().out.splitlines())
    same_seed, shorter, other_seed = written
    assert len(same_seed) == 5
    assert len(set(same_seed)) > 1
    assert shorter == same_seed[:3]
    assert other_seed != same_seed


def test_sampling_at_temperature_zero_is_greedy(model, capsys):
    assert translate(model, *SENTENCES, "--sample", "--temperature", 0) == 0
    drawn = capsys.readouterr().out
    assert translate(model, *SENTENCES, "--beam-size", 1) == 0
    assert capsys.readouterr().out == drawn


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x", "--input", "y"], "give sentences as arguments or with --input, not both"),
        (["x", "--seed", "1"], "--seed requires --sample"),
        (["x", "--top-p", "0.5"], "--top-p requires --sample"),
        (["x", "--top-p", "0.5", "--seed", "1"], "--top-p, --seed require --sample"),
        (["x", "--sample", "--beam-size", "2"], "--beam-size cannot be used with --sample"),
        (["x", "--sample", "--n-best", "2"], "--n-best cannot be used with --sample"),
        (["x", "--n-best", "0"], "error: --n-best must be a positive integer, got 0"),
        (["x", "--beam-size", "0"], "error: --beam-size must be a positive integer, got 0"),
        (["x", "--sample", "--top-k", "0"], "error: --top-k must be a positive integer, got 0"),
        (["x", "--max-length", "many"], "error: --max-length must be a positive integer, got many"),
        (["x", "--n-best", "5", "--beam-size", "3"], "--n-best (5) must not exceed --beam-size (3)"),
        (["x", "--n-best", "9"], "--n-best (9) must not exceed --beam-size (4)"),
        (["x", "--length-penalty", "long"], "invalid choice: 'long'"),
        (["x", "--alpha", "-1"], "error: --alpha must be"),
        (["x", "--output", "."], "error: --output must be a regular file, got"),
        (["x", "--output", "/dev/null"], "error: --output must be a regular file, got /dev/null"),
        (["x", "--device", "abacus"], "error: --device must be"),
    ],
)
def test_incompatible_options_are_rejected(model, arguments, message, capsys):
    with pytest.raises(SystemExit) as end:
        translate(model, *arguments)
    assert end.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--input", "absent"], "cannot read 'absent': no such file"),
        (["--input", "."], "cannot read '.': is a directory"),
        (["x", "--output", "absent/file"], "no such folder as"),
    ],
)
def test_an_impossible_request_is_reported(model, arguments, message, capsys):
    assert translate(model, *arguments) == 1
    assert message in capsys.readouterr().err


def test_a_device_of_the_environment_is_not_reported_as_an_option(model, monkeypatch, capsys):
    monkeypatch.setenv("GLASSFORMER_DEVICE", "abacus")
    assert translate(model, "x") == 1
    assert "glassformer: device must be" in capsys.readouterr().err


def test_missing_standard_input_is_reported(model, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert translate(model) == 1
    assert "there is nothing to translate" in capsys.readouterr().err


def test_a_folder_of_another_architecture_is_reported(tmp_path, capsys):
    (tmp_path / "model.json").write_text('{"architecture": ["bird"], "config": {}}', encoding="utf-8")
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    assert translate(tmp_path, "x") == 1
    assert "model.json: architecture must be one of 'transformer'" in capsys.readouterr().err


@contextmanager
def start(model):
    """Run the program with pipes, and kill it if it hangs."""
    command = [sys.executable, "-m", "glassformer", "translate", "--model", str(model), *SHORT]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, **pipes) as program:
        guard = threading.Timer(120, program.kill)
        guard.start()
        yield program
        guard.cancel()


def test_a_line_from_a_pipe_is_translated_before_the_next_arrives(model, expected):
    with start(model) as program:
        for sentence, translation in zip(SENTENCES[:3], expected, strict=False):
            program.stdin.write(f"{sentence}\n".encode())
            program.stdin.flush()
            assert program.stdout.readline().decode() == f"{translation}\n"
        program.stdin.close()
        assert program.stdout.read() == b""
    assert program.returncode == 0


def test_a_closed_output_is_reported_without_a_traceback(model):
    with start(model) as program:
        program.stdin.write(b"the cat\n")
        program.stdin.flush()
        program.stdout.readline()
        program.stdout.close()
        program.stdin.write(b"the dog\n")
        program.stdin.close()
        told = program.stderr.read().decode()
    assert told == "glassformer: the output was closed; the rest was not written\n"
    assert program.returncode == 1

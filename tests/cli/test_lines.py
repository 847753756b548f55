import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.cli.lines import Line, open_sink, read_arguments, read_blocks, read_file


class Dripping(io.BufferedIOBase):
    """Source that returns a few bytes at a time, like a pipe."""

    def __init__(self, content, size):
        self.rest, self.size = content, size

    def read1(self, _=-1):
        given, self.rest = self.rest[: self.size], self.rest[self.size :]
        return given


@given(st.lists(st.text(st.characters(exclude_characters="\n\ufeff", codec="utf-8"))), st.integers(1, 7))
def test_lines_are_the_same_however_they_come(texts, size):
    content = "".join(f"{text}\n" for text in texts).encode()
    lines = [line for block in read_blocks(Dripping(content, size)) for line in block]
    assert lines == [Line(number, text) for number, text in enumerate(texts, start=1)]


def test_the_last_line_needs_no_line_break():
    assert list(read_blocks(io.BytesIO(b"one\ntwo"))) == [[Line(1, "one")], [Line(2, "two")]]


def test_complete_lines_are_yielded_before_more_is_read():
    source = Dripping(b"one\ntwo\nthr", 4)
    blocks = read_blocks(source)
    assert next(blocks) == [Line(1, "one")]
    assert source.rest == b"two\nthr"


def test_blocks_are_small_and_keep_count():
    blocks = list(read_blocks(io.BytesIO(b"x\n" * 1009)))
    assert max(map(len, blocks)) <= 64
    assert [line.number for block in blocks for line in block] == list(range(1, 1010))


def test_a_byte_order_mark_is_removed_only_at_the_start():
    lines = [line for block in read_blocks(io.BytesIO("\ufeffa\n\ufeffb\n".encode())) for line in block]
    assert [line.text for line in lines] == ["a", "\ufeffb"]


def test_only_a_line_that_is_not_valid_utf8_has_an_error():
    (lines,) = read_blocks(io.BytesIO(b"caf\xe9\nb\n"))
    assert lines == [Line(1, "", "is not valid UTF-8: byte 0xe9 at position 4"), Line(2, "b")]


def test_an_argument_is_always_one_line():
    assert read_arguments(["a\nb", "", "caf\udce9"]) == [
        Line(1, "a b"),
        Line(2, ""),
        Line(3, "", "is not valid UTF-8: byte 0xe9 at position 4"),
    ]


def test_a_file_is_read_in_the_same_blocks_as_a_pipe(tmp_path):
    (tmp_path / "text").write_bytes(b"one\ntwo\n")
    assert list(read_file(tmp_path / "text")) == [[Line(1, "one"), Line(2, "two")]]


def test_a_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "out"
    with open_sink(path) as sink:
        sink.write(b"new")
        sink.flush()
        assert not path.exists()
    assert path.read_bytes() == b"new"


def interrupt_after(_):
    raise KeyboardInterrupt


def test_a_failure_leaves_the_old_file(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt), open_sink(path) as sink:
        interrupt_after(sink.write(b"new"))
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


def test_a_symbolic_link_is_preserved(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with open_sink(tmp_path / "link") as sink:
        sink.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"


@pytest.mark.parametrize("path", ["/dev/null", "."])
def test_a_folder_or_a_device_is_not_written_over(path):
    with pytest.raises(ValueError, match="output must be a regular file"), open_sink(Path(path)):
        pass

import pytest

from glassformer.training.log import RunLog, read_log


@pytest.fixture
def log(tmp_path):
    log = RunLog(tmp_path / "log.jsonl")
    for step in (2, 3, 5):
        log.write(step=step, loss=step / 7)
    return log


def test_what_is_written_is_read(log):
    assert read_log(log.path) == [{"step": step, "loss": step / 7} for step in (2, 3, 5)]


def test_a_truncated_log_has_no_entry_after_the_step(log):
    log.truncate(3)
    assert [entry["step"] for entry in read_log(log.path)] == [2, 3]


def test_a_line_cut_off_by_a_kill_is_skipped_and_overwritten(log):
    log.path.write_text(log.path.read_text() + '{"step": 7, "lo')
    assert [entry["step"] for entry in read_log(log.path)] == [2, 3, 5]
    log.truncate(5)
    log.write(step=7, loss=1.0)
    assert [entry["step"] for entry in read_log(log.path)] == [2, 3, 5, 7]


def test_a_broken_line_in_the_middle_is_an_error(log):
    log.path.write_text('{"st\n' + log.path.read_text())
    with pytest.raises(ValueError, match="line 1 of 4 is not JSON"):
        read_log(log.path)

import pytest

from glassformer.training.log import RunLog, read_log


@pytest.fixture
def log(tmp_path):
    log = RunLog(tmp_path / "log.jsonl")
    for step in (2, 3, 5):
        log.write(step=step, loss=step / 7)
    return log


def test_written_entries_are_read_back(log):
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


def test_an_invalid_line_before_the_last_is_an_error(log):
    log.path.write_text('{"st\n' + log.path.read_text())
    with pytest.raises(ValueError, match="line 1 of 4 is not JSON"):
        read_log(log.path)

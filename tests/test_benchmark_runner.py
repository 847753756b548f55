import json
import runpy
import sys
from pathlib import Path

import pytest

RECORD = Path(__file__).parents[1] / "benchmarks/record.py"
SCRIPT = '''"""Count."""

from record import CPU, run_benchmark


def measure(options, device):
    return [options.rate] * len(options.sizes), {"device": str(device), "unit": "s"}


if __name__ == "__main__":
    run_benchmark(measure, device=CPU, sizes=[3, 5], rate=0.5, name={"choices": ["a", "b"], "default": "a"})
'''


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a made-up benchmark with arguments; return its result."""
    script, output = tmp_path / "count.py", tmp_path / "new/result.json"
    script.write_text(SCRIPT, encoding="utf-8")
    monkeypatch.syspath_prepend(RECORD.parent)

    def start(*arguments):
        monkeypatch.setattr(sys, "argv", [str(script), "--output", str(output), *arguments])
        runpy.run_path(str(script), run_name="__main__")
        assert [path.name for path in output.parent.iterdir()] == ["result.json"]
        return json.loads(output.read_text(encoding="utf-8"))

    return start


def test_a_result_holds_the_numbers_and_all_settings_except_paths(run):
    result = run("--sizes", "7")
    assert result["measured"] == [0.5]
    settings = {"sizes": [7], "rate": 0.5, "name": "a", "threads": 1}
    assert result["settings"] == settings | {"device": "cpu", "unit": "s"}


def test_a_result_names_the_command_and_the_machine(run):
    result = run("--rate", "2")
    assert result["command"].startswith("python benchmarks/count.py --output ")
    assert result["machine"]["device"] == "cpu"
    assert result["machine"]["threads"] == 1


@pytest.mark.parametrize("arguments", [("--sizes", "x"), ("--name", "c"), ("--speed", "1")])
def test_an_option_that_does_not_exist_or_has_another_type_is_refused(run, arguments):
    with pytest.raises(SystemExit):
        run(*arguments)


def test_an_interrupted_benchmark_loads_what_it_has_made(tmp_path):
    load_or_make = runpy.run_path(str(RECORD))["load_or_make"]
    path = tmp_path / "kept/seed 0.json"
    assert load_or_make(path, lambda: [1]) == [1]
    assert load_or_make(path, lambda: [2]) == [1]

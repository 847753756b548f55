"""Training with real processes, started by torchrun and connected by gloo."""

import os
import subprocess
import sys

import pytest
import small_run
import torch
from torch.testing import assert_close

from glassformer.training.log import read_log
from glassformer.training.parallel import Workers, join_workers
from glassformer.translator import Translator


def losses(folder):
    return torch.tensor([entry["loss"] for entry in read_log(folder / "log.jsonl") if "loss" in entry])


@pytest.fixture(scope="module")
def run_alone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("alone")
    small_run.small_trainer(folder, dropout=0.0).run().save(folder / "translator")
    return folder


def torchrun(*arguments, **environment):
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    finished = subprocess.run(
        [*command, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=240,
        env=os.environ | {"OMP_NUM_THREADS": "1"} | environment,
    )
    assert finished.returncode == 0, finished.stderr[-3000:]


def test_two_processes_come_to_the_same_losses_as_one(run_alone, tmp_path):
    torchrun(small_run.__file__, tmp_path / "two")
    assert_close(losses(tmp_path / "two"), losses(run_alone), rtol=1e-5, atol=1e-5)
    sources = small_run.small_corpus().validation.sources
    one, two = (Translator.load(folder / "translator") for folder in (run_alone, tmp_path / "two"))
    assert two.translate(sources, beam_size=1) == one.translate(sources, beam_size=1)


def test_a_killed_worker_is_restarted_and_resumes(run_alone, tmp_path):
    arguments = ("--max-restarts=1", small_run.__file__, tmp_path / "restarted", 7)
    torchrun(*arguments, TORCH_DISABLE_SHARE_RDZV_TCP_STORE="1")
    assert (tmp_path / "restarted" / "killed").exists()
    assert_close(losses(tmp_path / "restarted"), losses(run_alone), rtol=1e-5, atol=1e-5)


def test_restarts_that_keep_workers_from_connecting_are_rejected(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("TORCHELASTIC_MAX_RESTARTS", "3")
    monkeypatch.setenv("TORCHELASTIC_USE_AGENT_STORE", "True")
    with (
        pytest.raises(RuntimeError, match="set TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1"),
        join_workers(torch.device("cpu")),
    ):
        pass


def test_a_single_process_needs_no_group(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with join_workers(torch.device("cpu")) as (workers, device):
        assert (workers, device) == (Workers(rank=0, size=1), torch.device("cpu"))
        assert workers.is_main
        assert workers.all_reduce(torch.tensor(3.0)) == 3

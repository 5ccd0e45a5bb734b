"""ring: ranks that are processes, and one of them that dies."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist

from parity_tests.__main__ import main
from torch_impl.ring import Arriving, Ring, Shard, ring_attention

pytestmark = pytest.mark.skipif(
    not dist.is_available() or not dist.is_gloo_available(),
    reason="this torch was built without gloo",
)
# Where there is a fork server it loads torch once for all ranks; elsewhere
# each rank loads its own.
METHODS = multiprocessing.get_all_start_methods()
CONTEXT: Any = multiprocessing.get_context(
    "forkserver" if "forkserver" in METHODS else "spawn"
)
CONTEXT.set_forkserver_preload([__name__])


def told_of_the_others(
    folder: Path,
    environment: dict[str, str],
    function: Callable[..., int],
    *arguments: Any,
) -> None:
    """Be a rank, as torchrun starts it; what it prints goes to a file."""
    os.environ |= environment
    torch.set_num_threads(1)
    path = folder / environment["RANK"]
    # By lines: a rank that dies flushes nothing.
    with path.open("w", encoding="utf-8", buffering=1) as file:
        with contextlib.redirect_stdout(file):
            status = function(*arguments)
        file.flush()
        # At once: torch may wait for ranks that are gone.
        os._exit(status)


def ranks_of(
    count: int, folder: Path, function: Callable[..., int], *arguments: Any
) -> tuple[list[int], list[str]]:
    """Return the exit statuses of ranks, and what each printed."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    known = {"WORLD_SIZE": str(count), "MASTER_PORT": port}
    known |= {"MASTER_ADDR": "127.0.0.1"}
    processes = [
        CONTEXT.Process(
            target=told_of_the_others,
            args=(folder, {**known, "RANK": str(rank)}, function, *arguments),
        )
        for rank in range(count)
    ]
    for process in processes:
        process.start()
    try:
        for process in processes:
            process.join(90)
    finally:
        for process in processes:
            process.kill()
    printed = [
        (folder / str(rank)).read_text("utf-8") for rank in range(count)
    ]
    return [process.exitcode for process in processes], printed


def as_it_must_be(printed: str, ranks: int) -> bool:
    """Return whether rank 0 prints a row for each rank, and a last line."""
    rows = [line for line in printed.splitlines() if line[:1] == "│"]
    last = printed.splitlines()[-1:]
    return last == ["as it must be"] and len(rows) == ranks


@pytest.mark.parametrize(
    ("ranks", "length", "causal"),
    [(2, 600, False), (2, 600, True), (4, 64, True)],
)
def test_processes_give_what_one_gives(
    ranks: int, length: int, causal: bool, tmp_path: Path
) -> None:
    command = ["ring", "--length", str(length)]
    command += ["--causal"] if causal else []
    statuses, printed = ranks_of(ranks, tmp_path, main, command)
    # Its last word says that numbers and bytes sent are as they must be.
    assert as_it_must_be(printed[0], ranks), printed
    assert statuses == [0] * ranks


def test_torchrun_starts_them() -> None:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", "2", "-m", "parity_tests", "ring"]
    done = subprocess.run(
        [*command, "--length", "64"],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        timeout=120,
        check=False,
    )
    assert as_it_must_be(done.stdout, 2), done
    assert done.returncode == 0


class Mortal(Ring):
    """A rank 1 that ends silently when it should pass on."""

    def __init__(self, when: int) -> None:
        super().__init__()
        self.left = when

    def pass_on(self, tensors: tuple[torch.Tensor, ...]) -> Arriving:
        """Pass on, or die."""
        self.left -= 1
        if self.rank == 1 and self.left == 0:
            os._exit(3)
        return super().pass_on(tensors)


def there_and_back(when: int) -> int:
    """Run a ring in which a rank dies; return 7 if the error says so."""
    dist.init_process_group("gloo", timeout=timedelta(seconds=60))
    torch.manual_seed(0)
    leaves = torch.randn(3, 2, 300, 8).unbind()
    shard = Shard(*(leaf.clone().requires_grad_() for leaf in leaves))
    try:
        output = ring_attention(Mortal(when), shard).output
        output.sum().backward()  # type: ignore[no-untyped-call]  # as torch has it
    except ConnectionError as error:
        print(error)
        return 7
    print("done")
    return 0


@pytest.mark.parametrize("when", [1, 3, 5])
def test_a_rank_that_dies_ends_the_others(when: int, tmp_path: Path) -> None:
    started = time.monotonic()
    statuses, said = ranks_of(3, tmp_path, there_and_back, when)
    assert time.monotonic() - started < 60, "they waited for the timeout"
    assert statuses == [7, 3, 7], said
    for rank in (0, 2):
        start = f"rank {rank}: another rank of the ring has ended or does not"
        assert said[rank].startswith(start), said[rank]
        assert said[rank].count("\n") == 1, said[rank]


def test_alone_it_says_how_it_is_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("RANK", raising=False)
    assert main(["ring"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("ring: it runs under torchrun:")

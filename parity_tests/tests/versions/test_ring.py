"""ring: ranks that are processes, and one of them that dies."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time

import pytest
import torch.distributed

pytestmark = pytest.mark.skipif(
    not torch.distributed.is_available()
    or not torch.distributed.is_gloo_available(),
    reason="this torch was built without gloo",
)
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


@pytest.mark.parametrize(
    ("ranks", "length", "causal"),
    [(2, 600, False), (2, 600, True), (4, 64, True)],
)
def test_processes_give_what_one_gives(
    ranks: int, length: int, causal: bool
) -> None:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", str(ranks), "-m", "parity_tests", "ring"]
    command += ["--length", str(length), *(["--causal"] if causal else [])]
    done = subprocess.run(
        command,
        capture_output=True,
        encoding="utf-8",
        env=ENVIRONMENT,
        timeout=120,
        check=False,
    )
    # Its last word says that numbers and bytes sent are as they must be.
    assert done.stdout.splitlines()[-1:] == ["as it must be"], done
    assert done.returncode == 0
    rows = [line for line in done.stdout.splitlines() if line[:1] == "│"]
    assert len(rows) == ranks


# A rank that ends without a word when it should pass on for the second time.
DYING = """
import os, sys
from datetime import timedelta
import torch, torch.distributed as dist
from torch_impl.ring import Ring, Shard, ring_attention

class Mortal(Ring):
    passed = 0
    def pass_on(self, tensors):
        Mortal.passed += 1
        if self.rank == 1 and Mortal.passed == int(sys.argv[1]):
            os._exit(3)
        return super().pass_on(tensors)

dist.init_process_group("gloo", timeout=timedelta(seconds=60))
torch.manual_seed(0)
leaves = torch.randn(3, 2, 300, 8).unbind()
shard = Shard(*(leaf.clone().requires_grad_() for leaf in leaves))
try:
    ring_attention(Mortal(), shard).output.sum().backward()
except ConnectionError as error:
    print(error, flush=True)
    os._exit(7)
print("done", flush=True)
os._exit(0)
"""


@pytest.mark.parametrize("when", [1, 3, 5])
def test_a_rank_that_dies_ends_the_others(when: int) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    started = time.monotonic()
    processes = []
    for rank in range(3):
        own = {"RANK": str(rank), "WORLD_SIZE": "3", "MASTER_PORT": port}
        processes.append(
            subprocess.Popen(
                [sys.executable, "-c", DYING, str(when)],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
                env={**ENVIRONMENT, **own, "MASTER_ADDR": "127.0.0.1"},
            )
        )
    try:
        said = [process.communicate(timeout=90)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert time.monotonic() - started < 60, "they waited for the timeout"
    assert [p.returncode for p in processes] == [7, 3, 7], said
    for rank in (0, 2):
        start = f"rank {rank}: another rank of the ring has ended or does not"
        assert said[rank].startswith(start), said[rank]
        assert said[rank].count("\n") == 1, said[rank]


def test_alone_it_says_how_it_is_run() -> None:
    environment = {n: v for n, v in ENVIRONMENT.items() if n != "RANK"}
    done = subprocess.run(
        [sys.executable, "-m", "parity_tests", "ring"],
        capture_output=True,
        encoding="utf-8",
        env=environment,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("ring: it runs under torchrun:")

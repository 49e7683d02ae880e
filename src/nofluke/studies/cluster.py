"""Dask as the engine of a study: a cluster that is there, or one started on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from typing import Any

from nofluke.errors import InputError
from nofluke.studies.engine import n_workers

_SECONDS = 10  # to wait for a scheduler


@contextmanager
def dask_executor(
    address: str, *, workers: int | None = None, say: Callable[[str], object] | None = None
) -> Iterator[Executor]:
    """What runs a study's tasks on Dask, until the end of the block.

    Parameters
    ----------
    address : str
        Of a scheduler, such as "tcp://10.0.0.5:8786"; or "local", for a cluster of processes that is started here and
        ends with the block.
    workers : int, optional
        Processes of a local cluster; by default as many as there are cores to use.
    say : callable, optional
        Told in a sentence where the dashboard is.

    Raises
    ------
    InputError
        If dask.distributed is not installed, or there is no answer at the address.
    """
    try:
        from distributed import Client, LocalCluster
        from distributed.comm import get_address_host_port
    except ImportError:
        raise InputError(problem="dask needs another package", remedy="pip install 'nofluke[distributed]'") from None
    with ExitStack() as stack:
        target: Any = address
        if address == "local":
            many = n_workers(workers)
            # one thread each: most of the work holds Python's lock
            target = stack.enter_context(
                LocalCluster(n_workers=many, threads_per_worker=1, dashboard_address="127.0.0.1:0")
            )
        try:
            if target is address:
                get_address_host_port(address)  # of one that is none, a client would be half made, and hang at the end
            client = stack.enter_context(Client(target, timeout=_SECONDS, set_as_default=False))
        except (OSError, ValueError) as error:
            raise InputError(
                argument="dask",
                value=address,
                problem=f"has no scheduler that answers ({type(error).__name__})",
                remedy="check that it is running, and pass its address, such as tcp://10.0.0.5:8786, or 'local'",
            ) from None
        if say is not None:
            missing = "" if find_spec("bokeh") else " (it shows more after pip install bokeh)"
            say(f"Dask's dashboard is at {client.dashboard_link}{missing}")
        # not pure: Dask would keep results by their arguments; twice more where a worker is lost
        yield client.get_executor(pure=False, retries=2)

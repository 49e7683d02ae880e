"""Results as a data frame of the library the user has: pandas or polars, neither of which nofluke needs itself."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from typing import Any, Literal

from nofluke.errors import InputError
from nofluke.plain import check_word

Backend = Literal["pandas", "polars", "pyarrow"]
_BACKENDS: tuple[Backend, ...] = ("pandas", "polars", "pyarrow")


def make_frame(data: Mapping[str, Any], backend: Backend | None = None) -> Any:
    """A native frame from columns: of the library asked for, else one already imported, else one installed."""
    import narwhals as nw

    if backend is not None:
        check_word(backend, "backend", _BACKENDS)
    wanted = (backend,) if backend is not None else (*(b for b in _BACKENDS if sys.modules.get(b)), *_BACKENDS)
    found = next((b for b in wanted if sys.modules.get(b) or importlib.util.find_spec(b)), None)
    if found is None:
        raise InputError(
            problem=f"a data frame needs {' or '.join(dict.fromkeys(wanted))}", remedy=f"pip install {wanted[0]}"
        )
    columns = {name: list(values) if found == "pyarrow" else values for name, values in data.items()}
    return nw.from_dict(columns, backend=found).to_native()

"""Data frames, where pandas is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._errors import JarvisError

if TYPE_CHECKING:
    import pandas as pd


def frame(rows: list[dict[str, Any]], columns: list[str], index: str) -> pd.DataFrame:
    """A frame of rows, which may be none."""
    try:
        import pandas as pd
    except ImportError as error:
        raise JarvisError(
            "data frames need pandas, which is not installed",
            hint="pip install 'jarvis-run[pandas]'",
            code="pandas_missing",
        ) from error
    return pd.DataFrame(rows, columns=columns).set_index(index)

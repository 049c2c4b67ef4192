"""The sandbox backends, found by name and imported only when one is used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_skilleval.core.ports import Backend


NAMES = ("engine",)
"""Every backend of the plugin."""


def backend(name: str, *, cache: Path | None = None, engine_root: str = "tree") -> Backend:
    """The backend called `name`.

    Parameters
    ----------
    name
        ``engine``.
    cache
        Folder for what outlives a session (root tree, prepared states); None: the user's cache.
    engine_root
        ``tree`` or ``host``, for the ``engine`` backend.

    Raises
    ------
    ValueError
        There is no backend of that name.
    """
    if name == "engine":
        from pytest_skilleval.sandboxes.engine.backend import EngineBackend, default_cache

        return EngineBackend(cache or default_cache(), root=engine_root)
    raise ValueError(f"no sandbox backend is called {name!r}; there is: {', '.join(NAMES)}")

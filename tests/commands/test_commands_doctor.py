"""``skilleval doctor``: what is missing is told before a session is."""

from __future__ import annotations

import sys

import pytest

from pytest_skilleval.commands import doctor


def test_the_gateway_without_its_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation without the extra is told how to get it; one with it is fine."""
    pytest.importorskip("aiohttp")
    assert doctor._gateway()[0]
    monkeypatch.delitem(sys.modules, "pytest_skilleval.gateway.server")
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    available, told = doctor._gateway()
    assert not available
    assert "needs aiohttp: pip install 'pytest-skilleval[agents]'" in told

"""``python -m pytest_skilleval``: the same as the console script ``skilleval``."""

from pytest_skilleval.cli import main

if __name__ == "__main__":
    raise SystemExit(main())

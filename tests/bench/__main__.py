"""Run the benchmarks named on the command line, or all of them."""

from __future__ import annotations

import sys

from tests.bench import gateway, loading, offline, overhead, parsing, plugin_tax, runs

BENCHES = {
    "plugin": plugin_tax.main,
    "loading": loading.main,
    "offline": offline.main,
    "runs": runs.main,
    "overhead": overhead.main,
    "gateway": gateway.main,
    "parsing": parsing.main,
}


def main() -> None:
    """Print the figures of each bench that is meant."""
    for name in sys.argv[1:] or BENCHES:
        print(f"== {name}")
        BENCHES[name]()


main()

"""The commands of ``skilleval``: one module each, with `HELP`, `arguments(parser)` and `run(options) -> exit code`."""

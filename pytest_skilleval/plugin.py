"""The pytest11 module: one line a hook."""

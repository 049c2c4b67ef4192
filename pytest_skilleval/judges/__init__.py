"""The blind judges: none yet; a ``judge`` check is undecided with the reason "no judge"."""

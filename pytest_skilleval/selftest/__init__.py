"""Effect standards: scripted agents whose effect is known, measured by the whole instrument as if they were unknown.

::

    standards  the published set: what each case's agent does, with which probability, and what must come out
    script     the one scene that all standards play, and the bytes that the scripted agent leaves of it
    sessions   chance: which run of a session passes, loads, or is lost
    recording  recorded runs, and the session's report by the same functions as for a real one
    findings   what a session's report says against the truth
    results    over many sessions: bias, coverage, false claims, and whether the promises are kept
    telling    results as text
    looks      sessions with planned looks
    chances    a session as the scripted model plays it, and what each run must become
    project    such a session as a project on disk; `runner` makes its runs
    real       sessions through pytest, sandboxes and CLIs, run by run against what was drawn
    others     the same for any other harness: a served model, a truth, a score

The sessions count as live inside (a simulated one bears no verdict by design); nothing of those in process outlives the
self-test but its own, stamped output.
"""

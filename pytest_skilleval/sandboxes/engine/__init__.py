"""A private Docker Engine per run, in Linux namespaces of its own.

One supervisor process per sandbox (:mod:`.supervisor`) makes the namespaces, starts the engine,
runs commands inside on request, and removes everything when its control socket closes. Modules
it imports use the standard library only: it runs isolated from the project's environment.
"""

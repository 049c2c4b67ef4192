"""Opens a sandbox with running containers, tells its processes' ids, and waits: something for tests to kill."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from pytest_skilleval.core.ports import Command, SandboxRequest
from pytest_skilleval.sandboxes.engine.backend import EngineBackend

backend = EngineBackend(Path(sys.argv[3]), state_dir=Path(sys.argv[1]))
sandbox = backend.open(SandboxRequest(name="victim", restore=sys.argv[2] or None))
try:
    sandbox.listen(9000, ("127.0.0.1", 9))
    print(sandbox.supervisor, sandbox.init, flush=True)
    sandbox.exec(Command(argv=("sh", "-c", "setsid sleep 600 & sleep 600")), timeout=600)
    time.sleep(600)
finally:
    sandbox.close()

"""Every task of the project by name: ``nox -s demo``, ``nox -s tests``, ``nox -l`` for all."""

from __future__ import annotations

import os
import platform
import shutil
from pathlib import Path

import nox

nox.options.sessions = ["tests", "lint", "types", "docs"]
nox.options.reuse_existing_virtualenvs = True
nox.options.stop_on_first_error = True

DEMO = "docker-destructive-guardrails"
# Every outcome case, and of the other kinds as many as fit into a minute.
DEMO_CASES = "out-*,fid-*,trig-prune-all,trig-kill,trig-volume,trig-not-list,trig-not-dockerise,trig-not-health"
AGENT_CLIS = ("@anthropic-ai/claude-code", "@openai/codex")
PROJECT = nox.project.load_toml("pyproject.toml")


def group(name: str) -> list[str]:
    """The packages of a dependency group."""
    return list(PROJECT["dependency-groups"][name])


def install(session: nox.Session, *groups: str) -> None:
    """The project as a user installs it, and the packages of dependency groups."""
    packages = [package for name in groups for package in group(name)]
    session.install("-q", "-e", ".[agents]", *packages)


def system_packages(session: nox.Session, wanted: dict[str, str]) -> None:
    """Install the Debian packages whose programs are missing (program -> package), named before it is done."""
    missing = sorted({package for program, package in wanted.items() if shutil.which(program) is None})
    if not missing:
        return
    if platform.system() != "Linux" or shutil.which("apt-get") is None or os.geteuid() != 0:
        session.warn(f"not installed and not installable from here: {' '.join(missing)}")
        return
    session.log(f"installing system packages: {' '.join(missing)}")
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    session.run("apt-get", "update", "-qq", external=True, env=quiet)
    session.run("apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing, external=True, env=quiet, silent=True)


@nox.session
def demo(session: nox.Session) -> None:
    """Evaluate the first spec with the scripted agent on private Docker Engines; no key, no network but the registries."""
    install(session)
    session.run(
        "pytest",
        f"--skill-eval={DEMO}",
        "--skill-agent=scripted",
        "--skill-repeats=1",
        f"--skill-case={DEMO_CASES}",
        "--skill-sandbox=engine",
        "-n",
        "2",
        *session.posargs,
        success_codes=[0, 1],
    )


@nox.session
def tests(session: nox.Session) -> None:
    """Run all tests: real Docker Engines, real agent CLIs against a scripted model; arguments go to pytest."""
    install(session, "test")
    system_packages(session, {"npm": "npm", "node": "nodejs", "chromium": "chromium", "git": "git"})
    env = {"SKILLEVAL_REQUIRE_ALL": "1"} if platform.system() == "Linux" and os.geteuid() == 0 else {}
    env["SKILLEVAL_AGENT_PREFIX"] = str(agent_clis(session))
    session.run("pytest", "-n", "2", *session.posargs, env=env)


def agent_clis(session: nox.Session) -> Path:
    """Install the real agent CLIs from npm, beside the other caches; returns the folder they are installed under."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pytest-skilleval" / "agent-clis"
    if not all((cache / "node_modules" / ".bin" / name).exists() for name in ("claude", "codex")):
        cache.mkdir(parents=True, exist_ok=True)
        session.log(f"installing from npm: {' '.join(AGENT_CLIS)}")
        session.run("npm", "install", "--no-audit", "--no-fund", "--silent", "--prefix", str(cache), *AGENT_CLIS, external=True)
    return cache


@nox.session
def rehearse(session: nox.Session) -> None:
    """Play every written rehearsal of our specs, and a fixed sample of generated ones, on real Docker."""
    install(session)
    session.run(
        "pytest",
        "--skill-eval=all",
        "--skill-rehearse",
        "--skill-rehearse-generated=2",
        "--skill-sandbox=engine",
        "-n",
        "2",
        *session.posargs,
    )


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, format and import contracts."""
    install(session, "lint")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("lint-imports")


@nox.session
def types(session: nox.Session) -> None:
    """Check types strictly."""
    install(session, "types")
    session.run("mypy")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation; a broken link is an error."""
    install(session, "docs")
    session.run("sphinx-build", "-q", "-W", "--keep-going", "-b", "html", "docs", "build/docs")


@nox.session
def bench(session: nox.Session) -> None:
    """Print what runs, reports and the plugin itself cost, as ratios to a baseline of the same minute."""
    install(session, "test")
    session.run("python", "-m", "tests.bench", *session.posargs)


@nox.session(name="coverage-study")
def coverage_study(session: nox.Session) -> None:
    """Simulate again how often the intervals hold and how often a null effect is claimed: drawn counts, then the effect standards."""
    install(session)
    session.run("python", "-m", "pytest_skilleval.core.statistics.simulate", *session.posargs)
    session.run("skilleval", "selftest", "--processes", "2")


@nox.session
def standards(session: nox.Session) -> None:
    """Make 20 sessions of each effect standard with both real CLIs in real sandboxes; what was made before is kept in `standards`."""
    install(session)
    env = {"SKILLEVAL_AGENT_PREFIX": str(agent_clis(session))}
    for agent in ("claude-code", "codex"):
        fixed = ("--agent", agent, "--sessions", "20", "--processes", "2")
        session.run("skilleval", "selftest", *fixed, *session.posargs, env=env, success_codes=[0, 1])

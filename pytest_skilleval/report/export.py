"""A report in the layouts of the Agent Skills standard and of the skill-creator tools: files by path, as bytes.

Both know no lost and no undecided runs: such runs get no grading.json, and the benchmark's notes name them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, stdev
from typing import Any, Literal

from pytest_skilleval.report.values import Document, RunRow

Dialect = Literal["standard", "skill-creator"]
METRICS = ("pass_rate", "time_seconds", "tokens")


def export(document: Document, dialect: Dialect) -> dict[str, bytes]:
    """Files of one iteration's folder, by path relative to it.

    ``standard`` (docs/skill-creation/evaluating-skills): ``eval-<name>/<configuration>/{grading,timing}.json`` and ``benchmark.json``;
    with several repeats every repeat is an eval of its own. ``skill-creator`` (references/schemas.md):
    ``eval-<name>/<configuration>/run-<n>/{grading,timing}.json`` and ``benchmark.json``. The arms of the first comparison are
    ``without_skill`` and ``with_skill``; other arms keep their names.
    """
    names = configurations(document)
    graded = [run for run in document.runs if _graded(run)]
    files: dict[str, Any] = {}
    for run in graded:
        folder = _folder(run, names, dialect, single=_single(document))
        files[f"{folder}/grading.json"] = _grading(run, dialect)
        files[f"{folder}/timing.json"] = {"total_tokens": _tokens(run), "duration_ms": round(run.seconds * 1000)}
    files["benchmark.json"] = _benchmark(document, graded, names, dialect)
    return {path: _bytes(content) for path, content in sorted(files.items())}


def configurations(document: Document) -> dict[str, str]:
    """Arm -> name of the configuration."""
    names = {run.arm: run.arm for run in document.runs}
    if document.effects:
        names |= {document.effects[0].from_: "without_skill", document.effects[0].to: "with_skill"}
    return names


def _graded(run: RunRow) -> bool:
    return run.verdict in ("pass", "fail")


def _single(document: Document) -> bool:
    return all(run.repeat == 1 for run in document.runs)


def _folder(run: RunRow, names: Mapping[str, str], dialect: Dialect, *, single: bool) -> str:
    configuration = names[run.arm]
    if dialect == "skill-creator":
        return f"eval-{_eval_name(run)}/{configuration}/run-{run.repeat}"
    return f"eval-{_eval_name(run)}{'' if single else f'-{run.repeat}'}/{configuration}"


def _eval_name(run: RunRow) -> str:
    """The case, with agent and model: never pooled."""
    return ".".join([run.case, run.agent, *([run.model] if run.model != "default" else [])]).replace("/", "-")


def _expectations(run: RunRow) -> list[dict[str, Any]]:
    """Decided checks; for a run without checks its verdict."""
    decided = [check for check in run.checks if check.verdict in ("held", "violated")]
    if not decided:
        return [{"text": f"{run.case} as expected", "passed": run.verdict == "pass", "evidence": run.reason}]
    return [
        {
            "text": f"{check.polarity} {check.id}" + (f" (turn {check.turn})" if check.turn else ""),
            "passed": check.verdict == "held",
            "evidence": check.detail,
        }
        for check in decided
    ]


def _summary(expectations: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    passed = sum(bool(one["passed"]) for one in expectations)
    return {"passed": passed, "failed": len(expectations) - passed, "total": len(expectations), "pass_rate": passed / len(expectations)}


def _grading(run: RunRow, dialect: Dialect) -> dict[str, Any]:
    expectations = _expectations(run)
    if dialect == "standard":
        return {"assertion_results": expectations, "summary": _summary(expectations)}
    left = [f"{check.id}: {check.detail}" for check in run.checks if check.verdict == "undecided"]
    return {
        "expectations": expectations,
        "summary": _summary(expectations),
        "execution_metrics": {"total_tool_calls": run.tool_calls, "total_steps": run.turns, "errors_encountered": 0},
        "timing": {"executor_duration_seconds": run.seconds, "total_duration_seconds": run.seconds},
        "claims": [],
        "user_notes_summary": {"uncertainties": left, "needs_review": [], "workarounds": []},
    }


def _benchmark(document: Document, graded: Sequence[RunRow], names: Mapping[str, str], dialect: Dialect) -> dict[str, Any]:
    compared = _compared(graded, names)
    summary = _run_summary(compared, names)
    delta = _delta(summary)
    notes = [*_notes(document), *_left_out(graded, compared)]
    if dialect == "standard":
        return {"run_summary": summary | {"delta": delta}, "notes": notes}
    return {
        "metadata": {
            "skill_name": document.skill,
            "executor_model": ", ".join(sorted({f"{run.agent} {run.model}" for run in graded})),
            "evals_run": sorted({_eval_name(run) for run in graded}),
            "runs_per_configuration": max((run.repeat for run in document.runs), default=0),
            "simulated": document.simulated,
        },
        "runs": [_run(run, names) for run in graded],
        "run_summary": summary | {"delta": {name: _signed(name, value) for name, value in delta.items()}},
        "notes": notes,
    }


def _run(run: RunRow, names: Mapping[str, str]) -> dict[str, Any]:
    expectations = _expectations(run)
    return {
        "eval_id": _eval_name(run),
        "eval_name": run.case,
        "configuration": names[run.arm],
        "run_number": run.repeat,
        "result": _summary(expectations) | {"time_seconds": run.seconds, "tokens": _tokens(run), "tool_calls": run.tool_calls, "errors": 0},
        "expectations": expectations,
        "notes": [run.reason] if run.reason else [],
    }


def _compared(graded: Sequence[RunRow], names: Mapping[str, str]) -> list[RunRow]:
    """The runs of evals that both sides of the comparison have, or all where there is no comparison.

    Means over different evals can't be held against each other, and trigger cases run only where the skill is installed.
    """
    sides = [{_eval_name(run) for run in graded if names[run.arm] == side} for side in ("without_skill", "with_skill")]
    shared = set.intersection(*sides)
    return [run for run in graded if _eval_name(run) in shared] if all(sides) else list(graded)


def _left_out(graded: Sequence[RunRow], compared: Sequence[RunRow]) -> Iterator[str]:
    left = sorted({_eval_name(run) for run in graded} - {_eval_name(run) for run in compared})
    if left:
        yield f"not in run_summary, because only one configuration has them: {', '.join(left)}"


def _run_summary(graded: Sequence[RunRow], names: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: {name: [] for name in METRICS})
    for run in graded:
        of_arm = found[names[run.arm]]
        of_arm["pass_rate"].append(_summary(_expectations(run))["pass_rate"])
        of_arm["time_seconds"].append(run.seconds)
        tokens = _tokens(run)
        if tokens is not None:
            of_arm["tokens"].append(tokens)
    return {arm: {name: _spread(values) for name, values in metrics.items() if values} for arm, metrics in sorted(found.items())}


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {"mean": fmean(values), "stddev": stdev(values) if len(values) > 1 else 0.0, "min": min(values), "max": max(values)}


def _delta(summary: Mapping[str, Any]) -> dict[str, float]:
    before, after = summary.get("without_skill", {}), summary.get("with_skill", {})
    return {name: after[name]["mean"] - before[name]["mean"] for name in METRICS if name in before and name in after}


def _signed(name: str, value: float) -> str:
    return f"{value:+.2f}" if name == "pass_rate" else f"{value:+.1f}" if name == "time_seconds" else f"{value:+.0f}"


def _notes(document: Document) -> Iterator[str]:
    if document.notice:
        yield document.notice
    yield document.headline.sentence
    for run in document.runs:
        if not _graded(run):
            yield f"{run.id}: {run.verdict or run.status}, not graded: {run.reason}"


def _tokens(run: RunRow) -> int | None:
    tokens = run.tokens
    if tokens.input is None:
        return None
    return sum(part or 0 for part in (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write))


def _bytes(content: Mapping[str, Any]) -> bytes:
    return json.dumps(_rounded(content), indent=2, ensure_ascii=False).encode() + b"\n"


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list) else value

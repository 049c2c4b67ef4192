"""What was fixed before the first run, and what is therefore tested."""

from __future__ import annotations

from pytest_skilleval.report import words
from pytest_skilleval.report.design import told
from pytest_skilleval.report.sections.shapes import Section
from pytest_skilleval.report.values import Document

EXPLORATORY = "Exploratory: described, not tested."


def design(document: Document) -> Section | None:
    """The lock, the looks, and which figures are primary."""
    plan = document.design
    if not plan.lock:
        return None
    pairs = words.listing([f"{before} → {after}" for before, after in plan.primary], 10) or "none"
    sentences = [
        f"Locked before the first run: the spec and its files (SHA-256 {plan.lock[:16]}…), the primary contrasts ({pairs}), the looks."
    ]
    sentences += [one] if (one := told(plan)) else []
    if plan.changed:
        sentences.append(f"Scored by another spec than the locked one ({'; '.join(plan.changed)}): every figure here is exploratory.")
    else:
        sentences.append(
            "Primary: the rows that say so among the differences in pass rate and in losses, and the gate. All else is exploratory."
        )
    return Section("What was fixed beforehand", tuple(sentences))

"""Recorded runs again: raw files -> evidence -> score -> report. No agent, no Docker, no network; the same code as live."""

from pytest_skilleval.rescoring.measuring import dressed_case, measure, measure_one
from pytest_skilleval.rescoring.recorded import record_spec, recorded_prices, recorded_spec
from pytest_skilleval.rescoring.reporting import look_ends, report_on

__all__ = ["dressed_case", "look_ends", "measure", "measure_one", "record_spec", "recorded_prices", "recorded_spec", "report_on"]

"""Drafts of specs: out of a SKILL.md, a runbook or the evals of other tools. Pure: text in, text and notes out."""

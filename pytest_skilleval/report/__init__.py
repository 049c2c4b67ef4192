"""Scored runs -> one Report value -> report.json, report.md, report.html and the lines of the terminal.

::

    facts      what the report needs to know of spec and session
    values     the Report and everything in it: the shape of report.json
    cells      counting: runs by kind, arm, agent, model and case
    build      runs + facts -> Report
    encode     Report <-> report.json, and its JSON Schema
    files      the three files of a results folder, each written whole or not at all
    terminal   one screen of text
    markdown, page   report.md and report.html
    compare    two reports: what changed beyond noise
    export     the layouts of the Agent Skills standard and of the skill-creator tools

Nothing is imported here; building a report loads numpy and scipy, so import the modules where they are used.
"""

"""The look of report.html: one style sheet, light and dark, for screens and paper."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --ink: #1d2430; --soft: #5b6472; --line: #dfe3ea; --paper: #ffffff; --card: #f6f7fa;
  --mark: #2f5fd0; --good: #1f7a4d; --bad: #b3322b; --warn: #8a5a00; --warn-paper: #fff4d6; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --soft: #9aa4b4; --line: #323a47; --paper: #14181f; --card: #1b212b;
  --mark: #86a8ff; --good: #6fd0a0; --bad: #ff8f86; --warn: #ffd479; --warn-paper: #3a2f12; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 28px 24px 64px; }
header p.skill { color: var(--soft); margin: 0; font-size: 14px; }
h1 { font-size: 25px; line-height: 1.3; margin: 4px 0 12px; text-wrap: balance; }
h2 { font-size: 19px; margin: 40px 0 8px; padding-top: 16px; border-top: 1px solid var(--line); }
h3 { font-size: 14px; margin: 22px 0 6px; color: var(--soft); font-weight: 600; }
p, li { max-width: 78ch; }
p.next { margin: 0 0 8px; }
ul { padding-left: 20px; margin: 8px 0; }
.banner { background: var(--warn-paper); color: var(--warn); border: 1px solid currentColor; border-radius: 8px;
  padding: 10px 14px; margin: 0 0 20px; font-weight: 600; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(210px, 1fr)); gap: 12px; margin: 18px 0 0; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 12px 14px; }
.card b { display: block; font-size: 26px; line-height: 1.2; font-variant-numeric: tabular-nums; }
.card span { color: var(--soft); font-size: 13px; display: block; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; }
th { text-align: left; color: var(--soft); font-weight: 600; font-size: 12.5px; border-bottom: 1px solid var(--line);
  vertical-align: bottom; }
th, td { padding: 6px 14px 6px 0; }
td { border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: break-word; min-width: 5ch; }
th.number, td.number { text-align: right; white-space: nowrap; }
td.span { white-space: nowrap; }
tbody tr:hover { background: var(--card); }
svg.span { display: block; width: 132px; height: 14px; margin-top: 2px; }
svg.span .axis { stroke: var(--line); }
svg.span .zero { stroke: var(--soft); stroke-dasharray: 2 2; }
svg.span .reach { stroke: var(--mark); stroke-width: 3; stroke-linecap: round; }
svg.span circle { fill: var(--mark); stroke: var(--paper); }
svg.strip { display: block; max-width: 100%; height: auto; }
svg.strip text { font-size: 12px; fill: var(--soft); } svg.strip .end { text-anchor: end; } svg.strip .middle { text-anchor: middle; }
svg.strip .axis { stroke: var(--line); } svg.strip .zero { stroke: var(--soft); stroke-dasharray: 2 2; }
svg.strip .reach { stroke: var(--line); stroke-width: 6; stroke-linecap: round; }
svg.strip circle { fill: var(--mark); stroke: var(--paper); } svg.strip .outside circle { fill: var(--bad); }
details > summary { cursor: pointer; font-size: 19px; font-weight: 700; margin-top: 40px; padding-top: 16px;
  border-top: 1px solid var(--line); }
footer { margin-top: 48px; color: var(--soft); font-size: 13px; }
@media (max-width: 640px) { main { padding: 16px 14px 40px; } h1 { font-size: 20px; } td, th { padding-right: 10px; }
  td.span { white-space: normal; }
  td { min-width: 9ch; } td.number { min-width: 0; } }
@media print { :root { --ink: #000; --soft: #444; --line: #bbb; --paper: #fff; --card: #fff; --mark: #000; --warn: #000;
  --warn-paper: #fff; }
  main { max-width: none; padding: 0; } h2, h3 { break-after: avoid; } tr, .card { break-inside: avoid; } .scroll { overflow: visible; }
  details::details-content { content-visibility: visible; block-size: auto; }
  body { font-size: 11px; } table { font-size: 10px; } }
""".strip()

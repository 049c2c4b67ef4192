"""Texts of which the front's tests make specs."""

SPEC = """\
skill: {skill}
defaults: {{agents: [{agent}], arms: [without, with], repeats: 2}}
agents: [claude-code, codex]
arms:
  without: {{role: baseline, exclude: [{skill}]}}
  with: {{role: treatment}}
contrasts: {{primary: [[without, with]]}}
cases:
"""

CASE = """\
  - id: {id}
    kind: outcome
    expects: improve
    family: {id}
    turns:
      - prompts: [Please put things in order., Make some room., Clean this place.]
        must:
          - {{id: says-yes, {check}}}
    rehearsals:
      - {{id: good, plays: {{skill: loaded}}, expect: pass, turns: [{{reply: "yes"}}]}}
      - {{id: bad, plays: {{skill: absent}}, expect: fail, trips: [says-yes], turns: [{{reply: "no"}}]}}
"""

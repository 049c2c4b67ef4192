"""The gateway between agents and models, and the scripted model that stands in for a real one."""

"""Time discretisations: how positions and velocities at the end of a step follow from accelerations."""

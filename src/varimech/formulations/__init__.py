"""Chains of stages for implicit steps or explicit rates, built from the equations of motion.
Independent of the choice of coordinates.
"""

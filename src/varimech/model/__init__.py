"""The description of a mechanism: parameters, bodies, joints, forces, drivers and initial
conditions. Contains no equations of motion.
"""

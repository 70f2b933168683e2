"""Certificates of gradients: how many digits can be trusted, and what limits them.

certify.py     evidence → judgement → report, in a `results.certificate.Certificate`
evidence       evidence.py gathers it: the gradient by other methods and with other steps, by a
               reference run (reference.py), and the properties of the motion (motion.py)
judgement      judgement.py: the number of digits on which all evidence agrees; agreement.py
               compares methods, plateau.py reads sweeps of differences
report         report.py: the findings in words
"""

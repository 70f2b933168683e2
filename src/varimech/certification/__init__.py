"""Certificates of gradients: how many digits can be trusted, and why no more.

certify.py     evidence → judgement → report, in a `results.certificate.Certificate`

evidence       evidence.py gathers it: the gradient by other methods and with other steps, by a run of
               another kind (reference.py), and what the motion shows (motion.py)
judgement      judgement.py: the digits that all evidence leaves; agreement.py compares methods,
               plateau.py reads sweeps of differences
report         report.py: the findings in words
"""

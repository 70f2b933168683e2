"""Figures and drawings of labelled data. Independent of models and runs."""

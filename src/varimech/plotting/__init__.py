"""Figures and drawings of plain labelled data. Independent of models and runs."""

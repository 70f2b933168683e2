"""For the eyes: figures and drawings of plain labelled data. Knows neither models nor runs."""

"""From a model and a scheme to runs: tasks, compiled programs, solvers and diagnosis of failures."""

"""Monte Carlo studies: samples drawn chunk by chunk, carried out somewhere, added up in their order."""

from __future__ import annotations

import hashlib
import os
import pickle
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import casadi as ca
import numpy as np

from ..backends.program import check_backend
from ..derivatives import Derivatives
from ..errors import ModelError, StudyError, VarimechError, check_numbers, unknown_name
from ..methods import RunOptions, choose
from ..progress import progress_bar
from ..programs import Wanted
from ..sensitivity.objective import Objective, Objectives, named_objectives
from ..solver import Solver
from ..task import Task
from .checkpoint import Checkpoint, check_same
from .chunks import Control, Outcome, Work
from .estimates import mean_of
from .executors import executor_of
from .expanding import at_means, sparse_output
from .sampling import KINDS, REPLICATES, Sampling, chunk_size
from .spreads import Correlation, Given, Spreads, spreads_of
from .study import Study
from .tally import Failure, Tally

JUDGED = 50
"""Samples after which the share of failures is judged; at the end in any case."""
LEVEL = 0.95
"""Probability of confidence intervals, where nothing else is said."""

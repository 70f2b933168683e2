/* Selection of independent coordinates: Gaussian elimination of Φ_q with full pivoting; columns without a
   pivot are independent. selection.py is the same in Python, and has the constants. */

/* Smallest pivot of an elimination of J (rows × columns, by columns, destroyed) that avoids columns with avoid[j] ≠ 0. Marks columns that got a
   pivot with 0, the others with 1. *rank is the rank to reach, 0 if not known, and returns the rank. *largest likewise: the largest entry of J. */
static double vm_eliminate(double *J, long long rows, long long columns, const double *avoid, double *independent, long long *rank, double *largest) {
  double smallest = 0;
  const long long most = *rank ? *rank : rows < columns ? rows : columns;
  for (long long j = 0; j < columns; ++j) independent[j] = 1;
  for (long long k = 0; k < most; ++k) {
    long long row = k, column = -1;
    double pivot = 0;
    for (long long j = 0; j < columns; ++j) {
      if (!independent[j] || (avoid && avoid[j])) continue;
      for (long long i = k; i < rows; ++i)
        if (fabs(J[j * rows + i]) > pivot) { pivot = fabs(J[j * rows + i]); row = i; column = j; }
    }
    if (*largest == 0) *largest = pivot;
    if (column < 0 || pivot <= VM_DEPENDENT * *largest) {
      if (*rank) return 0;
      *rank = k;
      return smallest;
    }
    smallest = pivot;
    independent[column] = 0;
    for (long long j = 0; j < columns; ++j) {
      const double swap = J[j * rows + k];
      J[j * rows + k] = J[j * rows + row];
      J[j * rows + row] = swap;
    }
    for (long long i = k + 1; i < rows; ++i) {
      const double factor = J[column * rows + i] / J[column * rows + k];
      for (long long j = 0; j < columns; ++j) if (independent[j]) J[j * rows + i] -= factor * J[j * rows + k];
    }
  }
  *rank = most;
  return smallest;
}

/* Select independent coordinates at a state, unless the present selection is still good. Returns a status. */
static int vm_select(vm_run *r, vm_workspace *m, const double *time, const double *state) {
  const long long n = r->coordinates, rows = r->conditions;
  double *J = m->jacobian, *kept = J + rows * n, *best = kept + n;
  long long rank = 0;
  double largest = 0;
  vm_of_positions(VM_JACOBIAN, r, m, r->values, time, state, J);
  const double reachable = vm_eliminate(J, rows, n, 0, best, &rank, &largest);
  if (r->selections) {
    vm_of_positions(VM_JACOBIAN, r, m, r->values, time, state, J);
    if (vm_eliminate(J, rows, n, r->chosen, kept, &rank, &largest) >= VM_POOR * reachable) best = r->chosen;
  }
  if (best != r->chosen) {
    memcpy(r->chosen, best, (size_t)n * sizeof(double));
    ++r->selections;
  }
  return rank && reachable < VM_SINGULAR * largest ? VM_AT_SINGULARITY : VM_DONE;
}

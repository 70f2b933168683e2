/* Passing events in a run with given steps: a chain maps positions and velocities before an event to the state after it, and adds to the
   integrals. sensitivity/event_map.py has the equations; a row of data identifies the event, and begins with the modes before and after it. */

static int vm_due(vm_run *r, double end);
static void vm_store(vm_run *r, vm_workspace *m, double time, const double *state, const double *S, const double *psi, const double *psi_);

/* The row of the next given step, if it is a passage, or NULL. */
static const double *vm_next_passage(const vm_run *r) {
  const double number = r->passage_size && r->passages ? r->passages[r->done + 1] : 0;
  return number > 0 ? r->passage_rows + ((long long)number - 1) * r->passage_size : 0;
}

/* Modes of passages are stored after the parameters proper, and before the direction of second derivatives if there is one. */
static void vm_set_passage_modes(vm_run *r, const double *modes) {
  memcpy(r->values + r->mode_place, modes, (size_t)r->passage_modes * sizeof(double));
}

/* Pass an event. Returns a status. */
static int vm_pass_event(vm_run *r, vm_workspace *m, const double *row) {
  const long long n = r->states, o = r->objectives, p = r->parameters;
  const double begin = r->time, end = r->ends[r->done + 1], *const settings[] = {r->penalty, row, r->values, &begin};
  if (r->records) {
    double *record = r->records + (r->done - r->first_recorded) * r->record_size;
    record[0] = begin; record[1] = 0; record[2] = end;
    memcpy(record + 3, m->X, (size_t)n * sizeof(double));
  }
  if (!vm_solve(VM_PASSAGE, r, m, m->X, m->X_, settings, 4, m->passed, m->passed_)) return vm_unsolved(m);
  if (!vm_finite(m->passed, n + o)) return VM_NOT_FINITE;
  memcpy(m->X, m->passed, (size_t)n * sizeof(double));
  memcpy(m->X_, m->passed_, (size_t)(n * r->row) * sizeof(double));
  for (long long i = 0; i < o; ++i) {
    r->integral[i] += m->passed[n + i];
    for (long long c = 0; c < p; ++c) r->integral_gradient[i * p + c] += m->passed_[(n + i) * r->row + c];
  }
  vm_set_passage_modes(r, row + r->passage_modes);
  vm_evaluate_objectives(VM_INTEGRANDS, r, m, &end, m->X, m->X_, m->G, m->G_);
  if (r->switches) vm_evaluate_switches(r, m, end, m->X, m->sides); /* for the new modes and the new state */
  r->time = end;
  ++r->done;
  const int again = begin == end && (end == 0 || r->done == r->total); /* replace what was stored there */
  if (again) --r->stored;
  if (again || vm_due(r, end)) vm_store(r, m, end, m->X, m->X_, r->integral, r->integral_gradient);
  return r->selects ? vm_select(r, m, &end, m->X) : VM_DONE;
}

/* The time loop of a run; program.py describes it. */

/* Store a state with the integrals ψ and ψ' there. */
static void vm_store(vm_run *r, vm_workspace *m, double time, const double *state, const double *S, const double *psi, const double *psi_) {
  const long long k = r->stored++, o = r->objectives, p = r->parameters, n = r->states;
  if (r->times) r->times[k] = time;
  if (r->states_stored) memcpy(r->states_stored + k * n, state, (size_t)n * sizeof(double));
  for (long long i = 0; r->sensitivities && p && i < n; ++i) memcpy(r->sensitivities + (k * n + i) * p, S + i * r->row, (size_t)p * sizeof(double));
  vm_evaluate_objectives(VM_FINALS, r, m, &time, state, S, r->objectives_stored + k * o, r->gradients + k * o * p);
  for (long long i = 0; i < o; ++i) r->objectives_stored[k * o + i] += psi[i];
  for (long long i = 0; i < o * p; ++i) r->gradients[k * o * p + i] += psi_[i];
  if (r->samples) vm_store_samples(r, m, time, state, S, r->objectives_stored + k * o, r->gradients + k * o * p);
}

/* Store dense output at all output times before the end of an explicit step. Returns a status. */
static int vm_store_within(vm_run *r, vm_workspace *m, double begin, double h, double end) {
  const vm_scheme *s = r->scheme;
  const long long o = r->objectives, q = o * r->parameters, count = s->stages + 1 + s->extra;
  double weights[64];
  int status = VM_DONE;
  if (r->outputs[r->stored] < end) vm_fetch_stages(r, m);
  for (int first = 1; status == VM_DONE && r->outputs[r->stored] < end; first = 0) {
    const double time = r->outputs[r->stored];
    for (long long i = 0; first && i < s->extra && status == VM_DONE; ++i)
      status = vm_stage(r, m, vm_stage_time(begin, s->more_c[i], h, end), h, s->more + i * count, s->stages + 1 + i);
    if (status != VM_DONE) break;
    vm_dense_weights(s, (time - begin) / h, weights);
    status = vm_evaluate(VM_STEP, r, m, time, h, weights, count, m->Z, m->Z_);
    memcpy(m->psi, r->integral, (size_t)o * sizeof(double));
    memcpy(m->psi_, r->integral_gradient, (size_t)q * sizeof(double));
    vm_add(m->G, o, h, weights, count, m->psi);
    vm_add(m->G_, q, h, weights, count, m->psi_);
    if (status == VM_DONE) vm_store(r, m, time, m->Z, m->Z_, m->psi, m->psi_);
  }
  return status;
}

/* Whether residuals at three levels are those of an assembled mechanism. */
static int vm_closes(const double *residuals) { return residuals[0] <= 1e-6 && residuals[1] <= 1e-6 && residuals[2] <= 1e-6; }

/* Assemble the initial state from the guess, which is valid for nominal values; values far from nominal are reached in several continuation steps.
   Returns a status. */
static int vm_assemble(vm_run *r, vm_workspace *m) {
  const double time = 0, *const settings[] = {r->penalty, m->path_values, &time};
  memcpy(m->guess, r->guess, (size_t)r->coordinates * sizeof(double));
  for (long long k = 1; k <= r->parts; ++k) {
    for (long long i = 0; i < r->numbers; ++i)
      m->path_values[i] = k == r->parts ? r->values[i] : r->nominal[i] + (double)k / (double)r->parts * (r->values[i] - r->nominal[i]);
    if (!vm_solve(VM_START, r, m, m->guess, 0, settings, 3, m->X, m->X_) || !vm_finite(m->X, r->states) || !vm_closes(m->residuals)) return VM_NOT_ASSEMBLED;
    if (k < r->parts) memcpy(m->guess, m->X, (size_t)r->coordinates * sizeof(double));
  }
  vm_keep_largest(r->residuals, m->residuals, 3);
  if (r->columns) {
    memcpy(r->start_unknowns, m->x, (size_t)r->unknowns * sizeof(double));
    memcpy(r->start_unknowns + r->unknowns, m->y, (size_t)r->multipliers * sizeof(double));
  }
  return VM_DONE;
}

/* Set the penalty by nominal values: it is the same for all runs that differ in values only. */
static void vm_set_penalty(vm_run *r, vm_workspace *m) {
  const double time = r->time;
  vm_of_positions(VM_PENALTY, r, m, r->nominal, &time, r->anchor ? r->anchor : r->guess ? r->guess : r->state, r->penalty);
}

/* Store the initial state, or continue from a later one, and prepare for steps. Returns a status. */
static int vm_set_out(vm_run *r, vm_workspace *m) {
  const double time = r->time;
  vm_evaluate_objectives(VM_INTEGRANDS, r, m, &time, m->X, m->X_, m->G, m->G_);
  if (r->units || r->samples) {
    if (r->units) vm_evaluate_units(r, m, time, m->X, m->units);
    vm_scale_contacts(r, m);
    r->sought = VM_NONE;
    if (r->done == 0) vm_first_sides(r, m);
  }
  if (r->done == 0) vm_store(r, m, time, m->X, m->X_, r->integral, r->integral_gradient);
  if (r->done == 0 && r->tolerance > 0) r->proposal = vm_first_step(r, m);
  if (r->done == 0 && r->watches) r->proposal = VM_NEVER;
  if (r->switches) vm_evaluate_switches(r, m, time, m->X, m->sides);
  return r->selects ? vm_select(r, m, &time, m->X) : VM_DONE;
}

/* Assemble or copy the initial state. Returns a status. */
static int vm_begin(vm_run *r, vm_workspace *m) {
  const long long n = r->states;
  if (r->done == 0) vm_set_penalty(r, m);
  if (r->guess && r->done == 0) {
    const int status = vm_assemble(r, m);
    if (status != VM_DONE) return status;
  } else {
    memcpy(m->X, r->state, (size_t)n * sizeof(double));
    memcpy(m->X_, r->state_sensitivity, (size_t)(n * r->row) * sizeof(double));
  }
  return vm_set_out(r, m);
}

/* End of the current piece. */
static double vm_stop(vm_run *r) {
  if (!r->stops) return r->duration;
  while (r->stops[r->piece] <= r->time) ++r->piece;
  return r->stops[r->piece];
}

/* Length of the next step, and its end. A given step that an event or a jump divides is continued to its end. */
static double vm_next_step(vm_run *r, double *end) {
  if (r->watches) {
    const double stop = vm_given_end(r, r->grid + 1);
    *end = r->proposal < stop - r->time ? r->time + r->proposal : stop;
    return *end - r->time;
  }
  if (r->tolerance > 0) {
    const double stop = vm_stop(r), left = stop - r->time, longest = r->stops ? r->limits[r->piece] : r->longest;
    double h = r->proposal;
    if (h > longest) h = longest;
    r->kept_proposal = h;
    const int sought = (r->units && r->sought >= 0) || (r->switches && r->longer > 0); /* then its length is taken exactly */
    if (h >= left * (sought ? 1 : 1 - 1e-10)) h = left;
    else if (2 * h > left && !sought) h = left / 2;
    *end = h == left ? stop : r->time + h;
    r->proposal = h; /* reported if the step fails */
    return *end - r->time; /* as rounded, so that a run over the same ends takes the same steps */
  }
  *end = vm_given_end(r, r->done + 1);
  return r->ends ? *end - r->time : r->step;
}

/* An attempted step and its outcome; `event` is to be passed before it: VM_SHORTER for none, -1 at the start of a run. */
typedef struct { double h, end, error; long long event; int status; } vm_attempt;

/* Whether a step goes from one side of a jump to the other, or is the remainder of a given step. */
static int vm_bridges(const vm_run *r, const vm_attempt *a) {
  const int last = r->watches ? a->end == vm_given_end(r, r->grid + 1) : r->stops && a->end == r->stops[r->piece];
  return last && a->h <= VM_BRIDGE * r->duration;
}

static int vm_too_short(const vm_run *r, const vm_attempt *a) { return vm_chooses(r) && !vm_bridges(r, a) && !(a->h > VM_SHORTEST * r->duration); }

/* Compute state and integrands at the end of a step. Returns a status. */
static int vm_move(vm_run *r, vm_workspace *m, double h, double end) {
  const long long n = r->states, o = r->objectives, k = vm_last_stage(r);
  const double *const settings[] = {&h, r->penalty, r->values, &end};
  double *next = m->X + k * n, *next_ = m->X_ + k * n * r->row;
  if (r->scheme) return vm_explicit_step(r, m, r->time, h, end);
  if (vm_is_short(r, h)) return vm_short_step(r, m, h, end);
  if (!vm_solve(VM_STEP, r, m, m->X, m->X_, settings, 4, next, next_)) return vm_unsolved(m);
  if (!vm_finite(next, n)) return VM_NOT_FINITE;
  vm_keep_solved(r, m, 0);
  vm_evaluate_objectives(VM_INTEGRANDS, r, m, &end, next, next_, m->G + k * o, m->G_ + k * o * r->parameters);
  return VM_DONE;
}

/* Whether jumps and its error allow to accept a step; sets its error over the allowed one if steps are adaptive. Returns a status. */
static int vm_judge(vm_run *r, vm_workspace *m, vm_attempt *a) {
  const double h = a->h, end = a->end, *next = m->X + vm_last_stage(r) * r->states;
  const int bridge = vm_bridges(r, a);
  const int looks = r->switches && r->watches && !vm_is_across(r, h), peeks = looks && (r->scheme ? vm_peeks(r, m, h, end) : !vm_is_short(r, h) && vm_turns_back(r, m, h, end));
  if (r->switches) vm_evaluate_switches(r, m, end, next, m->sides_next);
  const int crossing = r->switches && vm_changed(r, m, 0) >= 0, across = crossing && vm_is_across(r, h);
  if ((crossing || peeks || (looks && vm_hidden(r, m, h) > 0)) && !across && !bridge && vm_chooses(r)) return VM_CROSSING;
  if (r->tolerance > 0) {
    if (vm_projections_failed(r, m)) return VM_NO_CONVERGENCE;
    a->error = bridge || across ? 0 : vm_error(r, m, h);
    if (!(a->error <= 1)) return VM_DONE;
  }
  if (r->scheme && vm_amplified(r, m)) return VM_AMPLIFIED;
  return VM_DONE;
}

/* Attempt a step. */
static void vm_try(vm_run *r, vm_workspace *m, vm_attempt *a) {
  a->status = vm_too_short(r, a) ? VM_UNDERFLOW : vm_move(r, m, a->h, a->end);
  if (a->status == VM_DONE) a->status = vm_judge(r, m, a);
}

/* Whether the end of a step is stored. */
static int vm_due(vm_run *r, double end) {
  const long long number = r->watches ? r->grid : r->done;
  if (r->watches && end != vm_given_end(r, number)) return 0;
  if (!r->outputs) return number % r->stride == 0 || number == r->total;
  if (!r->at_steps) return r->outputs[r->stored] == end;
  const int due = r->outputs[r->passed] <= end;
  while (end < r->duration && r->outputs[r->passed] <= end) ++r->passed;
  return due;
}

/* Accept a step: its end becomes the beginning of the next. Returns a status. */
static int vm_accept(vm_run *r, vm_workspace *m, double h, double end) {
  const vm_scheme *s = r->scheme;
  const long long n = r->states, nr = n * r->row, o = r->objectives, q = o * r->parameters, k = vm_last_stage(r);
  vm_keep_largest(r->residuals, m->residuals, 3);
  if (r->records) vm_record(r, m, h, end);
  if (s && r->outputs && !r->at_steps) {
    const int status = vm_store_within(r, m, r->time, h, end);
    if (status != VM_DONE) return status;
  }
  if (s) vm_add_integrals(r, m, h);
  else {
    for (long long i = 0; i < o; ++i) r->integral[i] += h / 2 * (m->G[i] + m->G[o + i]);
    for (long long i = 0; i < q; ++i) r->integral_gradient[i] += h / 2 * (m->G_[i] + m->G_[q + i]);
  }
  if (r->units && !vm_chooses(r)) vm_evaluate_units(r, m, end, m->X + k * n, m->units_next);
  if (r->switches) {
    const int status = vm_pass(r, m, h, end);
    if (status != VM_DONE) return status;
  }
  memcpy(m->X, m->X + k * n, (size_t)n * sizeof(double));
  memcpy(m->X_, m->X_ + k * nr, (size_t)nr * sizeof(double));
  memcpy(m->G, m->G + k * o, (size_t)o * sizeof(double));
  memcpy(m->G_, m->G_ + k * q, (size_t)q * sizeof(double));
  r->time = end;
  r->approaches = 0;
  ++r->done;
  if (r->watches && end == vm_given_end(r, r->grid + 1)) ++r->grid;
  if (r->taken) r->taken[r->done] = end;
  if (r->units) {
    memcpy(m->units, m->units_next, (size_t)(VM_UNIT_VALUES * r->units) * sizeof(double));
    vm_scale_contacts(r, m);
    r->sought = VM_NONE;
    if (r->triggers && vm_chooses(r)) r->triggers[r->done] = 0;
  }
  if (vm_due(r, end)) vm_store(r, m, end, m->X, m->X_, r->integral, r->integral_gradient);
  return r->selects ? vm_select(r, m, &end, m->X) : VM_DONE;
}

/* Whether an adaptive run makes almost no progress. */
static int vm_stalled(vm_run *r) {
  const long long tries = r->done + r->rejected;
  if (!vm_chooses(r) || tries < r->check_tries + VM_TRIES) return 0;
  if (r->time < r->check_time + VM_PROGRESS * r->duration) return 1;
  r->check_time = r->time;
  r->check_tries = tries;
  return 0;
}

/* Whether a given step is an event, which has no length. Returns the unit whose mode ends, -1 at the start of a run, or VM_SHORTER for a step. */
static long long vm_given_event(const vm_run *r) {
  const double trigger = r->units && r->ends && r->triggers && !r->watches ? r->triggers[r->done + 1] : 0;
  return trigger == 0 ? VM_SHORTER : trigger < 0 ? -1 : (long long)trigger - 1;
}

/* Whether this call takes more steps. */
static int vm_goes_on(const vm_run *r) {
  return r->done < r->last && (r->total ? (r->watches ? r->grid : r->done) < r->total : r->time < r->duration);
}

/* The first attempt of this call. */
static vm_attempt vm_first_attempt(vm_run *r, vm_workspace *m) {
  vm_attempt a = {0, 0, 0, VM_SHORTER, VM_DONE};
  if (r->units && r->done == 0 && vm_chooses(r)) {
    a.status = vm_first_contacts(r, m);
    if (a.status == VM_SETTLE) { a.event = -1; a.status = VM_DONE; }
  }
  return a;
}

/* Pass events and choose the next step. Returns whether there is one; otherwise none are left, or the status gives the reason. Events are passed
   at one place only, because a GPU's compiler inlines all of it. */
static int vm_prepare(vm_run *r, vm_workspace *m, vm_attempt *a) {
  while (a->status == VM_DONE && !r->stopped && (a->event != VM_SHORTER || vm_goes_on(r))) {
    const double *passage = vm_next_passage(r);
    if (passage) { a->status = vm_pass_event(r, m, passage); r->culprit = VM_NONE; continue; }
    if (a->event == VM_SHORTER) a->event = vm_given_event(r);
    if (a->event == VM_SHORTER) {
      a->error = 0;
      a->h = vm_next_step(r, &a->end);
      if (vm_stalled(r)) a->status = VM_STALLED;
      return a->status == VM_DONE;
    }
    a->status = vm_event(r, m, a->event);
    if (a->event < 0 && a->status == VM_DONE) { /* modes of contacts at the start are determined: replace what was stored there */
      r->stored = 0;
      vm_store(r, m, r->time, m->X, m->X_, r->integral, r->integral_gradient);
    }
    if (a->status != VM_DONE) r->proposal = VM_AT_ONCE;
    if (a->status == VM_NO_CONVERGENCE || a->status == VM_NOT_FINITE) r->culprit = a->event;
    a->event = VM_SHORTER;
  }
  return 0;
}

/* Reject a step and propose another length. */
static void vm_reject(vm_run *r, vm_attempt *a, double length) {
  r->proposal = length;
  a->status = VM_DONE;
  ++r->rejected;
}

/* Whether a step is rejected; then the next one is proposed. */
static int vm_rejected(vm_run *r, vm_workspace *m, vm_attempt *a) {
  const int shorter = a->status == VM_NO_CONVERGENCE || a->status == VM_NOT_FINITE; /* the step may just be too long */
  if (shorter && r->watches && r->switches && r->rates && !r->scheme && !vm_is_short(r, a->h))
    vm_reject(r, a, a->h / 2); /* just before a jump, an implicit step may have no solution */
  else if (a->status == VM_CROSSING) {
    vm_raise(&r->longer, a->h);
    const double length = vm_approach(r, m, a->h);
    vm_reject(r, a, ++r->approaches % VM_PATIENCE == 0 && length > a->h / 2 ? a->h / 2 : length);
  } else if (r->tolerance > 0 && (shorter || (a->status == VM_DONE && !(a->error <= 1)))) {
    r->sought = VM_NONE;
    vm_reject(r, a, a->h * (a->status == VM_DONE && a->error > 1 ? vm_growth(r, a->error) : 0.25));
  } else return 0;
  return 1;
}

/* Accept or reject an attempted step, and propose the next one. */
static void vm_conclude(vm_run *r, vm_workspace *m, vm_attempt *a) {
  const double h = a->h, end = a->end;
  const int chosen = vm_chooses(r);
  if (vm_rejected(r, m, a)) return;
  long long found = VM_NONE;
  if (a->status == VM_DONE && chosen && r->units) {
    double length;
    vm_evaluate_units(r, m, end, m->X + vm_last_stage(r) * r->states, m->units_next);
    found = vm_first_event(r, m, h, &length);
    if (found >= 0 && length > 0 && length <= 2 * VM_SHORTEST * r->duration) { /* immediately */
      if (r->watches) r->proposal = VM_NEVER;
      a->event = found;
      return;
    }
    if (found != VM_NONE && length > 0) {
      vm_raise(&r->longer, h);
      vm_reject(r, a, length);
      return;
    }
  }
  if (a->status == VM_DONE) a->status = vm_accept(r, m, h, end);
  if (a->status != VM_DONE || !chosen) return;
  if (r->watches) {
    vm_raise(&r->velocity_scale, vm_size(m->X + r->coordinates, r->coordinates));
    vm_scale_integrands(r, m);
    r->proposal = VM_NEVER;
  } else {
    vm_scale(r, m, 0);
    vm_scale_integrands(r, m);
    r->proposal = h * vm_growth(r, a->error);
    if (r->stops && end == r->stops[r->piece]) vm_raise(&r->proposal, r->kept_proposal); /* the end of the piece shortened it, not its error */
    if (found >= 0 || (r->switches && vm_is_across(r, h))) { vm_raise(&r->proposal, r->longer); r->longer = 0; } /* or a jump did */
  }
  if (found >= 0) a->event = found;
}

/* Take the steps of this call. Returns a status. */
static int vm_steps(vm_run *r, vm_workspace *m) {
  vm_attempt a = vm_first_attempt(r, m);
  while (vm_prepare(r, m, &a)) {
    vm_try(r, m, &a);
    vm_conclude(r, m, &a);
  }
  return a.status;
}

/* Store the state at which an event has ended the run; it replaces the state at the end of the last step, if that was stored. */
static void vm_store_stop(vm_run *r, vm_workspace *m, int stored) {
  const long long o = r->objectives, p = r->parameters, k = r->stored - (stored ? 1 : 0);
  r->stored = k;
  vm_store(r, m, r->time, m->X, m->X_, r->integral, r->integral_gradient);
  if (!p || !o) return;
  vm_values_at(VM_FINAL_TIME, r, m, r->time, m->X, m->psi);
  for (long long i = 0; i < o; ++i) for (long long c = 0; c < p; ++c) r->gradients[(k * o + i) * p + c] += m->psi[i] * m->shift[c];
}

/* Store the results at the end of this call. */
static void vm_leave(vm_run *r, vm_workspace *m, int status) {
  if (status == VM_DONE && r->stopped == 1) {
    vm_store_stop(r, m, r->times ? r->stored > 0 && r->times[r->stored - 1] == r->time : 0);
    r->stopped = 2;
  }
  memcpy(r->state, m->X, (size_t)r->states * sizeof(double));
  memcpy(r->state_sensitivity, m->X_, (size_t)(r->states * r->row) * sizeof(double));
}

/* Begin or continue a run, and take steps. Returns a status. */
static int vm_advance(vm_run *r, vm_workspace *m) {
  int status = vm_begin(r, m);
  if (status == VM_DONE) status = vm_steps(r, m);
  vm_leave(r, m, status);
  return status;
}

/* Passing an event: impact, modes, samples, and derivatives across it. events.py has the equations; the Python modules implement the same. */

/* Number of the watched function of a unit, one of three: gap, slip or a stated function; normal force, or limit − T; limit + T. */
static long long vm_function_of(const vm_run *r, const vm_workspace *m, long long i) {
  if (vm_kind(r, i) >= VM_EVENT || *vm_mode(r, i, 0) == 0) return 3 * i;
  return 3 * i + (vm_kind(r, i) == VM_FRICTION && m->units[VM_UNIT_VALUES * i + VM_TANGENTIAL] < 0 ? 2 : 1);
}

/* Compute the rates of a whole state along the motion: those of accelerations and multipliers are derivatives of the rates with respect to time,
   in one column. Returns whether these are known. */
static int vm_motion(vm_run *r, vm_workspace *m, double time, const double *state, double *motion) {
  const long long n = r->states, c = r->coordinates;
  const vm_settings s = vm_settings_at(r, &time);
  const double *seeds = r->seeds;
  memset(motion, 0, (size_t)n * sizeof(double));
  memcpy(motion, state + c, (size_t)(2 * c) * sizeof(double));
  if (!r->seed_rows || !r->parameters) return 0;
  memset(m->event_seeds, 0, (size_t)(r->seed_rows * r->row) * sizeof(double));
  m->event_seeds[(r->seed_rows - 1) * r->row] = 1;
  memset(m->Y_, 0, (size_t)(2 * c * r->row) * sizeof(double));
  for (long long j = 0; j < 2 * c; ++j) m->Y_[j * r->row] = state[c + j];
  r->seeds = m->event_seeds;
  const int solved = vm_solve(r->rates ? VM_RATES : VM_STEP, r, m, state, m->Y_, s.list, s.count, m->event_state, m->event_slopes);
  r->seeds = seeds;
  for (long long j = 2 * c; j < n; ++j) motion[j] = solved ? m->event_slopes[j * r->row] : NAN;
  return 1;
}

/* Evaluate the gradients of all watched functions at a state: by state, direction, parameter, and time. */
static void vm_unit_gradient(vm_run *r, vm_workspace *m, double time, const double *state) {
  const long long k = 3 * r->units;
  double *p = m->unit_slopes;
  m->scratch.arg[0] = state; m->scratch.arg[1] = r->values; m->scratch.arg[2] = &time;
  m->scratch.res[0] = p; p += k * r->states;
  m->scratch.res[1] = p; p += k * r->parameters;
  m->scratch.res[2] = p; p += k * r->numbers;
  m->scratch.res[3] = p;
  vm_call(VM_UNIT_GRADIENT, r, m);
}

/* Rate of watched function f along the motion at a state; its gradients must have been evaluated. */
static double vm_watched_rate(vm_run *r, vm_workspace *m, double time, const double *state, long long f) {
  const long long n = r->states, c = r->coordinates, k = 3 * r->units;
  const double *slopes = m->unit_slopes + f * n;
  double rate = m->unit_slopes[k * (n + r->parameters + r->numbers) + f];
  int deep = 0;
  for (long long j = 2 * c; j < n; ++j) if (slopes[j] != 0) deep = 1;
  if (deep && !vm_motion(r, m, time, state, m->event_motion)) return NAN;
  if (!deep) memcpy(m->event_motion, state + c, (size_t)(2 * c) * sizeof(double));
  for (long long j = 0; j < (deep ? n : 2 * c); ++j) rate += slopes[j] * m->event_motion[j];
  return rate;
}

/* Compute derivatives across an event, from X_ (before) through the impact to the first stage; see events.py. Returns a status. */
static int vm_differentiate_event(vm_run *r, vm_workspace *m, int impacts) {
  const long long n = r->coordinates, p = r->parameters, o = r->objectives, row = r->row;
  const double *x = m->event_before;
  const vm_settings s = vm_settings_at(r, &r->time);
  for (long long c = 0; c < p; ++c)
    for (long long j = 0; j < 2 * n; ++j) m->X_[j * row + c] += x[n + j] * m->shift[c];
  if (impacts) {
    const vm_settings bare = {{r->penalty, r->values, &r->time, 0}, 3};
    const double *seeds = r->seeds;
    if (r->seed_rows) {
      memcpy(m->event_seeds, seeds, (size_t)(r->seed_rows * row) * sizeof(double));
      for (long long c = 0; c < p; ++c) m->event_seeds[(r->seed_rows - 1) * row + c] = m->shift[c];
      r->seeds = m->event_seeds;
    }
    const int solved = vm_solve(VM_IMPACT, r, m, x, m->X_, bare.list, bare.count, m->Z, m->Z_);
    r->seeds = seeds;
    if (!solved) return vm_unsolved(m);
  } else memcpy(m->Z_, m->X_, (size_t)(2 * n * row) * sizeof(double));
  for (long long c = 0; c < p; ++c) {
    for (long long j = 0; j < 2 * n; ++j) m->Z_[j * row + c] -= m->X[n + j] * m->shift[c];
    for (long long i = 0; i < o; ++i) r->integral_gradient[i * p + c] += (m->event_integrands[i] - m->G[i]) * m->shift[c];
  }
  if (!vm_solve(r->rates ? VM_RATES : VM_STEP, r, m, m->Z, m->Z_, s.list, s.count, m->Y, m->Y_)) return vm_unsolved(m);
  memcpy(m->X_, m->Y_, (size_t)(r->states * row) * sizeof(double));
  return VM_DONE;
}

enum { VM_AT_EVENT, VM_HIGHEST, VM_DEEPEST, VM_SAMPLE_FIELDS = 3 }; /* kinds of samples; fields are the kind, the unit, and the occurrence, 0 for the last */
enum { VM_AT_START = -1, VM_AT_END = -2, VM_NOWHERE = -3 };     /* place where a sample was taken; at events twice the number of the event, plus 1 after it */

static int vm_sample_kind(const vm_run *r, long long k) { return (int)r->sample_table[VM_SAMPLE_FIELDS * k]; }

/* Whether a value is the new extremum. */
static int vm_exceeds(const vm_run *r, long long k, double value) {
  const double kept = r->sample_values[k];
  return vm_sample_kind(r, k) != VM_AT_EVENT && (isnan(kept) || (vm_sample_kind(r, k) == VM_HIGHEST ? value > kept : value < kept));
}

/* Evaluate the gradients of all sampled functions at a state: by state, direction, parameter, and time. */
static void vm_sample_gradient(vm_run *r, vm_workspace *m, double time, const double *state) {
  const long long k = r->samples;
  double *p = m->sample_slopes;
  m->scratch.arg[0] = state; m->scratch.arg[1] = r->values; m->scratch.arg[2] = &time;
  m->scratch.res[0] = p; p += k * r->states;
  m->scratch.res[1] = p; p += k * r->parameters;
  m->scratch.res[2] = p; p += k * r->numbers;
  m->scratch.res[3] = p;
  vm_call(VM_SAMPLE_GRADIENT, r, m);
}

/* Derivative of sampled function k in direction c at a state with derivatives S, whose time moves by m->shift if `motion` is given. */
static double vm_sample_derivative(const vm_run *r, const vm_workspace *m, long long k, long long c, const double *S, const double *motion) {
  const long long n = r->states, q = r->samples;
  const double *slopes = m->sample_slopes + k * n, shift = motion ? m->shift[c] : 0;
  double sum = m->sample_slopes[q * n + k * r->parameters + c];
  for (long long j = 0; j < n; ++j) sum += slopes[j] * S[j * r->row + c];
  if (shift != 0) for (long long j = 0; j < n; ++j) sum += slopes[j] * motion[j] * shift;
  return shift != 0 ? sum + m->sample_slopes[q * (n + r->parameters + r->numbers) + k] * shift : sum;
}

/* Take the samples that are due at a state: those of the event of `trigger`, and extrema. Their time moves by m->shift if they `move`. */
static void vm_take_samples(vm_run *r, vm_workspace *m, double time, const double *state, const double *S, long long trigger, int moves, double place) {
  int known = 0;
  vm_values_at(VM_SAMPLES, r, m, time, state, m->sampled);
  memcpy(m->sampled + r->samples, m->sampled, (size_t)r->samples * sizeof(double));
  for (long long k = 0; k < r->samples; ++k) {
    const double value = m->sampled[r->samples + k];
    int due = vm_exceeds(r, k, value);
    if (vm_sample_kind(r, k) == VM_AT_EVENT && trigger >= 0 && (long long)r->sample_table[VM_SAMPLE_FIELDS * k + 1] == trigger) {
      const double occurrence = r->sample_table[VM_SAMPLE_FIELDS * k + 2];
      due = occurrence == 0 || (r->sample_counts[k] += 1) == occurrence;
    }
    if (!due) continue;
    r->sample_values[k] = value;
    r->sample_places[k] = place;
    if (!r->parameters) continue;
    if (!known) {
      vm_sample_gradient(r, m, time, state);
      if (moves) vm_motion(r, m, time, state, m->event_motion);
      known = 1;
    }
    for (long long c = 0; c < r->parameters; ++c) r->sample_gradient[k * r->parameters + c] = vm_sample_derivative(r, m, k, c, S, moves ? m->event_motion : 0);
  }
}

/* Add the samples to the objectives at a stored state, which may be an extremum itself. */
static void vm_store_samples(vm_run *r, vm_workspace *m, double time, const double *state, const double *S, double *psi, double *psi_) {
  int known = 0;
  const long long p = r->parameters;
  vm_values_at(VM_SAMPLES, r, m, time, state, m->sampled);
  for (long long k = 0; k < r->samples; ++k) {
    const int here = vm_exceeds(r, k, m->sampled[k]);
    const int early = isnan(r->sample_values[k]) && !here && time < r->duration && !r->stopped; /* no event so far */
    const double value = here ? m->sampled[k] : early ? 0 : r->sample_values[k];
    if (here && p && !known) { vm_sample_gradient(r, m, time, state); known = 1; }
    for (long long i = 0; i < r->objectives; ++i) {
      const double factor = r->sample_factors[i * r->samples + k];
      if (factor == 0) continue;
      psi[i] += factor * value;
      for (long long c = 0; c < p; ++c) psi_[i * p + c] += factor * (here ? vm_sample_derivative(r, m, k, c, S, 0) : r->sample_gradient[k * p + c]);
    }
  }
}

/* End of the record of a step or an event: the watched function of an event from 2 on, 1 at the start of a run, 0 for a step; its rate; whether
   there was an impact; modes before and after it. */
static double *vm_record_tail(const vm_run *r, const double *record) { return (double *)record + r->record_size - 3 - 2 * r->modes; }

/* Record an event for the reverse sweep, with the state before it, and positions and velocities after the impact. */
static void vm_record_event(vm_run *r, const vm_workspace *m, long long f, double rate, int impacts) {
  double *record = r->records + (r->done - r->first_recorded) * r->record_size, *tail = vm_record_tail(r, record);
  record[0] = record[2] = r->time; record[1] = 0;
  memcpy(record + 3, m->event_before, (size_t)r->states * sizeof(double));
  memcpy(record + 3 + r->states, m->Z, (size_t)(2 * r->coordinates) * sizeof(double));
  tail[0] = (double)(f + 2); tail[1] = rate; tail[2] = impacts;
  memcpy(tail + 3, m->modes_before, (size_t)r->modes * sizeof(double));
  memcpy(tail + 3 + r->modes, vm_modes(r), (size_t)r->modes * sizeof(double));
}

/* Execute the actions of a stated event: it sets modes, or ends the run. */
static void vm_act(vm_run *r, long long trigger) {
  for (long long k = 0; k < r->actions; ++k)
    if ((long long)r->action_table[3 * k] == trigger) {
      const long long place = (long long)r->action_table[3 * k + 1];
      if (place >= 0) r->values[place] = r->action_table[3 * k + 2];
      else r->stopped = 1;
    }
}

/* Compute the derivatives of the time of an event, in all directions; f is the function that vanishes there, or -1. */
static void vm_shift_event(vm_run *r, vm_workspace *m, long long f, double rate) {
  const long long p = r->parameters, k = 3 * r->units;
  if (p) m->event_motion[0] = 0; /* largest displacement by a relative change of a parameter, as a share of the run */
  for (long long c = 0; c < p; ++c) {
    double sum = f < 0 ? 0 : m->unit_slopes[k * r->states + f * p + c];
    for (long long j = 0; f >= 0 && j < r->states; ++j) sum += m->unit_slopes[f * r->states + j] * m->X_[j * r->row + c];
    m->shift[c] = f < 0 ? 0 : -sum / rate;
    if (r->sensitivity_floors[c] > 0) vm_raise(&m->event_motion[0], fabs(m->shift[c]) / (r->sensitivity_floors[c] * r->duration));
  }
}

/* Compute derivatives of the state at the time of an event that ends the run; this time moves. */
static void vm_end_by_event(vm_run *r, vm_workspace *m) {
  vm_motion(r, m, r->time, m->X, m->event_motion);
  for (long long c = 0; c < r->parameters; ++c) {
    for (long long j = 0; j < r->states; ++j) m->X_[j * r->row + c] += m->event_motion[j] * m->shift[c];
    for (long long i = 0; i < r->objectives; ++i) r->integral_gradient[i * r->parameters + c] += m->G[i] * m->shift[c];
  }
}

/* Count an event and log it. Returns a status. */
static int vm_note_event(vm_run *r, long long trigger, int fires, const double *noted) {
  ++r->done;
  r->sought = VM_NONE;
  if (r->taken) r->taken[r->done] = r->time;
  if (r->triggers) r->triggers[r->done] = (double)(trigger < 0 ? -1 : trigger + 1);
  if (r->notes) {
    double *note = r->notes + VM_NOTED * r->done;
    memcpy(note, noted, (size_t)(VM_NOTED - 1) * sizeof(double));
    note[VM_NOTED - 1] = trigger < 0 ? 0 : vm_kind(r, trigger) >= VM_EVENT ? fires : vm_kind(r, trigger) == VM_FRICTION && !fires ? VM_QUIET : *vm_mode(r, trigger, 0);
  }
  if (r->mode_log) memcpy(r->mode_log + r->modes * r->done, vm_modes(r), (size_t)r->modes * sizeof(double));
  if (r->time > r->event_time + VM_INSTANT * r->duration) r->events_there = 0;
  r->event_time = r->time;
  r->culprit = trigger;
  return ++r->events_there > VM_REVISIONS * (r->units + 1) ? VM_ENDLESS : VM_DONE;
}

/* Update the sides of zero of stated functions after an event. The side of `trigger` is its sign, or, at zero, the sign of its rate, which a reset
   may have reversed. Sides of events that never fire are updated if the state `jumps`; all others have their own event then. */
static void vm_renew_sides(const vm_run *r, const vm_workspace *m, long long trigger, int jumps) {
  for (long long i = 0; i < r->units; ++i) {
    const double value = m->units[VM_UNIT_VALUES * i], rate = m->units[VM_UNIT_VALUES * i + 1];
    if (vm_kind(r, i) < VM_EVENT || isnan(value) || (i != trigger && !jumps)) continue;
    const int quiet = vm_kind(r, i) == VM_EXTREMUM || vm_field(r, i, VM_DIRECTION) == VM_NEVER_FIRES, clear = fabs(value) > VM_JUMPED * r->event_sides[r->units + i];
    if (quiet && i == trigger) r->event_sides[i] = 1 - r->event_sides[i];
    else if (clear && (quiet || i == trigger)) r->event_sides[i] = value < 0;
    else if (i == trigger) r->event_sides[i] = isnan(rate) || rate == 0 ? 1 - r->event_sides[i] : rate < 0;
  }
}

/* Pass an event at the beginning of a step: the mode of `trigger` ends (-1 at the start of a run: the modes of contacts that touch are
   determined). Returns a status. */
static int vm_event(vm_run *r, vm_workspace *m, long long trigger) {
  const int stated = trigger >= 0 && vm_kind(r, trigger) >= VM_EVENT, which = trigger >= 0 && vm_kind(r, trigger) == VM_FRICTION ? VM_SLIP : VM_GAP_RATE;
  int impacts = 0, fires = trigger >= 0;
  memcpy(m->modes_before, vm_modes(r), (size_t)r->modes * sizeof(double));
  memcpy(m->event_before, m->X, (size_t)r->states * sizeof(double));
  memcpy(m->event_integrands, m->G, (size_t)r->objectives * sizeof(double));
  if (stated) {
    const long long direction = vm_field(r, trigger, VM_DIRECTION);
    fires = vm_kind(r, trigger) == VM_EVENT && direction != VM_NEVER_FIRES && (direction == 0 || (direction < 0) == (r->event_sides[trigger] == 0));
    impacts = fires && vm_field(r, trigger, VM_RESETS);
  } else if (trigger >= 0) {
    impacts = vm_kind(r, trigger) == VM_CONTACT && *vm_mode(r, trigger, VM_CLOSED) == 0;
    fires = impacts || (vm_kind(r, trigger) == VM_FRICTION && !vm_turns(r, m, trigger));
  } else
    for (long long i = 0; i < r->units; ++i)
      if (vm_resets_at_start(r, m, i) || (vm_touches(r, m->units, i, -1) && m->units[VM_UNIT_VALUES * i + VM_GAP_RATE] < -vm_slow(r))) impacts = 1;
  const int halts = vm_halts(r, m, trigger);
  const long long f = trigger < 0 || (stated && !fires) || vm_turns(r, m, trigger) ? -1 : vm_function_of(r, m, trigger);
  const double before = trigger >= 0 ? m->units[VM_UNIT_VALUES * trigger + which] : 0;
  double rate = 1;
  if (f >= 0 && (r->parameters || r->records)) {
    vm_unit_gradient(r, m, r->time, m->X);
    rate = vm_watched_rate(r, m, r->time, m->X, f);
  }
  vm_shift_event(r, m, f, rate);
  const double moved = r->parameters ? m->event_motion[0] : 0;
  double together = 0; /* contacts that close at the same time */
  if (r->samples) vm_take_samples(r, m, r->time, m->X, m->X_, fires ? trigger : -1, f >= 0, 2 * (double)(r->done + 1));
  if (stated && fires) vm_act(r, trigger);
  memcpy(m->Z, m->X, (size_t)r->states * sizeof(double));
  if (r->stopped) {
    if (r->records) vm_record_event(r, m, f, rate, 2);
    vm_end_by_event(r, m);
    const double noted[] = {before, before, 0, rate, moved, 0, (double)f, 2};
    return vm_note_event(r, trigger, fires, noted);
  }
  int status = impacts ? vm_impact(r, m, trigger) : halts ? vm_halt(r, m, trigger) : VM_DONE;
  for (long long i = 0; impacts && i < r->units; ++i)
    together += vm_kind(r, i) == VM_CONTACT && *vm_mode(r, i, VM_CLOSED) == 0 && *vm_mode(r, i, VM_IMPACTS) != 0;
  const double impulse = impacts && !stated && trigger >= 0 ? m->units_next[VM_UNIT_VALUES * trigger + VM_NORMAL] : 0;
  if (stated && !fires) memcpy(m->Y, m->X, (size_t)r->states * sizeof(double)); /* nothing happens: modes that are about to end have their own event */
  else if (status == VM_DONE) status = vm_settle(r, m, trigger);
  if (status != VM_DONE) return status;
  if (r->records) vm_record_event(r, m, f, rate, impacts || halts);
  memcpy(m->X, m->Y, (size_t)r->states * sizeof(double));
  vm_evaluate_objectives(VM_INTEGRANDS, r, m, &r->time, m->X, m->X_, m->G, m->G_);
  if (r->parameters) {
    status = vm_differentiate_event(r, m, impacts || halts);
    vm_evaluate_objectives(VM_INTEGRANDS, r, m, &r->time, m->X, m->X_, m->G, m->G_);
  }
  if (r->samples) vm_take_samples(r, m, r->time, m->X, m->X_, -1, f >= 0, 2 * (double)(r->done + 1) + 1);
  vm_evaluate_units(r, m, r->time, m->X, m->units);
  if (r->switches) vm_evaluate_switches(r, m, r->time, m->X, m->sides); /* for the new modes and the new state */
  vm_scale_contacts(r, m);
  vm_renew_sides(r, m, stated ? trigger : -1, fires || !stated);
  if (impacts && stated && vm_field(r, trigger, VM_RESETS) == VM_OF_VELOCITIES && fabs(before) <= VM_ACCUMULATED * r->contact_speed) { r->culprit = trigger; return VM_ENDLESS; } /* accumulating resets */
  const double noted[] = {before, trigger >= 0 ? m->units[VM_UNIT_VALUES * trigger + which] : 0, impulse, rate, moved, together, (double)f, impacts || halts};
  const int counted = vm_note_event(r, trigger, fires, noted);
  return status == VM_DONE ? counted : status;
}

/* Begin a run: determine the sides of zero of stated functions, and the first values of extrema. */
static void vm_first_sides(vm_run *r, vm_workspace *m) {
  for (long long i = 0; i < r->units; ++i) {
    const double *u = m->units + VM_UNIT_VALUES * i;
    if (vm_kind(r, i) >= VM_EVENT) r->event_sides[i] = u[0] < 0 || (u[0] == 0 && u[1] < 0);
  }
  for (long long k = 0; k < r->samples; ++k) r->sample_values[k] = NAN, r->sample_places[k] = VM_NOWHERE, r->sample_counts[k] = 0;
  if (r->samples) vm_take_samples(r, m, r->time, m->X, m->X_, -1, 0, VM_AT_START);
}

/* Check contacts at the start of a run: VM_SETTLE if some touch, or friction acts. */
static int vm_first_contacts(vm_run *r, vm_workspace *m) {
  int touch = 0;
  for (long long i = 0; i < r->units; ++i)
    if (vm_kind(r, i) == VM_CONTACT) {
      const double gap = m->units[VM_UNIT_VALUES * i + VM_GAP];
      if (gap < -VM_OVERLAPS * r->contact_length) { r->culprit = i; return VM_OVERLAP; }
      touch |= gap <= vm_touch(r);
    } else if (vm_kind(r, i) == VM_FRICTION) touch |= vm_pressed(r, i, &vm_in_motion);
    else touch |= vm_resets_at_start(r, m, i);
  return touch ? VM_SETTLE : VM_DONE;
}

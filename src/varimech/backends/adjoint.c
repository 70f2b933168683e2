/* Reverse sweep: from the last recorded step to the first, derivatives of objectives with respect to states (costates, by rows, one column for
   each objective) and parameters. */

/* Record a step: its beginning, length and end; the states at its stages; unknowns and multipliers of iterated chains; the selection of
   independent coordinates. Call it before the end of the step becomes the beginning of the next. */
static void vm_record(vm_run *r, const vm_workspace *m, double h, double end) {
  const long long stages = r->scheme ? r->scheme->stages : 1, n = r->states, solved = r->unknowns + r->multipliers;
  double *record = r->records + (r->done - r->first_recorded) * r->record_size;
  record[0] = r->time; record[1] = h; record[2] = end;
  record += 3;
  memcpy(record, m->X, (size_t)(stages * n) * sizeof(double));
  record += stages * n;
  memcpy(record, m->solved, (size_t)(stages * solved) * sizeof(double));
  if (r->selects) memcpy(record + stages * solved, r->chosen, (size_t)r->coordinates * sizeof(double));
  if (r->units) *vm_record_tail(r, r->records + (r->done - r->first_recorded) * r->record_size) = 0;
}

/* target += factor x */
static void vm_gain(double *target, double factor, const double *x, long long count) {
  for (long long i = 0; i < count; ++i) target[i] += factor * x[i];
}

/* Compute the costate of a chain's initial state from that of its result, and add the contribution of the parameters to the gradient. `solved`:
   unknowns and multipliers of an iterated chain. */
static void vm_pull(int chain, vm_run *r, vm_workspace *m, const double *state, const double *solved, const double *const *settings, int count,
                    const double *costate, double *pulled) {
  const int linear = !vm_is_plan(r, chain + VM_LINEARISE);
  const double **arg = m->scratch.arg;
  *arg++ = state;
  if (vm_iterated(r, chain)) { *arg++ = solved; *arg++ = solved + r->unknowns; }
  if (!linear) *arg++ = costate;
  memcpy(arg, settings, (size_t)count * sizeof(double *));
  if (linear) {
    m->scratch.res[0] = m->coefficients;
    vm_call(chain + VM_LINEARISE, r, m);
    m->scratch.arg[0] = m->coefficients; m->scratch.arg[1] = costate;
  }
  m->scratch.res[0] = pulled; m->scratch.res[1] = m->contribution;
  vm_call(chain + VM_PULLBACK, r, m);
  vm_gain(r->gradient, 1, m->contribution, r->pulled * r->columns);
}

/* Compute the costate of positions and velocities from that of the state that the rates yield. */
static void vm_pull_rates(vm_run *r, vm_workspace *m, const double *state, const double *time) {
  const int chain = r->rates ? VM_RATES : VM_STEP;
  const vm_settings s = vm_settings_at(r, time);
  if (vm_iterated(r, chain)) { /* its unknowns are not recorded, so they are computed again */
    vm_solve(chain, r, m, state, m->Y_, s.list, s.count, m->Z, m->Z_);
    vm_keep_solved(r, m, 0);
  }
  vm_pull(chain, r, m, state, m->solved, s.list, s.count, r->costate, m->pulled);
}

/* Add the weighted contribution of integrands, or of final terms, at a state to costate and gradient. */
static void vm_pull_objectives(int function, vm_run *r, vm_workspace *m, double time, const double *state, double weight, double *costate) {
  if (vm_is_plan(r, function)) return;
  m->scratch.arg[0] = state; m->scratch.arg[1] = r->values; m->scratch.arg[2] = &time;
  m->scratch.res[0] = m->pulled; m->scratch.res[1] = m->contribution;
  vm_call(function, r, m);
  vm_gain(costate, weight, m->pulled, r->measured * r->columns);
  vm_gain(r->gradient, weight, m->contribution, r->numbers * r->columns);
}

/* Add the contribution of a combination of stages, (q, v) of the first + h Σ weights_j (v, a) of stage j, to their costates. */
static void vm_distribute(const vm_run *r, double h, const double *weights, long long count, const double *combined, double *costates) {
  const long long size = 2 * r->coordinates * r->columns, shift = r->coordinates * r->columns, stride = r->states * r->columns;
  vm_gain(costates, 1, combined, size);
  for (long long j = 0; j < count; ++j) if (weights[j] != 0) vm_gain(costates + j * stride + shift, h * weights[j], combined, size);
}

/* Pull back over a step of an implicit integrator, and over the weighted integrands at its beginning. */
static void vm_retreat_implicit(vm_run *r, vm_workspace *m, const double *record, double weight) {
  const double *const settings[] = {record + 1, r->penalty, r->values, record + 2}, *state = record + 3;
  const size_t bytes = (size_t)(r->states * r->columns) * sizeof(double);
  if (vm_is_short(r, record[1])) {
    const long long n = r->coordinates * r->columns;
    const double h = record[1];
    vm_ahead(r, state, 1, h, m->Y);
    vm_pull_rates(r, m, m->Y, record + 2);
    memset(r->costate, 0, bytes);
    vm_gain(r->costate, 1, m->pulled, 2 * n);
    vm_gain(r->costate + n, h, m->pulled, 2 * n);
    vm_gain(r->costate + 2 * n, h * h / 2, m->pulled, n);
  } else {
    vm_pull(VM_STEP, r, m, state, state + r->states, settings, 4, r->costate, m->pulled);
    memcpy(r->costate, m->pulled, bytes);
  }
  vm_pull_objectives(VM_INTEGRANDS + 2, r, m, record[0], state, weight, r->costate);
}

/* Pull back over a step of an explicit integrator. */
static void vm_retreat_explicit(vm_run *r, vm_workspace *m, const double *record) {
  const vm_scheme *s = r->scheme;
  const long long n = r->states, count = s->stages, size = n * r->columns, solved = r->unknowns + r->multipliers;
  const double begin = record[0], h = record[1], *X = record + 3, *unknowns = X + count * n, *chosen = unknowns + count * solved;
  double *costates = m->costates;
  memset(costates, 0, (size_t)(count * size) * sizeof(double));
  if (r->selects) memcpy(r->chosen, chosen, (size_t)r->coordinates * sizeof(double));
  for (long long i = count; i >= 1; --i) { /* the end, then stages */
    const double time = i == count ? record[2] : vm_stage_time(begin, s->c[i], h, record[2]), *weights = i == count ? s->b : s->a + i * count;
    const vm_settings t = vm_settings_at(r, &time);
    vm_combine(r, X, 1, h, weights, i, m->Y);
    vm_pull(i < count && r->rates ? VM_RATES : VM_STEP, r, m, m->Y, unknowns + (i - 1) * solved, t.list, t.count,
            i == count ? r->costate : costates + i * size, m->pulled);
    vm_distribute(r, h, weights, i, m->pulled, costates);
    if (s->b[i - 1] != 0) vm_pull_objectives(VM_INTEGRANDS + 2, r, m, vm_stage_time(begin, s->c[i - 1], h, record[2]), X + (i - 1) * n, h * s->b[i - 1], costates + (i - 1) * size);
  }
  memcpy(r->costate, costates, (size_t)size * sizeof(double));
}

/* Pull back over the passage of a jump at the end of a step from x to y: through the accelerations there. `shift` receives the derivative with
   respect to the time of the jump, for each objective. */
static void vm_retreat_jump(vm_run *r, vm_workspace *m, double begin, double end, const double *x, const double *y, double *shift) {
  const long long n = r->coordinates, c = r->columns, o = r->objectives;
  vm_pull_rates(r, m, y, &end);
  memset(r->costate, 0, (size_t)(r->states * c) * sizeof(double));
  memcpy(r->costate, m->pulled, (size_t)(2 * n * c) * sizeof(double));
  double *g = m->G, *g_next = m->G + o;
  m->scratch.arg[0] = x; m->scratch.arg[1] = r->values; m->scratch.arg[2] = &begin; m->scratch.res[0] = g;
  if (o) vm_call(VM_INTEGRANDS, r, m);
  m->scratch.arg[0] = y; m->scratch.arg[1] = r->values; m->scratch.arg[2] = &end; m->scratch.res[0] = g_next;
  if (o) vm_call(VM_INTEGRANDS, r, m);
  for (long long k = 0; k < o; ++k) {
    shift[k] = g[k] - g_next[k];
    for (long long j = n; j < 2 * n; ++j) shift[k] += r->costate[j * c + k] * (x[n + j] - y[n + j]);
  }
}

/* Add the contribution of the time of jump i to the costate at the beginning of the step across it, and to the gradient. */
static void vm_retreat_shift(vm_run *r, vm_workspace *m, long long i, double begin, const double *x, const double *shift) {
  const long long q = 2 * r->coordinates, k = r->switches, c = r->columns;
  vm_evaluate_switches(r, m, begin, x, m->sides);
  vm_switching_gradient(r, m, begin, x);
  const double rate = m->sides[2 * k + i], *of_parameters = m->slopes + q * k + k * r->parameters;
  for (long long s = 0; s < r->objectives; ++s) {
    for (long long j = 0; j < q; ++j) r->costate[j * c + s] -= shift[s] / rate * m->slopes[i * q + j];
    for (long long j = 0; j < r->numbers; ++j) r->gradient[j * c + s] -= shift[s] / rate * of_parameters[i * r->numbers + j];
  }
}

/* Add the contribution of the samples taken at a place to the costate of the state there, to the gradient, and, if their time moves, to `shift`,
   for each objective. */
static void vm_pull_samples(vm_run *r, vm_workspace *m, double place, double time, const double *state, double *shift) {
  const long long n = r->states, c = r->columns, q = r->samples;
  int known = 0;
  for (long long k = 0; k < q; ++k) {
    if (r->sample_places[k] != place) continue;
    if (!known) {
      vm_sample_gradient(r, m, time, state);
      if (shift) vm_motion(r, m, time, state, m->event_motion);
      known = 1;
    }
    const double *of_state = m->sample_slopes + k * n, *of_parameters = m->sample_slopes + q * (n + r->parameters) + k * r->numbers;
    double along = m->sample_slopes[q * (n + r->parameters + r->numbers) + k];
    for (long long j = 0; shift && j < n; ++j) along += of_state[j] * m->event_motion[j];
    for (long long i = 0; i < r->objectives; ++i) {
      const double factor = r->sample_factors[i * q + k];
      for (long long j = 0; j < n; ++j) r->costate[j * c + i] += factor * of_state[j];
      for (long long j = 0; j < r->numbers; ++j) r->gradient[j * c + i] += factor * of_parameters[j];
      if (shift) shift[i] += factor * along;
    }
  }
}

/* Take extrema at the end of a run, and add their contributions. */
static void vm_pull_last_samples(vm_run *r, vm_workspace *m) {
  vm_values_at(VM_SAMPLES, r, m, r->time, r->state, m->sampled);
  for (long long k = 0; k < r->samples; ++k) if (vm_exceeds(r, k, m->sampled[k])) r->sample_places[k] = VM_AT_END;
  vm_pull_samples(r, m, VM_AT_END, r->time, r->state, 0);
}

/* Pull back over the event that ended a run: the costate is that of the state at the time of the event, which moves. */
static void vm_retreat_stop(vm_run *r, vm_workspace *m, const double *record, double *shift) {
  const long long c = r->columns, o = r->objectives;
  const double *before = record + 3, time = record[0];
  vm_motion(r, m, time, before, m->event_motion);
  vm_values_at(VM_FINAL_TIME, r, m, time, before, shift);
  m->scratch.arg[0] = before; m->scratch.arg[1] = r->values; m->scratch.arg[2] = &time; m->scratch.res[0] = m->G;
  if (o) vm_call(VM_INTEGRANDS, r, m);
  for (long long i = 0; i < o; ++i) {
    shift[i] += m->G[i];
    for (long long j = 0; j < r->states; ++j) shift[i] += r->costate[j * c + i] * m->event_motion[j];
  }
}

/* Pull back over an event, from the state `after` it: the transpose of vm_differentiate_event. */
static void vm_retreat_event(vm_run *r, vm_workspace *m, const double *record, const double *after, long long number) {
  const long long n = r->coordinates, c = r->columns, o = r->objectives, f = (long long)vm_record_tail(r, record)[0] - 2, k = 3 * r->units;
  const double *tail = vm_record_tail(r, record), *before = record + 3, *Z = before + r->states, rate = tail[1], time = record[0];
  const vm_settings bare = {{r->penalty, r->values, &time, 0}, 3};
  double *shift = m->psi, *along_time = r->gradient + (r->pulled - 1) * c, *g = m->G, *g_next = m->G + o;
  if (tail[2] == 2) vm_retreat_stop(r, m, record, shift);
  else {
    for (long long i = 0; i < o; ++i) shift[i] = 0;
    if (r->samples) vm_pull_samples(r, m, 2 * (double)number + 1, time, after, f >= 0 ? shift : 0);
    vm_pull_rates(r, m, Z, &time);
    memset(r->costate, 0, (size_t)(r->states * c) * sizeof(double));
    memcpy(r->costate, m->pulled, (size_t)(2 * n * c) * sizeof(double));
    m->scratch.arg[0] = after; m->scratch.arg[1] = r->values; m->scratch.arg[2] = &time; m->scratch.res[0] = g_next;
    if (o) vm_call(VM_INTEGRANDS, r, m);
    for (long long i = 0; i < o; ++i) {
      shift[i] -= g_next[i];
      for (long long j = 0; j < 2 * n; ++j) shift[i] -= r->costate[j * c + i] * after[n + j];
    }
    if (tail[2] != 0) {
      for (long long i = 0; r->seed_rows && i < o; ++i) shift[i] -= along_time[i];
      vm_pull(VM_IMPACT, r, m, before, 0, bare.list, bare.count, r->costate, m->pulled);
      for (long long i = 0; r->seed_rows && i < o; ++i) shift[i] += along_time[i];
      memset(r->costate, 0, (size_t)(r->states * c) * sizeof(double));
      memcpy(r->costate, m->pulled, (size_t)(2 * n * c) * sizeof(double));
    }
    memcpy(vm_modes(r), tail + 3, (size_t)r->modes * sizeof(double));
    m->scratch.arg[0] = before; m->scratch.arg[1] = r->values; m->scratch.arg[2] = &time; m->scratch.res[0] = g;
    if (o) vm_call(VM_INTEGRANDS, r, m);
    for (long long i = 0; i < o; ++i) {
      shift[i] += g[i];
      for (long long j = 0; j < 2 * n; ++j) shift[i] += r->costate[j * c + i] * before[n + j];
    }
  }
  memcpy(vm_modes(r), tail + 3, (size_t)r->modes * sizeof(double));
  if (r->samples) vm_pull_samples(r, m, 2 * (double)number, time, before, f >= 0 ? shift : 0);
  if (f < 0) return; /* nothing happens, or it happens at the start of a run whatever the parameters */
  vm_unit_gradient(r, m, time, before);
  const double *of_state = m->unit_slopes + f * r->states, *of_parameters = m->unit_slopes + k * (r->states + r->parameters) + f * r->numbers;
  for (long long i = 0; i < o; ++i) {
    for (long long j = 0; j < r->states; ++j) r->costate[j * c + i] -= shift[i] / rate * of_state[j];
    for (long long j = 0; j < r->numbers; ++j) r->gradient[j * c + i] -= shift[i] / rate * of_parameters[j];
  }
}

/* Pull back over a passage; for an implicit scheme also over the weighted integrands at the end of the step before it. */
static void vm_retreat_passage(vm_run *r, vm_workspace *m, const double *record, long long number, double weight) {
  const double *row = r->passage_rows + ((long long)r->passages[number] - 1) * r->passage_size;
  const double *const settings[] = {r->penalty, row, r->values, record};
  const long long n = r->states, c = r->columns;
  memcpy(m->passed_costate, r->costate, (size_t)(n * c) * sizeof(double));
  memset(m->passed_costate + n * c, 0, (size_t)(r->objectives * c) * sizeof(double));
  for (long long i = 0; i < r->objectives; ++i) m->passed_costate[(n + i) * c + i] = 1;
  vm_set_passage_modes(r, row);
  vm_pull(VM_PASSAGE, r, m, record + 3, 0, settings, 4, m->passed_costate, m->pulled);
  memset(r->costate, 0, (size_t)(n * c) * sizeof(double));
  memcpy(r->costate, m->pulled, (size_t)(2 * r->coordinates * c) * sizeof(double));
  if (weight != 0) vm_pull_objectives(VM_INTEGRANDS + 2, r, m, record[0], record + 3, weight, r->costate);
}

/* Pull back over all recorded steps; r->state is the end of the last one. Includes final terms if r->to_end, and the assembly if r->from_start. */
static int vm_retreat(vm_run *r, vm_workspace *m) {
  const long long count = r->done - r->first_recorded;
  const double *records = r->records;
  const double last = count ? records[(count - 1) * r->record_size + 1] : 0;
  if (r->to_end) vm_pull_objectives(VM_FINALS + 2, r, m, r->time, r->state, 1, r->costate);
  if (r->to_end && r->samples) vm_pull_last_samples(r, m);
  if (!r->scheme && count) vm_pull_objectives(VM_INTEGRANDS + 2, r, m, r->time, r->state, last / 2, r->costate);
  for (long long k = count - 1; k >= 0; --k) {
    const double *record = records + k * r->record_size;
    const double crossed = r->crossed ? r->crossed[r->first_recorded + k + 1] : 0;
    const long long jump = crossed > 0 ? (long long)crossed : 0;
    const double *end = k == count - 1 ? r->state : record + r->record_size + 3; /* the state after the step */
    const double length_before = k > 0 ? record[1 - r->record_size] : 0; /* an event takes no time */
    if (r->passage_size && r->passages && r->passages[r->first_recorded + k + 1] != 0) {
      vm_retreat_passage(r, m, record, r->first_recorded + k + 1, r->scheme ? 0 : length_before / 2);
      continue;
    }
    if (r->units && *vm_record_tail(r, record) != 0) {
      vm_retreat_event(r, m, record, end, r->first_recorded + k + 1);
      if (!r->scheme) vm_pull_objectives(VM_INTEGRANDS + 2, r, m, record[0], record + 3, length_before / 2, r->costate);
      continue;
    }
    if (jump) vm_retreat_jump(r, m, record[0], record[2], record + 3, end, m->psi);
    if (r->scheme) vm_retreat_explicit(r, m, record);
    else vm_retreat_implicit(r, m, record, record[1] / 2 + length_before / 2);
    if (jump) vm_retreat_shift(r, m, jump - 1, record[0], record + 3, m->psi);
  }
  if (r->from_start && r->samples) vm_pull_samples(r, m, VM_AT_START, 0, count ? records + 3 : r->state, 0);
  if (r->from_start && r->guess) {
    const double time = 0, *const settings[] = {r->penalty, r->values, &time};
    vm_pull(VM_START, r, m, r->guess, r->start_unknowns, settings, 3, r->costate, m->pulled);
  }
  return VM_DONE;
}

/* A run; see program.py for what it does. */

#ifdef _WIN32
#define VM_EXPORT __declspec(dllexport)
#else
#define VM_EXPORT __attribute__((visibility("default")))
#endif

/* Stores a state, with what the integrals ψ and ψ' are there. */
static void vm_store(vm_run *r, vm_room *m, double time, const double *state, const double *S, const double *psi, const double *psi_) {
  const long long k = r->stored++, o = r->objectives, p = r->parameters, n = r->states;
  r->times[k] = time;
  memcpy(r->states_stored + k * n, state, (size_t)n * sizeof(double));
  for (long long i = 0; p && i < n; ++i) memcpy(r->sensitivities + (k * n + i) * p, S + i * r->row, (size_t)p * sizeof(double));
  vm_measure(VM_FINALS, r, m, &time, state, S, r->objectives_stored + k * o, r->gradients + k * o * p);
  for (long long i = 0; i < o; ++i) r->objectives_stored[k * o + i] += psi[i];
  for (long long i = 0; i < o * p; ++i) r->gradients[k * o * p + i] += psi_[i];
}

/* Stores what dense output gives at all times wanted before the end of an explicit step. Returns a status. */
static int vm_store_within(vm_run *r, vm_room *m, double begin, double h, double end, double *psi, double *psi_) {
  const vm_scheme *s = r->scheme;
  const long long o = r->objectives, q = o * r->parameters, count = s->stages + 1 + s->extra;
  double weights[64];
  int status = VM_DONE;
  for (int first = 1; status == VM_DONE && r->outputs[r->stored] < end; first = 0) {
    const double time = r->outputs[r->stored];
    for (long long i = 0; first && i < s->extra && status == VM_DONE; ++i)
      status = vm_stage(r, m, begin + s->more_c[i] * h, h, s->more + i * count, s->stages + 1 + i);
    if (status != VM_DONE) break;
    vm_dense_weights(s, (time - begin) / h, weights);
    status = vm_evaluate(VM_STEP, r, m, time, h, weights, count, m->Z, m->Z_);
    memcpy(psi, r->integral, (size_t)o * sizeof(double));
    memcpy(psi_, r->integral_gradient, (size_t)q * sizeof(double));
    vm_add(m->G, o, h, weights, count, psi);
    vm_add(m->G_, q, h, weights, count, psi_);
    if (status == VM_DONE) vm_store(r, m, time, m->Z, m->Z_, psi, psi_);
  }
  return status;
}

static int vm_carry_out(vm_run *r) {
  const vm_scheme *s = r->scheme;
  const long long n = r->states, o = r->objectives, q = o * r->parameters, nr = n * r->row, c = r->coordinates;
  const long long stages = s ? s->stages + 1 + s->extra : 2, last_stage = s ? s->stages : 1;
  double h = r->step, time = r->time;
  const double *const step_settings[] = {&h, r->penalty, r->values, &time};
  int status = VM_DONE;

  const long long doubles = stages * (n + nr + o + q) + 2 * (n + nr) + 2 * (r->unknowns + r->multipliers) + o + q + 2 * r->springs + r->reals +
                            r->workspace + r->coefficients + (r->selects ? r->conditions * c + 2 * c : 0);
  double *memory = calloc((size_t)(doubles + 1), sizeof(double));
  long long *iw = malloc((size_t)(r->integers + 1) * sizeof(long long));
  const double **arg = malloc((size_t)(r->arguments + 5) * sizeof(double *));
  double **res = malloc((size_t)(r->results + r->bases + 3) * sizeof(double *));
  if (!memory || !iw || !arg || !res) {
    free(memory); free(iw); free(arg); free(res);
    return VM_NO_MEMORY;
  }
  double *p = memory;
  vm_room room = {.bench = {arg, res, iw, p, res + r->results + 2}}, *m = &room; p += r->reals;
  m->X = p; p += stages * n; m->X_ = p; p += stages * nr;
  m->G = p; p += stages * o; m->G_ = p; p += stages * q;
  m->Y = p; p += n; m->Y_ = p; p += nr; m->Z = p; p += n; m->Z_ = p; p += nr;
  double *psi = p, *psi_ = p + o; p += o + q;
  double *twists = p, *twists_new = p + r->springs; p += 2 * r->springs;
  m->workspace = p; p += r->workspace;
  m->coefficients = p; p += r->coefficients;
  m->x = p; m->x_next = p + r->unknowns; p += 2 * r->unknowns;
  m->y = p; m->y_next = p + r->multipliers; p += 2 * r->multipliers;
  m->jacobian = p;

  /* the state at the beginning of a step is the first stage, the one at its end stands at last_stage */
  if (r->done == 0) vm_of_positions(VM_PENALTY, r, m, r->nominal, &time, r->guess ? r->guess : r->state, r->penalty);
  if (r->guess && r->done == 0) {
    const double *const settings[] = {r->penalty, r->values, &time};
    if (!vm_solve(VM_START, r, m, r->guess, 0, settings, 3, m->X, m->X_) || !vm_finite(m->X, n) ||
        !(m->residuals[0] <= 1e-6 && m->residuals[1] <= 1e-6 && m->residuals[2] <= 1e-6))
      status = VM_NO_START;
    else
      vm_keep_largest(r->residuals, m->residuals, 3);
  } else {
    memcpy(m->X, r->state, (size_t)n * sizeof(double));
    memcpy(m->X_, r->state_sensitivity, (size_t)nr * sizeof(double));
  }
  if (status == VM_DONE) {
    if (r->springs) vm_of_positions(VM_TWIST, r, m, r->values, &time, m->X, twists);
    if (r->selects) status = vm_select(r, m, &time, m->X);
    vm_measure(VM_INTEGRANDS, r, m, &time, m->X, m->X_, m->G, m->G_);
    if (r->done == 0) vm_store(r, m, time, m->X, m->X_, r->integral, r->integral_gradient);
    if (r->done == 0 && r->tolerance > 0) r->proposal = vm_first_step(r, m);
  }

  while (status == VM_DONE && r->done < r->last && (r->total ? r->done < r->total : r->time < r->duration)) {
    const double begin = r->time;
    double error = 0;
    if (r->tolerance > 0) {
      const double left = r->duration - begin;
      h = r->proposal;
      if (h > VM_LONGEST * r->duration) h = VM_LONGEST * r->duration;
      if (h >= left * (1 - 1e-10)) h = left;
      else if (2 * h > left) h = left / 2;
      r->proposal = h; /* what a failure is told with */
      time = h == left ? r->duration : begin + h;
      if (!(h > 1e-12 * r->duration)) { status = VM_UNDERFLOW; break; }
    } else {
      time = r->ends ? r->ends[r->done + 1] : (double)(r->done + 1) * h;
      if (r->ends) h = time - begin;
    }
    double *next = m->X + last_stage * n, *next_ = m->X_ + last_stage * nr;
    if (s) status = vm_explicit_step(r, m, begin, h, time);
    else if (!vm_solve(VM_STEP, r, m, m->X, m->X_, step_settings, 4, next, next_)) status = m->ratio <= 1e300 ? VM_NO_CONVERGENCE : VM_NOT_FINITE;
    else if (!vm_finite(next, n)) status = VM_NOT_FINITE;
    else vm_measure(VM_INTEGRANDS, r, m, &time, next, next_, m->G + o, m->G_ + q);
    if (status == VM_DONE && r->tolerance > 0 && vm_projections_failed(r, m)) status = VM_NO_CONVERGENCE;
    if (status == VM_DONE && r->tolerance > 0) error = vm_error(r, m, h);
    if (r->tolerance > 0 && !(status == VM_DONE && error <= 1)) {
      r->proposal = h * (status == VM_DONE && error > 1 ? vm_growth(r, error) : 0.25);
      status = VM_DONE;
      ++r->rejected;
      continue;
    }
    if (status != VM_DONE) break;
    if (s && vm_amplified(r, m)) { status = VM_AMPLIFIED; break; }
    if (r->springs) vm_of_positions(VM_TWIST, r, m, r->values, &time, next, twists_new);
    for (long long i = 0; i < r->springs && status == VM_DONE; ++i)
      if (fabs(twists_new[i] - twists[i]) > 3.141592653589793) { status = VM_OVERWOUND; r->failed_spring = i; }
    if (status == VM_OVERWOUND && r->tolerance > 0 && h > 1e-6 * r->duration) { /* perhaps only a long step */
      r->proposal = h / 4;
      status = VM_DONE;
      ++r->rejected;
      continue;
    }
    if (status != VM_DONE) break;
    vm_keep_largest(r->residuals, m->residuals, 3);
    { double *swap = twists; twists = twists_new; twists_new = swap; }

    if (r->outputs) status = vm_store_within(r, m, begin, h, time, psi, psi_);
    if (status != VM_DONE) break;
    if (s) {
      vm_add(m->G, o, h, s->b, s->stages, r->integral);
      vm_add(m->G_, q, h, s->b, s->stages, r->integral_gradient);
    } else {
      for (long long i = 0; i < o; ++i) r->integral[i] += h / 2 * (m->G[i] + m->G[o + i]);
      for (long long i = 0; i < q; ++i) r->integral_gradient[i] += h / 2 * (m->G_[i] + m->G_[q + i]);
    }
    memcpy(m->X, next, (size_t)n * sizeof(double));
    memcpy(m->X_, next_, (size_t)nr * sizeof(double));
    memcpy(m->G, m->G + last_stage * o, (size_t)o * sizeof(double));
    memcpy(m->G_, m->G_ + last_stage * q, (size_t)q * sizeof(double));
    r->time = time;
    ++r->done;
    if (r->taken) r->taken[r->done] = time;
    if (r->outputs ? r->outputs[r->stored] == time : (r->done % r->stride == 0 || r->done == r->total))
      vm_store(r, m, time, m->X, m->X_, r->integral, r->integral_gradient);
    if (r->selects) status = vm_select(r, m, &time, m->X);
    if (r->tolerance > 0) {
      vm_scale(r, m);
      r->proposal = h * vm_growth(r, error);
    }
  }

  memcpy(r->state, m->X, (size_t)n * sizeof(double));
  memcpy(r->state_sensitivity, m->X_, (size_t)nr * sizeof(double));
  free(memory); free(iw); free(arg); free(res);
  return status;
}

VM_EXPORT void vm_carry_out_all(vm_run *runs, long long count) {
  for (long long k = 0; k < count; ++k) runs[k].status = vm_carry_out(runs + k);
}

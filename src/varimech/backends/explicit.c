/* Steps of explicit Runge–Kutta schemes: stages, error, dense output. A state is q, v, a, λ, so its rates (v, a) are part of it. explicit.py is
   the same in Python, and has the constants. */

typedef struct { const double *list[4]; int count; } vm_settings;

static vm_settings vm_settings_at(const vm_run *r, const double *time) {
  vm_settings s = {{r->penalty, r->values, time, 0}, 3};
  if (r->selects) { vm_settings t = {{r->chosen, r->penalty, r->values, time}, 4}; s = t; }
  return s;
}

#define VM_BLOCK 8 /* numbers that are summed together, in registers */

/* Sum VM_BLOCK numbers, or a single one; stages are `stride` apart. */
static inline void vm_sum_block(const double *K, long long stride, const double *weights, long long count, const int block, double *result) {
  double sum[VM_BLOCK] = {0};
  for (long long j = 0; j < count; ++j)
    if (weights[j] != 0) for (int k = 0; k < block; ++k) sum[k] += weights[j] * K[j * stride + k];
  for (int k = 0; k < block; ++k) result[k] = sum[k];
}

/* result = Σ weights_j (v, a) of stage j; for derivatives a row has `width` numbers. */
static void vm_sum_rates(const vm_run *r, const double *X, long long width, const double *weights, long long count, double *result) {
  const long long size = 2 * r->coordinates * width, stride = r->states * width;
  const double *K = X + r->coordinates * width;
  long long i = 0;
#ifdef VM_THREADS
  if (width == 1) { /* a GPU keeps the whole result in registers, which are too few for derivatives; sums are added in the same order */
    for (; i < size; ++i) result[i] = 0;
    for (long long j = 0; j < count; ++j)
      if (weights[j] != 0) for (i = 0; i < size; ++i) result[i] += weights[j] * K[j * stride + i];
    return;
  }
#pragma unroll 1 /* unrolled, it fills all registers: 17 kB are moved to memory instead of 12 */
#endif
  for (; i + VM_BLOCK <= size; i += VM_BLOCK) vm_sum_block(K + i, stride, weights, count, VM_BLOCK, result + i);
  for (; i < size; ++i) vm_sum_block(K + i, stride, weights, count, 1, result + i);
}

/* result = (q, v) of the first stage + h Σ weights_j (v, a) of stage j */
static void vm_combine(const vm_run *r, const double *X, long long width, double h, const double *weights, long long count, double *result) {
  const long long size = 2 * r->coordinates * width;
  vm_sum_rates(r, X, width, weights, count, result);
  for (long long i = 0; i < size; ++i) result[i] = X[i] + h * result[i];
}

/* total += h Σ weights_j G_j */
static void vm_add(const double *G, long long size, double h, const double *weights, long long count, double *total) {
  for (long long i = 0; i < size; ++i) {
    double sum = 0;
    for (long long j = 0; j < count; ++j) if (weights[j] != 0) sum += weights[j] * G[j * size + i];
    total[i] += h * sum;
  }
}

#ifdef VM_WIDTH
static void vm_fetch_stages(const vm_run *r, vm_workspace *m); /* see lanes.c */
#else
/* Stages of a step are in the workspace. */
static void vm_fetch_stages(const vm_run *r, vm_workspace *m) {}
#endif

/* Add the increments of the integrals over a step. */
static void vm_add_integrals(vm_run *r, vm_workspace *m, double h) {
  const vm_scheme *s = r->scheme;
  const long long o = r->objectives, q = o * r->parameters;
#ifdef VM_WIDTH
  if (m->lane) {
    for (long long i = 0; i < o; ++i) r->integral[i] += h * m->lane->sums[i];
    for (long long i = 0; i < q; ++i) r->integral_gradient[i] += h * m->lane->sums[o + i];
    return;
  }
#endif
  vm_add(m->G, o, h, s->b, s->stages, r->integral);
  vm_add(m->G_, q, h, s->b, s->stages, r->integral_gradient);
}

/* Evaluate a chain at a combination of `count` stages. Returns a status. */
static int vm_evaluate(int chain, vm_run *r, vm_workspace *m, double time, double h, const double *weights, long long count, double *state, double *S) {
  const vm_settings s = vm_settings_at(r, &time);
  vm_combine(r, m->X, 1, h, weights, count, m->Y);
  if (r->parameters) vm_combine(r, m->X_, r->row, h, weights, count, m->Y_);
  if (!vm_solve(chain, r, m, m->Y, m->Y_, s.list, s.count, state, S)) return vm_unsolved(m);
  return vm_finite(state, r->states) ? VM_DONE : VM_NOT_FINITE;
}

static void vm_evaluate_integrands(vm_run *r, vm_workspace *m, double time, long long i) {
  const long long o = r->objectives, n = r->states;
  vm_evaluate_objectives(VM_INTEGRANDS, r, m, &time, m->X + i * n, m->X_ + i * n * r->row, m->G + i * o, m->G_ + i * o * r->parameters);
}

/* Store the solution of an iterated chain at a stage. */
static void vm_keep_solved(const vm_run *r, vm_workspace *m, long long i) {
  double *solved = m->solved + i * (r->unknowns + r->multipliers);
  if (!r->columns) return;
  memcpy(solved, m->x, (size_t)r->unknowns * sizeof(double));
  memcpy(solved + r->unknowns, m->y, (size_t)r->multipliers * sizeof(double));
}

/* Compute stage i, by the rates at a combination of the stages before it. Returns a status. */
static int vm_stage(vm_run *r, vm_workspace *m, double time, double h, const double *weights, long long i) {
  const long long n = r->states;
  const int status = vm_evaluate(r->rates ? VM_RATES : VM_STEP, r, m, time, h, weights, i, m->X + i * n, m->X_ + i * n * r->row);
  if (status == VM_DONE) vm_evaluate_integrands(r, m, time, i);
  if (i < r->scheme->stages) vm_keep_solved(r, m, i - 1);
  return status;
}

/* Rounding must not move a stage beyond the end of its step, where a force may jump. */
static double vm_stage_time(double begin, double c, double h, double end) {
  const double time = begin + c * h;
  return time > end ? end : time;
}

/* Take a step from the first stage, the state at its beginning; its end is stored after the stages. Returns a status. */
static int vm_explicit_step(vm_run *r, vm_workspace *m, double begin, double h, double end) {
  const vm_scheme *s = r->scheme;
  const long long n = r->states, count = s->stages;
  int status = VM_DONE;
  for (long long i = 1; i < count && status == VM_DONE; ++i) status = vm_stage(r, m, vm_stage_time(begin, s->c[i], h, end), h, s->a + i * count, i);
  if (status == VM_DONE) status = vm_evaluate(VM_STEP, r, m, end, h, s->b, count, m->X + count * n, m->X_ + count * n * r->row);
  if (status == VM_DONE) vm_evaluate_integrands(r, m, end, count);
  vm_keep_solved(r, m, count - 1);
  return status;
}

/* result = (q + h v + h²/2 a, v + h a) of a state; for derivatives a row has `width` numbers. */
static void vm_ahead(const vm_run *r, const double *X, long long width, double h, double *result) {
  const long long n = r->coordinates * width;
  for (long long i = 0; i < n; ++i) {
    result[i] = X[i] + h * (X[n + i] + h / 2 * X[2 * n + i]);
    result[n + i] = X[n + i] + h * X[2 * n + i];
  }
}

/* Take a step of an implicit integrator that is too short for it, by the accelerations at its beginning. Returns a status. */
static int vm_short_step(vm_run *r, vm_workspace *m, double h, double end) {
  const vm_settings s = vm_settings_at(r, &end);
  double *next = m->X + r->states;
  vm_ahead(r, m->X, 1, h, m->Y);
  if (r->parameters) vm_ahead(r, m->X_, r->row, h, m->Y_);
  if (!vm_solve(VM_RATES, r, m, m->Y, m->Y_, s.list, s.count, next, m->X_ + r->states * r->row) || !vm_finite(next, r->states)) return VM_NOT_FINITE;
  vm_evaluate_integrands(r, m, end, 1);
  return VM_DONE;
}

/* Error scale of the derivative of a position or velocity (number i of both) with respect to a parameter. */
static double *vm_sensitivity_scale(const vm_run *r, long long i, long long k) {
  const long long n = r->coordinates, p = r->parameters;
  const double turns = r->turns[i < n ? i : i - n];
  return r->sensitivity_scales + 2 * p * ((turns != 0) + (turns > 1)) + (i < n ? k : p + k);
}

/* Largest scaled error estimate, for some weights: of positions and velocities, of their derivatives, and of integrals. */
static double vm_error_norm(const vm_run *r, const vm_workspace *m, const double *weights) {
  const long long n = r->coordinates, count = r->scheme->stages + 1, o = r->objectives, p = r->parameters;
  double largest = 0;
  vm_sum_rates(r, m->X, 1, weights, count, m->Y);
  if (p) vm_sum_rates(r, m->X_, r->row, weights, count, m->Y_);
  for (long long i = 0; i < 2 * n; ++i) {
    const double scale = i < n ? (r->turns[i] ? r->turns[i] : r->position_scale) : (r->mixed ? r->velocity_scales[i - n] : r->velocity_scale);
    const double error = fabs(m->Y[i]), *scales = vm_sensitivity_scale(r, i, 0);
    if (scale > 0 && !(error / scale <= largest)) largest = error / scale;
    for (long long k = 0; k < p && (i >= n || r->turns[i] <= 1); ++k) {
      const double derivative = fabs(m->Y_[i * r->row + k]);
      if (scales[k] > 0 && !(derivative / scales[k] <= largest)) largest = derivative / scales[k];
    }
  }
  for (long long i = 0; i < o; ++i) {
    const double end = fabs(m->G[(count - 1) * o + i]), scale = r->duration * (end > r->integrand_scales[i] ? end : r->integrand_scales[i]);
    double sum = 0;
    for (long long j = 0; j < count; ++j) if (weights[j] != 0) sum += weights[j] * m->G[j * o + i];
    if (scale > 0 && !(fabs(sum) / scale <= largest)) largest = fabs(sum) / scale;
  }
  return largest;
}

/* Error of a step over the allowed one, from the norms of its estimates. */
static double vm_over_allowed(const vm_run *r, double h, double error, double second) {
  if (r->scheme->second_error) {
    const double both = error * error + 0.01 * second * second;
    error = both > 0 ? error * error / sqrt(both) : 0;
  }
  return h * error / (VM_SAFETY * r->tolerance);
}

/* Error of a step over the allowed one, with the present scales. */
static double vm_error_so_far(const vm_run *r, const vm_workspace *m, double h) {
  const vm_scheme *s = r->scheme;
  const double error = vm_error_norm(r, m, s->error);
  return vm_over_allowed(r, h, error, s->second_error ? vm_error_norm(r, m, s->second_error) : 0);
}

static void vm_raise(double *scale, double value) { if (value > *scale) *scale = value; }

/* Largest magnitude of coordinates, or of their rates, that are angles, or that are not. */
static double vm_largest_of(const vm_run *r, const double *x, int turns) {
  double largest = 0;
  for (long long i = 0; i < r->coordinates; ++i) if ((r->turns[i] != 0) == turns) vm_raise(&largest, fabs(x[i]));
  return largest;
}

/* Raise the error scales of derivatives to their lower bounds: a change of the parameter by its magnitude moves positions by their scale. */
static void vm_raise_sensitivity_floors(vm_run *r) {
  const long long p = r->parameters;
  for (long long k = 0; k < p; ++k) {
    const double floor = r->position_scale * r->sensitivity_floors[k];
    vm_raise(r->sensitivity_scales + k, floor);
    vm_raise(r->sensitivity_scales + p + k, floor / r->duration);
  }
}

/* Raise the scales of the motion to the values at a stage of an accepted step. */
static void vm_scale(vm_run *r, const vm_workspace *m, long long stage) {
  const long long n = r->coordinates, p = r->parameters;
  const double *x = m->X + stage * r->states, *S = m->X_ + stage * r->states * r->row;
  vm_raise(&r->position_scale, vm_largest_of(r, x, 0));
  vm_raise(&r->velocity_scale, vm_size(x + n, n));
  for (long long i = 0; i < n; ++i) vm_raise(r->velocity_scales + i, fabs(x[n + i]));
  vm_raise_sensitivity_floors(r);
  for (long long i = 0; i < 2 * n; ++i)
    for (long long k = 0; k < p; ++k) vm_raise(vm_sensitivity_scale(r, i, k), fabs(S[i * r->row + k]));
}

static void vm_scale_integrands(vm_run *r, const vm_workspace *m) {
  for (long long i = 0; i < r->objectives; ++i) vm_raise(r->integrand_scales + i, fabs(m->G[i]));
}

/* Set lower bounds of all scales but those of integrands, for a mechanism of a given length and smallest velocity. */
static void vm_floors(vm_run *r, double length, double velocity) {
  const long long p = r->parameters;
  r->position_scale = length;
  r->velocity_scale = velocity;
  for (long long i = 0; i < r->coordinates; ++i) r->velocity_scales[i] = r->turns[i] ? 1 / r->duration : velocity;
  for (long long k = 0; k < p; ++k) {
    r->sensitivity_scales[k] = 0;
    r->sensitivity_scales[p + k] = velocity * r->sensitivity_floors[k];
    r->sensitivity_scales[2 * p + k] = r->sensitivity_floors[k];
    r->sensitivity_scales[3 * p + k] = r->sensitivity_scales[5 * p + k] = r->sensitivity_floors[k] / r->duration;
  }
  vm_raise_sensitivity_floors(r);
}

/* Error of a step over the allowed one. For a mechanism at rest at the origin the step itself sets the scales. */
static double vm_error(vm_run *r, vm_workspace *m, double h) {
  const int blind = r->position_scale == 0;
#ifdef VM_WIDTH
  if (m->lane && !blind) return m->lane->error;
#endif
  if (blind) {
    vm_fetch_stages(r, m);
    vm_scale(r, m, vm_last_stage(r));
  }
  const double error = vm_error_so_far(r, m, h);
  if (blind && !(error <= 1)) vm_floors(r, 0, 0);
  return error;
}

/* Share of the foreseen motion that is the lower bound of error scales. */
static double vm_foreseen(const vm_run *r) {
  const double share = VM_FORESEEN / r->tolerance;
  return share > VM_MOST_FORESEEN ? VM_MOST_FORESEEN : share;
}

/* Lower bounds for a mechanism at the origin: the velocity it would reach if the explicit functions of time acted in its initial state, and
   the distance in the time that the largest acceleration needs to reach that velocity. */
static void vm_foresee(vm_run *r, vm_workspace *m, double *length, double *velocity) {
  const long long n = r->coordinates;
  double *v = m->Z, fastest = vm_largest_of(r, m->X + n, 0), strongest = 0;
  const double foreseen = vm_foreseen(r);
  *length = foreseen * fastest * r->duration;
  for (long long i = 0; i < n; ++i) v[i] = 0;
  for (long long k = 0; k < r->probe_count; ++k) {
    const double *a = m->X + r->states + 2 * n, dt = r->probes[r->probe_count + k];
    if (vm_evaluate(r->rates ? VM_RATES : VM_STEP, r, m, r->probes[k], 0, 0, 0, m->X + r->states, m->X_ + r->states * r->row) != VM_DONE) continue;
    for (long long i = 0; i < n; ++i) v[i] += dt * a[i];
    vm_raise(&fastest, vm_largest_of(r, v, 0));
    vm_raise(&strongest, vm_largest_of(r, a, 0));
  }
  *velocity = foreseen * fastest;
  if (strongest > 0) vm_raise(length, *velocity * (fastest / strongest));
}

/* Whether the end of a step violates the constraints although the formulation projects onto them. */
static int vm_projections_failed(const vm_run *r, const vm_workspace *m) {
  const double allowed = VM_OFF * r->tolerance;
  return (r->rates || r->selects) && !(m->residuals[0] <= allowed * r->position_scale + 1e-12 && m->residuals[1] <= allowed * r->velocity_scale + 1e-9);
}

/* Whether a nearly singular position has amplified rounding, or constraints yield: one pass leaves 1e-12 of the unconstrained
   accelerations, which are large for light bodies. */
static int vm_amplified(const vm_run *r, const vm_workspace *m) {
  const long long n = r->coordinates;
  const double *end = m->X + r->scheme->stages * r->states;
  return r->sharp && (m->residuals[1] > VM_ROUNDING * (1e-2 + vm_size(end + n, n)) || m->residuals[2] > VM_UNYIELDING * (1 + vm_size(end + 2 * n, n)));
}

/* Growth factor of the next step, between a fifth and five. */
static double vm_growth(const vm_run *r, double error) {
  const double factor = error > 0 ? 0.9 * pow(error, -1 / r->scheme->error_order) : 5;
  return factor < 0.2 ? 0.2 : factor > 5 ? 5 : factor;
}

/* Perturb the initial state by a share of the mechanism's size; neighbouring coordinates by different amounts, so that distances change too. */
static void vm_perturb(const vm_run *r, const vm_workspace *m, double length, double share, double *changed) {
  const long long n = r->coordinates;
  for (long long i = 0; i < r->states; ++i) {
    const double size = i < 3 * n ? (r->turns[i % n] ? 1 : length) : fabs(m->X[i]);
    const double by = i < n ? size : i < 2 * n ? size / r->duration : i < 3 * n ? size / r->duration / r->duration : size;
    changed[i] = m->X[i] + share * ((double)(i * 7 % 4) - 1.5) * by;
  }
}

/* Lower bounds of integrand scales: the effect of rounding of the state, over the tolerance; smaller errors are noise. */
static void vm_integrand_floors(vm_run *r, vm_workspace *m, double length) {
  const long long o = r->objectives;
  const double time = 0;
  double *changed = m->X + r->states;
  vm_perturb(r, m, length, VM_BLUR / r->tolerance, changed);
  vm_evaluate_objectives(VM_INTEGRANDS, r, m, &time, changed, m->X_, m->G + o, m->G_ + o * r->parameters);
  for (long long i = 0; i < o; ++i) vm_raise(r->integrand_scales + i, fabs(m->G[o + i] - m->G[i]));
}

/* Lower bounds of the scales of integrands that explicit functions of time raise from zero: a share of their values in an
   approximate state within the run. */
static void vm_foresee_integrands(vm_run *r, vm_workspace *m, double length) {
  const long long n = r->coordinates, o = r->objectives;
  double *changed = m->X + r->states;
  vm_perturb(r, m, length, 0.7, changed);
  for (long long i = 0; i < n; ++i) changed[i] += 0.37 * r->duration * m->X[n + i];
  for (long long k = 0; k < r->probe_count && o; ++k) {
    vm_evaluate_objectives(VM_INTEGRANDS, r, m, r->probes + k, changed, m->X_, m->G + o, m->G_ + o * r->parameters);
    for (long long i = 0; i < o; ++i) if (fabs(m->G[o + i]) <= 1e300) vm_raise(r->integrand_scales + i, vm_foreseen(r) * fabs(m->G[o + i]));
  }
}

/* Initial scales, and a first step from the time scale of the initial state. The smallest scale of a quantity corresponds to a change by its own
   magnitude within the run, or of a parameter by its magnitude. */
static double vm_first_step(vm_run *r, vm_workspace *m) {
  const long long n = r->coordinates;
  double length = vm_largest_of(r, m->X, 0), velocity, time = r->duration;
  vm_raise(&length, r->smallest_size);
  velocity = length / r->duration;
  if (length == 0) {
    vm_foresee(r, m, &length, &velocity);
    if (r->units) { vm_raise(&length, VM_RESTING); vm_raise(&velocity, VM_RESTING / r->duration); }
  }
  vm_floors(r, length, velocity);
  for (int turns = 0; turns < 2; ++turns) {
    const double q = turns ? 1 : length, v = vm_largest_of(r, m->X + n, turns), a = vm_largest_of(r, m->X + 2 * n, turns);
    if (v > 0 && q / v < time) time = q / v;
    if (a > 0 && sqrt(q / a) < time) time = sqrt(q / a);
    if (a > 0 && v > 0 && v / a < time) time = v / a;
  }
  vm_scale(r, m, 0);
  vm_scale_integrands(r, m);
  vm_integrand_floors(r, m, length);
  vm_foresee_integrands(r, m, length);
  time *= 0.01 * pow(r->tolerance, 1 / r->scheme->error_order);
  return time > 1e-9 * r->duration ? time : 1e-9 * r->duration;
}

/* Weights of dense output at θ, the share of the step. */
static void vm_dense_weights(const vm_scheme *s, double theta, double *weights) {
  const long long count = s->stages + 1 + s->extra;
  for (long long i = 0; i < count; ++i) {
    double sum = 0;
    for (long long p = s->degree - 1; p >= 0; --p) sum = (sum + s->dense[i * s->degree + p]) * theta;
    weights[i] = sum;
  }
}

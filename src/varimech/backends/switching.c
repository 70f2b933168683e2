/* Jumps of forces and integrands that depend on the motion: steps end on both sides of them, and derivatives gain the contribution of a jump whose
   time depends on parameters. sensitivity/switching.py has the equations; switching.py implements the same, and has the constants. */

/* Evaluate sides, values and rates of all switching functions at a state. */
static void vm_evaluate_switches(vm_run *r, vm_workspace *m, double time, const double *state, double *result) {
  m->scratch.arg[0] = state; m->scratch.arg[1] = r->values; m->scratch.arg[2] = &time;
  m->scratch.res[0] = result;
  vm_call(VM_SWITCHING, r, m);
}

/* The first switch from `first` on that has changed sides during the step; -1 for none. Kinks are at ±2, or at 0, which is both. */
static long long vm_changed(const vm_run *r, const vm_workspace *m, long long first) {
  for (long long i = first; i < r->switches; ++i) if (m->sides[i] != m->sides_next[i] && fabs(m->sides[i] + m->sides_next[i]) != 2) return i;
  return -1;
}

/* Whether a stage of an explicit step of given length lies beyond a change of sides, which no error estimate would see. */
static int vm_peeks(vm_run *r, vm_workspace *m, double h, double end) {
  vm_fetch_stages(r, m);
  for (long long i = 1; i < r->scheme->stages; ++i) {
    vm_evaluate_switches(r, m, vm_stage_time(r->time, r->scheme->c[i], h, end), m->X + i * r->states, m->sides_next);
    if (vm_changed(r, m, 0) >= 0) return 1;
  }
  return 0;
}

/* Whether the positions and velocities that the initial accelerations of an implicit step lead to change a side. If its end has not, it is just
   before a jump, and its accelerations may be those beyond: over a short step, such a difference is less than rounding of positions. */
static int vm_turns_back(vm_run *r, vm_workspace *m, double h, double end) {
  memcpy(m->Z, m->X, (size_t)r->states * sizeof(double));
  vm_ahead(r, m->X, 1, h, m->Z);
  vm_evaluate_switches(r, m, end, m->Z, m->sides_next);
  return vm_changed(r, m, 0) >= 0;
}

/* Root of the cubic with values g and changes d (rate times length) at both ends of an interval, as a share of it. */
static double vm_cubic_root(double g0, double d0, double g1, double d1) {
  double low = 0, high = 1;
  for (int k = 0; k < 60; ++k) {
    const double x = (low + high) / 2, y = 1 - x;
    const double value = y * y * (g0 * (1 + 2 * x) + d0 * x) + x * x * (g1 * (1 + 2 * y) - d1 * y);
    if ((value > 0) == (g0 > 0)) low = x; else high = x;
  }
  return low;
}

static double vm_dip(double g0, double d0, double c0, double g1, double d1, double c1);

/* Share of a given step at which a switching function may have another sign than at both ends; 0 if none may. */
static double vm_hidden(const vm_run *r, const vm_workspace *m, double h) {
  const long long k = r->switches;
  const double *g = m->sides + k, *g_next = m->sides_next + k;
  double first = 0;
  for (long long i = 0; i < k; ++i) {
    if (!(g[i] * g_next[i] > 0)) continue;
    const double sign = g[i] > 0 ? 1 : -1, share = vm_dip(sign * g[i], sign * h * g[k + i], NAN, sign * g_next[i], sign * h * g_next[k + i], NAN);
    if (share > 0 && (first == 0 || share < first)) first = share;
  }
  return first;
}

/* Length of a step that ends just before the first change of sides within a step of length h, or of the step across it. */
static double vm_approach(const vm_run *r, const vm_workspace *m, double h) {
  const long long k = r->switches;
  const double across = VM_ACROSS * r->duration, *g = m->sides + k, *g_next = m->sides_next + k;
  double distance = h;
  if (vm_changed(r, m, 0) < 0) {
    const double share = vm_hidden(r, m, h);
    return (share > 0 ? share : VM_NEARER) * h; /* a stage may have changed sides, and the end not */
  }
  for (long long i = vm_changed(r, m, 0); i >= 0; i = vm_changed(r, m, i + 1)) {
    double share = 0.5; /* sides of periodic functions may change twice */
    if (g[i] == 0 && g[k + i] != 0) share = 0;
    else if (g[i] != 0 && g[i] * g_next[i] <= 0) {
      share = vm_cubic_root(g[i], h * g[k + i], g_next[i], h * g_next[k + i]);
      if (share * h <= 2 * across && !(g[i] * g[k + i] <= 0 && fabs(g[i]) <= VM_IMMINENT * across * fabs(g[k + i]))) share = 0.5;
    }
    if (share * h < distance) distance = share * h;
  }
  return distance > 0.75 * across ? distance - 0.5 * across : across;
}

/* Whether a step is as short as one across a jump; rounding of time makes it a little longer or shorter. */
static int vm_is_across(const vm_run *r, double h) { return h <= (r->tolerance > 0 ? 1.5 * VM_ACROSS : VM_GIVEN) * r->duration; }

/* Whether accelerations or integrands jump across such a step, and not only their derivatives. */
static int vm_jumps(const vm_run *r, const vm_workspace *m) {
  const long long n = r->coordinates, o = r->objectives, k = vm_last_stage(r);
  const double *a = m->X + 2 * n, *b = m->X + k * r->states + 2 * n;
  const double size = VM_JUMP * (vm_size(a, n) + vm_size(b, n) + r->velocity_scale / r->duration);
  for (long long i = 0; i < n; ++i) if (fabs(a[i] - b[i]) > size) return 1;
  for (long long i = 0; i < o && vm_changed(r, m, r->force_switches) >= 0; ++i) {
    const double g = m->G[i], g_next = m->G[k * o + i];
    if (fabs(g - g_next) > VM_JUMP * (fabs(g) + fabs(g_next) + r->integrand_scales[i])) return 1;
  }
  return 0;
}

/* Evaluate the gradients of the switching functions at a state: (switch, position or velocity), (switch, direction), (switch, parameter). */
static void vm_switching_gradient(vm_run *r, vm_workspace *m, double time, const double *state) {
  const long long k = r->switches;
  m->scratch.arg[0] = state; m->scratch.arg[1] = r->values; m->scratch.arg[2] = &time;
  m->scratch.res[0] = m->slopes; m->scratch.res[1] = m->slopes + 2 * k * r->coordinates;
  m->scratch.res[2] = m->scratch.res[1] + k * r->parameters;
  vm_call(VM_SWITCHING_GRADIENT, r, m);
}

/* Derivative of the time at which switch i changes sides, in direction c, at the beginning of a step across it. */
static double vm_shift(const vm_run *r, const vm_workspace *m, long long i, long long c) {
  const long long q = 2 * r->coordinates, k = r->switches;
  double sum = m->slopes[q * k + i * r->parameters + c];
  for (long long j = 0; j < q; ++j) sum += m->slopes[i * q + j] * m->X_[j * r->row + c];
  return -sum / m->sides[2 * k + i];
}

/* The first changed switch whose function moves: one that was zero until now, and is not any more, has no time of its own. */
static long long vm_changed_moving(const vm_run *r, const vm_workspace *m, long long first) {
  long long i = vm_changed(r, m, first);
  while (i >= 0 && m->sides[r->switches + i] == 0 && m->sides[2 * r->switches + i] == 0) i = vm_changed(r, m, i + 1);
  return i;
}

/* Compute derivatives at the end of a step across a jump: velocities gain (a⁻ − a⁺) t', integrals (g⁻ − g⁺) t'. Switches that change together must
   move together, or there is no derivative. Returns a status. */
static int vm_differentiate_jump(vm_run *r, vm_workspace *m, double end) {
  const long long n = r->coordinates, p = r->parameters, o = r->objectives, k = vm_last_stage(r), first = vm_changed_moving(r, m, 0);
  const double *x = m->X, *y = m->X + k * r->states;
  double *S = m->X_ + k * r->states * r->row;
  vm_switching_gradient(r, m, r->time, m->X);
  for (long long c = 0; c < p; ++c) {
    double shift = first < 0 ? NAN : vm_shift(r, m, first, c);
    for (long long i = first < 0 ? -1 : vm_changed_moving(r, m, first + 1); i >= 0; i = vm_changed_moving(r, m, i + 1)) {
      const double other = vm_shift(r, m, i, c);
      if (!(fabs(other - shift) <= VM_TOGETHER * (fabs(shift) + fabs(other)))) shift = NAN;
    }
    for (long long j = n; j < 2 * n; ++j) S[j * r->row + c] += (x[n + j] - y[n + j]) * shift;
    for (long long i = 0; i < o; ++i) r->integral_gradient[i * p + c] += (m->G[i] - m->G[k * o + i]) * shift;
  }
  const vm_settings s = vm_settings_at(r, &end);
  if (!vm_solve(r->rates ? VM_RATES : VM_STEP, r, m, y, S, s.list, s.count, m->Z, m->Z_)) return vm_unsolved(m);
  memcpy(S, m->Z_, (size_t)(r->states * r->row) * sizeof(double));
  vm_evaluate_integrands(r, m, end, k);
  return VM_DONE;
}

/* Record the change of sides that an accepted step has passed, as a negative number if nothing jumps. Returns a status. */
static int vm_pass(vm_run *r, vm_workspace *m, double h, double end) {
  const long long moving = vm_changed_moving(r, m, 0), first = moving < 0 ? vm_changed(r, m, 0) : moving;
  int status = VM_DONE;
  if (first >= 0 && vm_is_across(r, h)) {
    const int jumps = vm_jumps(r, m);
    if (r->crossed) r->crossed[r->done + 1] = (double)(jumps ? first + 1 : -first - 1);
    if (r->parameters && jumps) status = vm_differentiate_jump(r, m, end);
  }
  memcpy(m->sides, m->sides_next, (size_t)(3 * r->switches) * sizeof(double));
  return status;
}

/* A run, the same text for every program; see program.py for what it does.

   Before it stand the generated functions, listed in vm_functions, plan.c, and the kernels of plans, listed in vm_maps. */

#ifdef _WIN32
#define VM_EXPORT __declspec(dllexport)
#else
#define VM_EXPORT __attribute__((visibility("default")))
#endif

enum { VM_DONE = 0, VM_NO_CONVERGENCE = 1, VM_NOT_FINITE = 2, VM_NO_MEMORY = 3, VM_NO_START = 4, VM_OVERWOUND = 5 };
enum { VM_STEP = 0, VM_START = 4, VM_PENALTY = 8, VM_TWIST, VM_OBJECTIVES, VM_OBJECTIVE_TANGENT };
enum { VM_PREDICT, VM_ITERATE, VM_FINISH, VM_TANGENT };  /* of a step or a start */

#define VM_NEGLIGIBLE 1e-4 /* program.py says why */

typedef struct {
  const vm_plan *plans;                  /* one for each function that is not generated */
  long long states, unknowns, multipliers, objectives, parameters, row, coefficients, springs; /* sizes; parameters are those of the gradient,
                                            derivatives of the state stand in rows of length `row` */
  long long increments;                  /* whether steps say what they add to the integrals of the objectives, and after S to its derivatives */
  long long arguments, results, integers, reals, bases, workspace;                 /* of the working storage */
  const double *seeds;                   /* derivatives of the parameters */
  const double *guess;                   /* for a start that is to be found; NULL where state and state_sensitivity are given */
  double *state, *state_sensitivity;     /* in: at the first step; out: at the last one done */
  double *integral, *integral_gradient;  /* ψ without its final term, ψ' likewise, so far */
  const double *values;                  /* of all parameters */
  double *penalty;
  double step;
  long long first, last, stride, total;  /* steps first+1 … last of a run of `total`; every `stride`-th and the last are stored */
  long long max_iterations;
  double *times, *states_stored, *sensitivities, *objectives_stored, *gradients;  /* where to store; `stored` were so far */
  long long stored;
  double *residuals;                     /* largest so far */
  long long iterations;
  long long failed_step, failed_spring;
  long long status;
} vm_run;

/* where a run works */
typedef struct {
  vm_bench bench;
  double *workspace, *coefficients, *increments, *x, *y, *x_next, *y_next, ratio, residuals[3];
} vm_room;

static int vm_finite(const double *x, long long n) {
  double sum = 0;
  for (long long i = 0; i < n; ++i) sum += 0 * x[i]; /* NaN and infinity times zero are NaN */
  return sum == 0;
}

static void vm_call(int function, const vm_run *r, vm_room *m) {
  vm_bench *b = &m->bench;
  if (vm_functions[function]) vm_functions[function](b->arg, b->res, b->iw, b->rw, 0);
  else vm_execute(r->plans + function, vm_maps, b, m->workspace);
}

/* Carries out a chain: from `state` (and S) with `count` settings to `result` (and S_result). Returns iterations, 0 if they did not converge. */
static long long vm_solve(int chain, const vm_run *r, vm_room *m, const double *state, const double *S, const double *const *settings, int count,
                          double *result, double *S_result) {
  const size_t bytes = (size_t)count * sizeof(double *);
  const double **arg = m->bench.arg;
  double **res = m->bench.res;
  arg[0] = state; memcpy(arg + 1, settings, bytes);
  res[0] = m->x; res[1] = m->y;
  vm_call(chain + VM_PREDICT, r, m);
  long long k = 0;
  int converged;
  double last = 0;
  do {
    arg[0] = state; arg[1] = m->x; arg[2] = m->y; memcpy(arg + 3, settings, bytes);
    res[0] = m->x_next; res[1] = m->y_next; res[2] = &m->ratio;
    vm_call(chain + VM_ITERATE, r, m);
    { double *swap = m->x; m->x = m->x_next; m->x_next = swap; }
    { double *swap = m->y; m->y = m->y_next; m->y_next = swap; }
    ++k;
    /* a sequence that converges quadratically: the next ratio will be about ratio³ / last² */
    converged = m->ratio <= 1 || m->ratio * m->ratio * m->ratio <= VM_NEGLIGIBLE * last * last;
    last = m->ratio;
  } while (!converged && m->ratio <= 1e300 && k < r->max_iterations);
  if (!converged) return 0;
  const int tangent = vm_functions[chain + VM_TANGENT] != 0, planned = r->parameters && !tangent;
  arg[0] = state; arg[1] = m->x; arg[2] = m->y; arg[3] = S; memcpy(arg + (planned ? 4 : 3), settings, bytes);
  res[0] = result; res[1] = m->residuals;
  double **more = res + 2;
  if (chain == VM_STEP && r->increments) *more++ = m->increments;
  *more = tangent ? m->coefficients : S_result;
  vm_call(chain + VM_FINISH, r, m);
  if (tangent) {
    arg[0] = m->coefficients; arg[1] = S; arg[2] = r->seeds;
    res[0] = S_result;
    vm_call(chain + VM_TANGENT, r, m);
  }
  return k;
}

static void vm_measure(const vm_run *r, vm_room *m, const double *time, const double *state, const double *S, double *g, double *w, double *g_,
                       double *w_) {
  const double **arg = m->bench.arg;
  double **res = m->bench.res;
  if (r->objectives == 0) return;
  arg[0] = state; arg[1] = r->values; arg[2] = time;
  res[0] = g; res[1] = w;
  vm_call(VM_OBJECTIVES, r, m);
  if (r->parameters == 0) return;
  arg[0] = state; arg[1] = S; arg[2] = r->values; arg[3] = time;
  res[0] = g_; res[1] = w_;
  vm_call(VM_OBJECTIVE_TANGENT, r, m);
}

/* `function` of positions: the penalties, or the twists of torsional springs */
static void vm_of_positions(int function, const vm_run *r, vm_room *m, const double *time, const double *state, double *result) {
  m->bench.arg[0] = state; m->bench.arg[1] = r->values; m->bench.arg[2] = time; /* a state begins with its positions */
  m->bench.res[0] = result;
  vm_call(function, r, m);
}

static void vm_store(vm_run *r, double time, const double *state, const double *S, const double *w, const double *w_) {
  const long long k = r->stored++, o = r->objectives, p = r->parameters, n = r->states;
  r->times[k] = time;
  memcpy(r->states_stored + k * n, state, (size_t)n * sizeof(double));
  for (long long i = 0; i < o; ++i) r->objectives_stored[k * o + i] = r->integral[i] + w[i];
  for (long long i = 0; p && i < n; ++i) memcpy(r->sensitivities + (k * n + i) * p, S + i * r->row, (size_t)p * sizeof(double));
  for (long long i = 0; i < o * p; ++i) r->gradients[k * o * p + i] = r->integral_gradient[i] + w_[i];
}

static void vm_keep_largest(double *largest, const double *values) {
  for (int i = 0; i < 3; ++i) if (values[i] > largest[i]) largest[i] = values[i];
}

static int vm_carry_out(vm_run *r) {
  const long long n = r->states, o = r->objectives, q = o * r->parameters, np = (n + (r->increments ? o : 0)) * r->row;
  const double h = r->step;
  double time = (double)r->first * h;
  const double *const start_settings[] = {r->penalty, r->values, &time};
  const double *const step_settings[] = {&h, r->penalty, r->values, &time};
  int status = VM_DONE;

  const long long doubles = 2 * n + 2 * np + 2 * r->unknowns + 2 * r->multipliers + 3 * o + 3 * q + 2 * r->springs + r->reals + r->workspace + r->coefficients + o;
  double *memory = malloc((size_t)(doubles + 1) * sizeof(double));
  long long *iw = malloc((size_t)(r->integers + 1) * sizeof(long long));
  const double **arg = malloc((size_t)(r->arguments + 1) * sizeof(double *));
  double **res = malloc((size_t)(r->results + r->bases + 1) * sizeof(double *));
  if (!memory || !iw || !arg || !res) {
    free(memory); free(iw); free(arg); free(res);
    return VM_NO_MEMORY;
  }
  double *p = memory;
  double *state = p, *next = p + n; p += 2 * n;
  double *S = p, *S_next = p + np; p += 2 * np;
  double *g = p, *g_old = p + o, *w = p + 2 * o; p += 3 * o;
  double *g_ = p, *g_old_ = p + q, *w_ = p + 2 * q; p += 3 * q;
  double *twists = p, *twists_old = p + r->springs; p += 2 * r->springs;
  vm_room room = {.bench = {arg, res, iw, p, res + r->results}}; p += r->reals;
  room.workspace = p; p += r->workspace;
  room.coefficients = p; p += r->coefficients;
  room.increments = p; p += o;
  room.x = p; room.x_next = p + r->unknowns; p += 2 * r->unknowns;
  room.y = p; room.y_next = p + r->multipliers;

  if (r->first == 0) vm_of_positions(VM_PENALTY, r, &room, &time, r->guess ? r->guess : r->state, r->penalty);
  if (r->guess && r->first == 0) {
    const long long k = vm_solve(VM_START, r, &room, r->guess, 0, start_settings, 3, state, S);
    if (k == 0 || !vm_finite(state, n) || !(room.residuals[0] <= 1e-6 && room.residuals[1] <= 1e-6 && room.residuals[2] <= 1e-6))
      status = VM_NO_START;
    else
      vm_keep_largest(r->residuals, room.residuals);
  } else {
    memcpy(state, r->state, (size_t)n * sizeof(double));
    memcpy(S, r->state_sensitivity, (size_t)(n * r->row) * sizeof(double));
  }
  if (status == VM_DONE) {
    if (r->springs) vm_of_positions(VM_TWIST, r, &room, &time, state, twists);
    vm_measure(r, &room, &time, state, S, g, w, g_, w_);
    if (r->first == 0) vm_store(r, time, state, S, w, w_);
  }

  for (long long k = r->first + 1; k <= r->last && status == VM_DONE; ++k) {
    time = (double)k * h;
    memcpy(g_old, g, (size_t)o * sizeof(double));
    memcpy(g_old_, g_, (size_t)q * sizeof(double));
    const long long iterations = vm_solve(VM_STEP, r, &room, state, S, step_settings, 4, next, S_next);
    if (iterations == 0 || !vm_finite(next, n)) {
      status = iterations == 0 && room.ratio <= 1e300 ? VM_NO_CONVERGENCE : VM_NOT_FINITE;
      r->failed_step = k;
      break;
    }
    { double *swap = twists; twists = twists_old; twists_old = swap; }
    if (r->springs) vm_of_positions(VM_TWIST, r, &room, &time, next, twists);
    for (long long i = 0; i < r->springs && status == VM_DONE; ++i)
      if (fabs(twists[i] - twists_old[i]) > 3.141592653589793) { status = VM_OVERWOUND; r->failed_step = k; r->failed_spring = i; }
    if (status != VM_DONE) break;
    r->iterations += iterations;
    vm_keep_largest(r->residuals, room.residuals);
    { double *swap = state; state = next; next = swap; }
    { double *swap = S; S = S_next; S_next = swap; }
    vm_measure(r, &room, &time, state, S, g, w, g_, w_);
    if (r->increments) {
      for (long long i = 0; i < o; ++i) r->integral[i] += room.increments[i];
      for (long long i = 0; i < q; ++i) r->integral_gradient[i] += S[(n + i / r->parameters) * r->row + i % r->parameters];
    } else {
      for (long long i = 0; i < o; ++i) r->integral[i] += h / 2 * (g_old[i] + g[i]);
      for (long long i = 0; i < q; ++i) r->integral_gradient[i] += h / 2 * (g_old_[i] + g_[i]);
    }
    if (k % r->stride == 0 || k == r->total) vm_store(r, time, state, S, w, w_);
  }

  memcpy(r->state, state, (size_t)n * sizeof(double));
  memcpy(r->state_sensitivity, S, (size_t)(n * r->row) * sizeof(double));
  free(memory); free(iw); free(arg); free(res);
  return status;
}

VM_EXPORT void vm_carry_out_all(vm_run *runs, long long count) {
  for (long long k = 0; k < count; ++k) runs[k].status = vm_carry_out(runs + k);
}

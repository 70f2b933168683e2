/* A run, the same text for every program; see program.py for what it does.

   Before it stand the generated functions (step_predict, _iterate, _finish; with VM_START the same of start_; penalty; twist; objectives and,
   with VM_P > 0, objective_tangent) and these sizes: VM_G watched springs, VM_X state, VM_U and VM_Y unknowns and multipliers of the larger iterated stage, VM_O objectives,
   VM_P parameters of the gradient, VM_ARG, VM_RES, VM_IW, VM_RW working storage of the generated functions. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VM_DONE = 0, VM_NO_CONVERGENCE = 1, VM_NOT_FINITE = 2, VM_NO_MEMORY = 3, VM_NO_START = 4, VM_OVERWOUND = 5 };

typedef int (*vm_function)(const double **, double **, long long *, double *, int);
typedef struct { vm_function predict, iterate, finish; } vm_chain;

typedef struct {
  const double *guess;                   /* for a start that is to be found; NULL where state and state_sensitivity are given */
  double *state, *state_sensitivity;     /* in: at the first step; out: at the last one done */
  double *integral, *integral_gradient;  /* ψ without its final term, ψ' likewise, so far */
  const double *parameters;
  double *penalty;
  double step;
  long long first, last, stride, total;  /* steps first+1 … last of a run of `total`; every `stride`-th and the last are stored */
  long long max_iterations;
  double *times, *states, *sensitivities, *objectives, *gradients;  /* where to store, from row `row` on */
  long long row;
  double *residuals;                     /* largest so far */
  long long iterations;
  long long failed_step, failed_spring;
} vm_run;

/* working storage of the generated functions and of the stages */
typedef struct {
  const double **arg;
  double **res;
  long long *iw;
  double *rw, *x, *y, ratio, residuals[3];
} vm_bench;

static int vm_finite(const double *x, long long n) {
  double sum = 0;
  for (long long i = 0; i < n; ++i) sum += 0 * x[i]; /* NaN and infinity times zero are NaN */
  return sum == 0;
}

/* Carries out a chain: from `state` (and S) with `count` settings to `result` (and S_result). Returns iterations, 0 if they did not converge. */
static long long vm_solve(vm_chain chain, vm_bench *b, long long max_iterations, const double *state, const double *S,
                          const double *const *settings, int count, double *result, double *S_result) {
  const size_t bytes = (size_t)count * sizeof(double *);
  b->arg[0] = state; memcpy(b->arg + 1, settings, bytes);
  b->res[0] = b->x; b->res[1] = b->y;
  chain.predict(b->arg, b->res, b->iw, b->rw, 0);
  long long k = 0;
  do {
    b->arg[0] = state; b->arg[1] = b->x; b->arg[2] = b->y; memcpy(b->arg + 3, settings, bytes);
    b->res[0] = b->x; b->res[1] = b->y; b->res[2] = &b->ratio;
    chain.iterate(b->arg, b->res, b->iw, b->rw, 0);
    ++k;
  } while (b->ratio > 1 && b->ratio <= 1e300 && k < max_iterations);
  if (!(b->ratio <= 1)) return 0;
  b->arg[0] = state; b->arg[1] = b->x; b->arg[2] = b->y;
  b->res[0] = result; b->res[1] = b->residuals;
#if VM_P > 0
  b->arg[3] = S; memcpy(b->arg + 4, settings, bytes);
  b->res[2] = S_result;
#else
  (void)S; (void)S_result; memcpy(b->arg + 3, settings, bytes);
#endif
  chain.finish(b->arg, b->res, b->iw, b->rw, 0);
  return k;
}

static void vm_measure(vm_bench *b, const vm_run *r, const double *time, const double *state, const double *S, double *g, double *w,
                       double *g_, double *w_) {
  b->arg[0] = state; b->arg[1] = r->parameters; b->arg[2] = time;
  b->res[0] = g; b->res[1] = w;
  objectives(b->arg, b->res, b->iw, b->rw, 0);
#if VM_P > 0
  b->arg[0] = state; b->arg[1] = S; b->arg[2] = r->parameters; b->arg[3] = time;
  b->res[0] = g_; b->res[1] = w_;
  objective_tangent(b->arg, b->res, b->iw, b->rw, 0);
#else
  (void)S; (void)g_; (void)w_;
#endif
}

static void vm_watch(vm_bench *b, const vm_run *r, const double *time, const double *state, double *twists) {
  if (VM_G == 0) return;
  b->arg[0] = state; b->arg[1] = r->parameters; b->arg[2] = time;
  b->res[0] = twists;
  twist(b->arg, b->res, b->iw, b->rw, 0);
}

static void vm_store(vm_run *r, double time, const double *state, const double *S, const double *w, const double *w_) {
  const long long k = r->row++;
  r->times[k] = time;
  memcpy(r->states + k * VM_X, state, VM_X * sizeof(double));
  for (int i = 0; i < VM_O; ++i) r->objectives[k * VM_O + i] = r->integral[i] + w[i];
  if (VM_P > 0) memcpy(r->sensitivities + k * VM_X * VM_P, S, VM_X * VM_P * sizeof(double));
  for (int i = 0; i < VM_O * VM_P; ++i) r->gradients[k * VM_O * VM_P + i] = r->integral_gradient[i] + w_[i];
}

static void vm_keep_largest(double *largest, const double *values) {
  for (int i = 0; i < 3; ++i) if (values[i] > largest[i]) largest[i] = values[i];
}

VM_EXPORT int vm_carry_out(vm_run *r) {
  const vm_chain step = {step_predict, step_iterate, step_finish};
  const double h = r->step;
  double time = (double)r->first * h;
  const double *const start_settings[] = {r->parameters, &time};
  const double *const step_settings[] = {&h, r->penalty, r->parameters, &time};
  int status = VM_DONE;

  const size_t doubles = 2 * VM_X + 2 * VM_X * VM_P + VM_U + VM_Y + 3 * VM_O * (1 + VM_P) + 2 * VM_G + VM_RW;
  double *memory = malloc((doubles + 1) * sizeof(double));
  long long *iw = malloc((VM_IW + 1) * sizeof(long long));
  const double **arg = malloc(VM_ARG * sizeof(double *));
  double **res = malloc(VM_RES * sizeof(double *));
  if (!memory || !iw || !arg || !res) {
    free(memory); free(iw); free(arg); free(res);
    return VM_NO_MEMORY;
  }
  double *p = memory;
  double *state = p, *next = p + VM_X; p += 2 * VM_X;
  double *S = p, *S_next = p + VM_X * VM_P; p += 2 * VM_X * VM_P;
  double *g = p, *g_old = p + VM_O, *w = p + 2 * VM_O; p += 3 * VM_O;
  double *g_ = p, *g_old_ = p + VM_O * VM_P, *w_ = p + 2 * VM_O * VM_P; p += 3 * VM_O * VM_P;
  double *twists = p, *twists_old = p + VM_G; p += 2 * VM_G;
  vm_bench bench = {arg, res, iw, p + VM_U + VM_Y, p, p + VM_U, 0, {0, 0, 0}};

  if (r->guess && r->first == 0) {
#if VM_START
    const vm_chain start = {start_predict, start_iterate, start_finish};
    const long long k = vm_solve(start, &bench, r->max_iterations, r->guess, 0, start_settings, 2, state, S);
    if (k == 0 || !vm_finite(state, VM_X) || !(bench.residuals[0] <= 1e-6 && bench.residuals[1] <= 1e-6 && bench.residuals[2] <= 1e-6))
      status = VM_NO_START;
    else
      vm_keep_largest(r->residuals, bench.residuals);
#else
    (void)start_settings;
    status = VM_NO_START;
#endif
  } else {
    memcpy(state, r->state, VM_X * sizeof(double));
    memcpy(S, r->state_sensitivity, VM_X * VM_P * sizeof(double));
  }
  if (status == VM_DONE) {
    if (r->first == 0) {
      arg[0] = state; arg[1] = r->parameters; arg[2] = &time; res[0] = r->penalty;
      penalty(arg, res, iw, bench.rw, 0);
    }
    vm_watch(&bench, r, &time, state, twists);
    vm_measure(&bench, r, &time, state, S, g, w, g_, w_);
    if (r->first == 0) vm_store(r, time, state, S, w, w_);
  }

  for (long long n = r->first + 1; n <= r->last && status == VM_DONE; ++n) {
    time = (double)n * h;
    memcpy(g_old, g, VM_O * sizeof(double));
    memcpy(g_old_, g_, VM_O * VM_P * sizeof(double));
    const long long k = vm_solve(step, &bench, r->max_iterations, state, S, step_settings, 4, next, S_next);
    if (k == 0 || !vm_finite(next, VM_X)) {
      status = k == 0 && bench.ratio <= 1e300 ? VM_NO_CONVERGENCE : VM_NOT_FINITE;
      r->failed_step = n;
      break;
    }
    { double *swap = twists; twists = twists_old; twists_old = swap; }
    vm_watch(&bench, r, &time, next, twists);
    for (int i = 0; i < VM_G && status == VM_DONE; ++i)
      if (fabs(twists[i] - twists_old[i]) > 3.141592653589793) { status = VM_OVERWOUND; r->failed_step = n; r->failed_spring = i; }
    if (status != VM_DONE) break;
    r->iterations += k;
    vm_keep_largest(r->residuals, bench.residuals);
    { double *swap = state; state = next; next = swap; }
    { double *swap = S; S = S_next; S_next = swap; }
    vm_measure(&bench, r, &time, state, S, g, w, g_, w_);
    for (int i = 0; i < VM_O; ++i) r->integral[i] += h / 2 * (g_old[i] + g[i]);
    for (int i = 0; i < VM_O * VM_P; ++i) r->integral_gradient[i] += h / 2 * (g_old_[i] + g_[i]);
    if (n % r->stride == 0 || n == r->total) vm_store(r, time, state, S, w, w_);
  }

  memcpy(r->state, state, VM_X * sizeof(double));
  memcpy(r->state_sensitivity, S, VM_X * VM_P * sizeof(double));
  free(memory); free(iw); free(arg); free(res);
  return status;
}

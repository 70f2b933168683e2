/* The loop of a run, the same text for every program; see program.py for what it does.

   Before it stand the generated functions (predict, iterate, finish, objectives and, with VM_P > 0, tangent and objective_tangent)
   and these sizes: VM_X state, VM_U unknowns, VM_Y multipliers of the iterated stage, VM_W work of all stages, VM_O objectives,
   VM_P parameters of the gradient, VM_ARG, VM_RES, VM_IW, VM_RW working storage of the generated functions. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VM_AT_LEAST_ONE(n) ((n) > 0 ? (n) : 1)

enum { VM_DONE = 0, VM_NO_CONVERGENCE = 1, VM_NOT_FINITE = 2, VM_NO_MEMORY = 3 };

typedef struct {
  double *state, *state_sensitivity;     /* in: at the first step; out: at the last one done */
  double *integral, *integral_gradient;  /* ψ without its final term, ψ' likewise, so far */
  const double *parameters, *penalty;
  double step;
  long long first, last, stride, total;  /* steps first+1 … last of a run of `total`; every `stride`-th and the last are stored */
  long long max_iterations;
  double *times, *states, *sensitivities, *objectives, *gradients;  /* where to store, from row `row` on */
  long long row;
  double *residuals;                     /* largest so far */
  long long iterations;
  long long failed_step;
} vm_run;

static int vm_finite(const double *x, long long n) {
  double sum = 0;
  for (long long i = 0; i < n; ++i) sum += 0 * x[i]; /* NaN and infinity times zero are NaN */
  return sum == 0;
}

static void vm_store(vm_run *r, double time, const double *state, const double *S, const double *w, const double *w_) {
  long long k = r->row++;
  r->times[k] = time;
  memcpy(r->states + k * VM_X, state, VM_X * sizeof(double));
  for (int i = 0; i < VM_O; ++i) r->objectives[k * VM_O + i] = r->integral[i] + w[i];
  if (VM_P > 0) {
    memcpy(r->sensitivities + k * VM_X * VM_P, S, VM_X * VM_P * sizeof(double));
    for (int i = 0; i < VM_O * VM_P; ++i) r->gradients[k * VM_O * VM_P + i] = r->integral_gradient[i] + w_[i];
  }
}

VM_EXPORT int vm_carry_out(vm_run *r) {
  const double h = r->step;
  double time = (double)r->first * h;
  int status = VM_DONE;
  const size_t doubles = 2 * VM_X + 2 * VM_X * VM_P + VM_W + VM_U + VM_Y + 4 * VM_O * (1 + VM_P) + 16 + VM_RW;
  double *memory = malloc(doubles * sizeof(double));
  long long *iw = malloc(VM_AT_LEAST_ONE(VM_IW) * sizeof(long long));
  const double **arg = malloc(VM_ARG * sizeof(double *));
  double **res = malloc(VM_RES * sizeof(double *));
  if (!memory || !iw || !arg || !res) { status = VM_NO_MEMORY; goto end; }

  double *p = memory;
  double *state = p, *next = p + VM_X; p += 2 * VM_X;
  double *S = p, *S_next = p + VM_X * VM_P; p += 2 * VM_X * VM_P;
  double *work = p; p += VM_W;
  double *x = p; p += VM_U;
  double *y = p; p += VM_Y;
  double *g = p, *g_old = p + VM_O, *w = p + 2 * VM_O; p += 4 * VM_O;
  double *g_ = p, *g_old_ = p + VM_O * VM_P, *w_ = p + 2 * VM_O * VM_P; p += 4 * VM_O * VM_P;
  double *ratio = p, *residuals = p + 1; p += 16;
  double *rw = p;

  memcpy(state, r->state, VM_X * sizeof(double));
  if (VM_P > 0) memcpy(S, r->state_sensitivity, VM_X * VM_P * sizeof(double));

#define VM_SETTINGS(k) arg[k] = &h; arg[(k) + 1] = r->penalty; arg[(k) + 2] = r->parameters; arg[(k) + 3] = &time
#define VM_MEASURE(X, SX) \
  arg[0] = X; arg[1] = r->parameters; arg[2] = &time; res[0] = g; res[1] = w; \
  objectives(arg, res, iw, rw, 0); \
  VM_MEASURE_TANGENT(X, SX)
#if VM_P > 0
#define VM_MEASURE_TANGENT(X, SX) \
  arg[0] = X; arg[1] = SX; arg[2] = r->parameters; arg[3] = &time; res[0] = g_; res[1] = w_; \
  objective_tangent(arg, res, iw, rw, 0);
#else
#define VM_MEASURE_TANGENT(X, SX)
#endif

  VM_MEASURE(state, S)
  if (r->first == 0) vm_store(r, time, state, S, w, w_);

  for (long long n = r->first + 1; n <= r->last; ++n) {
    time = (double)n * h;
    memcpy(g_old, g, VM_O * sizeof(double));
    memcpy(g_old_, g_, VM_O * VM_P * sizeof(double));

    arg[0] = state; VM_SETTINGS(1); res[0] = x; res[1] = y;
    predict(arg, res, iw, rw, 0);
    long long k = 0;
    do {
      arg[0] = state; arg[1] = x; arg[2] = y; VM_SETTINGS(3); res[0] = x; res[1] = y; res[2] = ratio;
      iterate(arg, res, iw, rw, 0);
      ++k;
    } while (*ratio > 1 && *ratio <= 1e300 && k < r->max_iterations);
    r->iterations += k;
    if (!(*ratio <= 1)) {
      status = *ratio <= 1e300 ? VM_NO_CONVERGENCE : VM_NOT_FINITE;
      r->failed_step = n;
      goto failed;
    }

    arg[0] = state; arg[1] = x; arg[2] = y; VM_SETTINGS(3); res[0] = next; res[1] = work; res[2] = residuals;
    finish(arg, res, iw, rw, 0);
    if (!vm_finite(next, VM_X)) { status = VM_NOT_FINITE; r->failed_step = n; goto failed; }
    for (int i = 0; i < 3; ++i) if (residuals[i] > r->residuals[i]) r->residuals[i] = residuals[i];
#if VM_P > 0
    arg[0] = state; arg[1] = S; arg[2] = work; VM_SETTINGS(3); res[0] = S_next;
    tangent(arg, res, iw, rw, 0);
    { double *swap = S; S = S_next; S_next = swap; }
#endif
    { double *swap = state; state = next; next = swap; }
    VM_MEASURE(state, S)
    for (int i = 0; i < VM_O; ++i) r->integral[i] += h / 2 * (g_old[i] + g[i]);
    for (int i = 0; i < VM_O * VM_P; ++i) r->integral_gradient[i] += h / 2 * (g_old_[i] + g_[i]);
    if (n % r->stride == 0 || n == r->total) vm_store(r, time, state, S, w, w_);
  }

failed:
  memcpy(r->state, state, VM_X * sizeof(double));
  if (VM_P > 0) memcpy(r->state_sensitivity, S, VM_X * VM_P * sizeof(double));
end:
  free(memory); free(iw); free(arg); free(res);
  return status;
}

/* What a run is, and how it calls generated functions and carries out chains; the same text for every program.

   Before it stand the generated functions, which vm_call_generated calls by number, plan.c, and the kernels of plans, listed in vm_maps. */

enum { VM_DONE = 0, VM_NO_CONVERGENCE, VM_NOT_FINITE, VM_NO_MEMORY, VM_NO_START, VM_UNDERFLOW, VM_AT_SINGULARITY, VM_AMPLIFIED, VM_STALLED };
enum { VM_PREDICT, VM_ITERATE, VM_FINISH, VM_TANGENT, VM_LINEARISE, VM_PULLBACK, VM_PER_CHAIN };  /* of a step, a start or rates */
enum { VM_STEP = 0, VM_START = VM_PER_CHAIN, VM_RATES = 2 * VM_PER_CHAIN, VM_PENALTY = 3 * VM_PER_CHAIN, VM_JACOBIAN, VM_INTEGRANDS,
       VM_FINALS = VM_INTEGRANDS + 3 };  /* both followed by their tangent and their pullback */

/* program.py says why */
#define VM_NEGLIGIBLE 1e-4
#define VM_NOISE 1e3

/* Sizes. `parameters` are those of the gradient, derivatives of the state stand in rows of length `row`; then whether there are rates beside the step,
   whether independent coordinates are chosen, and whether to stop where rounding is amplified; length of a row of costates, 0 without a sweep backwards,
   number of all parameters, entries of a state that objectives see, numbers in a record of a step; of the working storage. Where a program is built
   for a card they, and the scheme, are constants. */
#ifndef VM_SIZES
#define VM_SCHEME const vm_scheme *scheme;
#define VM_SIZES \
  long long coordinates, states, unknowns, multipliers, objectives, parameters, row, coefficients, conditions; \
  long long rates, selects, sharp; \
  long long columns, pulled, measured, record_size; \
  long long numbers, penalties, stages, arguments, results, integers, reals, bases, workspace;
#endif

typedef struct vm_run {
  const vm_plan *plans;                  /* one for each function that is not generated */
  VM_SCHEME                              /* NULL for implicit steps */
  VM_SIZES
  const double *seeds;                   /* derivatives of the parameters */
  const double *guess;                   /* for a start that is to be found; NULL where state and state_sensitivity are given */
  const double *anchor;                  /* positions that set the penalty; NULL where the start does */
  double *state, *state_sensitivity;     /* in: at the first step; out: at the last one done */
  double *integral, *integral_gradient;  /* ψ without its final term, ψ' likewise, so far */
  const double *values, *nominal;        /* of all parameters; the nominal ones set the penalty */
  double *penalty;
  double *chosen;                        /* 1 for independent coordinates, else 0 */
  double duration, step, tolerance;      /* s; equal steps unless there is a tolerance or `ends` */
  double longest;                        /* s; the longest step, where they are chosen */
  const double *stops, *limits;          /* ends of pieces that no step crosses, and their longest steps; NULL where the whole run is one */
  const double *probes;                  /* times at which explicit functions of time are looked at, and the time that each stands for */
  const double *ends;                    /* times between steps where these are given, from 0 on; else NULL */
  const double *outputs;                 /* when to store, from the second on; NULL for every `stride`-th step and the last */
  double *taken;                         /* ends of all steps done, where wanted */
  long long probe_count;
  long long last, stride, total;         /* up to which step to go now; how many there are, where that is known */
  long long max_iterations, parts;       /* the latter of the way from the nominal start to the one wanted */
  double *times, *states_stored, *sensitivities, *objectives_stored, *gradients;  /* where to store; `stored` were so far */
  long long stored;
  double *residuals;                     /* largest so far */
  const double *turns;                   /* for each coordinate what its error is measured by: 1 for an angle, infinity if only its rate counts; 0 for a length */
  const double *slope_floors;            /* for each parameter, 1 over its size */
  double *slope_scales, *integrand_scales; /* what errors are measured by: derivatives of positions, then of velocities; integrands */
  double *velocity_scales;               /* for each coordinate, the largest rate so far; in use where coordinates are of several kinds */
  double mixed;                          /* whether they are */
  double smallest_size;                  /* what the largest length counts at least */
  double *records, *start_unknowns;      /* of steps done, from number `first_recorded` on, or NULL; what the start was found with */
  double *costate, *gradient;            /* derivatives of objectives with respect to the state where the sweep stands, and to parameters, by rows */
  double time, proposal, position_scale, velocity_scale;
  double kept_proposal;                  /* what was proposed before a piece cut it short */
  double look_time;                      /* when the run was last looked at for progress; the number of tries then is `look_tries` */
  long long piece, look_tries;
  long long first_recorded, to_end, from_start; /* of a sweep backwards: see adjoint.c */
  long long done, rejected, selections, iterations;
  long long status;
} vm_run;

/* where a run works */
typedef struct {
  vm_scratch bench;
  double *workspace, *coefficients, *x, *y, *x_next, *y_next, *jacobian, *residuals, *ratio, *guess, *way;
  /* states at all stages (the first is the beginning of a step), at its end and at further stages, integrands there, both with derivatives; of
     explicit schemes combined positions and velocities, and what dense output gives */
  double *X, *X_, *G, *G_, *Y, *Y_, *Z, *Z_, *psi, *psi_;
  double *solved;                        /* unknowns and multipliers of iterated chains, at all stages */
  double *costates, *pulled, *contribution; /* of a sweep backwards: at stages; what came out last, for a state and for parameters */
} vm_workspace;

/* At which stage the end of a step stands. */
static long long vm_last_stage(const vm_run *r) { return r->scheme ? r->scheme->stages : 1; }

static int vm_finite(const double *x, long long n) {
  double sum = 0;
  for (long long i = 0; i < n; ++i) sum += 0 * x[i]; /* NaN and infinity times zero are NaN */
  return sum == 0;
}

static void vm_call(int function, const vm_run *r, vm_workspace *m) {
  vm_scratch *b = &m->bench;
  if (vm_generated(function)) vm_call_generated(function, b->arg, b->res, b->iw, b->rw);
  else vm_execute(r->plans + function, vm_maps, b, m->workspace);
}

/* Carries out a chain: from `state` (and S) with `count` settings to `result` (and S_result). Returns whether it converged. */
static int vm_solve(int chain, vm_run *r, vm_workspace *m, const double *state, const double *S, const double *const *settings, int count,
                    double *result, double *S_result) {
  const size_t bytes = (size_t)count * sizeof(double *);
  const int iterated = vm_iterated(chain / VM_PER_CHAIN);
  const double **arg = m->bench.arg;
  double **res = m->bench.res;
  *m->ratio = 0;
  if (iterated) {
    arg[0] = state; memcpy(arg + 1, settings, bytes);
    res[0] = m->x; res[1] = m->y;
    vm_call(chain + VM_PREDICT, r, m);
    long long k = 0;
    int converged;
    double last = 0;
    do {
      arg[0] = state; arg[1] = m->x; arg[2] = m->y; memcpy(arg + 3, settings, bytes);
      res[0] = m->x_next; res[1] = m->y_next; res[2] = m->ratio;
      vm_call(chain + VM_ITERATE, r, m);
      memcpy(m->x, m->x_next, (size_t)r->unknowns * sizeof(double));
      memcpy(m->y, m->y_next, (size_t)r->multipliers * sizeof(double));
      ++k;
      /* a sequence that converges quadratically: the next ratio will be about ratio³ / last² */
      converged = *m->ratio <= 1 || *m->ratio * *m->ratio * *m->ratio <= VM_NEGLIGIBLE * last * last ||
                  (*m->ratio <= VM_NOISE && ((k > 2 && *m->ratio >= last) || k == r->max_iterations));
      last = *m->ratio;
    } while (!converged && *m->ratio <= 1e300 && k < r->max_iterations);
    if (!converged) return 0;
    if (chain != VM_START) r->iterations += k;
  }
  const int tangent = vm_generated(chain + VM_TANGENT), planned = r->parameters && !tangent;
  *arg++ = state;
  if (iterated) { *arg++ = m->x; *arg++ = m->y; }
  if (planned) *arg++ = S;
  memcpy(arg, settings, bytes);
  res[0] = result; res[1] = m->residuals;
  res[2] = tangent ? m->coefficients : S_result;
  vm_call(chain + VM_FINISH, r, m);
  if (tangent) {
    arg = m->bench.arg;
    arg[0] = m->coefficients; arg[1] = S; arg[2] = r->seeds;
    res[0] = S_result;
    vm_call(chain + VM_TANGENT, r, m);
  }
  return 1;
}

/* values of the objectives' integrands or finals at a state, and their derivatives */
static void vm_measure(int function, vm_run *r, vm_workspace *m, const double *time, const double *state, const double *S, double *value, double *slope) {
  if (r->objectives == 0) return;
  const double **arg = m->bench.arg;
  arg[0] = state; arg[1] = r->values; arg[2] = time;
  m->bench.res[0] = value;
  vm_call(function, r, m);
  if (r->parameters == 0) return;
  arg[0] = state; arg[1] = S; arg[2] = r->values; arg[3] = time;
  m->bench.res[0] = slope;
  vm_call(function + 1, r, m);
}

/* `function` of positions: penalties, or the Jacobian of the constraints */
static void vm_of_positions(int function, vm_run *r, vm_workspace *m, const double *values, const double *time, const double *state, double *result) {
  m->bench.arg[0] = state; m->bench.arg[1] = values; m->bench.arg[2] = time; /* a state begins with its positions */
  m->bench.res[0] = result;
  vm_call(function, r, m);
}

static void vm_keep_largest(double *largest, const double *values, long long count) {
  for (long long i = 0; i < count; ++i) if (values[i] > largest[i]) largest[i] = values[i];
}

static double vm_size(const double *x, long long count) {
  double largest = 0;
  for (long long i = 0; i < count; ++i) if (fabs(x[i]) > largest) largest = fabs(x[i]);
  return largest;
}

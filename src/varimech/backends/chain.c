/* Data of a run, calls of generated functions, and execution of chains. This source is the same for every program.

   In the machine it follows bytecode.c and plan.c, and generated functions are those of a program's own library (library.c). In programs for GPUs,
   and in bundles, it follows the generated functions, which vm_call_generated calls by number, plan.c, and the kernels of plans, listed in
   vm_maps. */

enum { VM_DONE = 0, VM_NO_CONVERGENCE, VM_NOT_FINITE, VM_NO_MEMORY, VM_NOT_ASSEMBLED, VM_UNDERFLOW, VM_AT_SINGULARITY, VM_AMPLIFIED, VM_STALLED, VM_CROSSING,
       VM_OVERLAP, VM_UNSETTLED, VM_ENDLESS, VM_SETTLE };
enum { VM_PREDICT, VM_ITERATE, VM_FINISH, VM_TANGENT, VM_LINEARISE, VM_PULLBACK, VM_PER_CHAIN };  /* functions of a step, an assembly, rates, an impact or a passage */
enum { VM_STEP = 0, VM_START = VM_PER_CHAIN, VM_RATES = 2 * VM_PER_CHAIN, VM_IMPACT = 3 * VM_PER_CHAIN, VM_PASSAGE = 4 * VM_PER_CHAIN, VM_PENALTY = 5 * VM_PER_CHAIN, VM_JACOBIAN, VM_INTEGRANDS,
       VM_FINALS = VM_INTEGRANDS + 3,  /* followed by their tangent and their pullback, like the integrands */
       VM_SWITCHING = VM_FINALS + 3, VM_SWITCHING_GRADIENT, VM_UNITS, VM_UNIT_GRADIENT, VM_SAMPLES, VM_SAMPLE_GRADIENT, VM_FINAL_TIME };

/* Sizes. parameters: those of the gradient. row: length of a row of derivatives of the state. rates: whether there are rates besides the step.
   selects: whether independent coordinates are selected. sharp: whether to stop where rounding is amplified. columns: length of a row of costates,
   0 without a reverse sweep. pulled: number of all parameters. measured: entries of a state that objectives read. record_size: numbers in a step
   record. switches: functions whose signs locate jumps, those of forces first. units: contacts, frictions and stated events. samples: functions
   whose values at events, or extrema, are requested. actions: actions of stated events. modes: numbers at the end of the parameters that change at
   events. seed_rows: rows of `seeds`, the last one for time; 0 without a seed for time. passage_size: numbers in a row of data of a passage, 0
   without passages. passage_modes: number of modes before a passage, and after it, which are stored among the parameters from mode_place on. The
   sizes of the working storage follow. In GPU code all sizes, and the scheme, are constants. */
#ifndef VM_SIZES
#define VM_SCHEME const vm_scheme *scheme;
#define VM_SIZES \
  long long coordinates, states, unknowns, multipliers, objectives, parameters, row, coefficients, conditions; \
  long long rates, selects, sharp; \
  long long columns, pulled, measured, record_size, switches, force_switches; \
  long long units, modes, seed_rows, samples, actions, passage_size, passage_modes, mode_place; \
  long long numbers, penalties, stages, arguments, results, integers, reals, bases, workspace;
#endif

/* a generated function; a call of a function of vectors of samples by its number */
typedef int (*vm_function)(const double **arg, double **res, long long *iw, double *w, int memory);
typedef void (*vm_lane_call)(int function, const double *const *arg, double *const *res, double *w);
typedef void (*vm_lane_map_call)(int map, long long count, long long width, long long columns, const vm_port *ports, double *const *bases,
                                 const double *constants, const int *const *tables, double *w);
typedef void (*vm_plan_call)(const vm_plan *plan, const vm_scratch *scratch, double *workspace);

typedef struct vm_run {
  const vm_plan *plans;                  /* one for each function that is not generated */
  VM_SCHEME                              /* NULL for implicit steps */
  VM_SIZES
  const double *seeds;                   /* derivatives of the parameters */
  const double *guess;                   /* guess of the assembly; NULL if state and state_sensitivity are given */
  const double *anchor;                  /* positions that set the penalty; NULL: the initial ones */
  double *state, *state_sensitivity;     /* in: at the first step; out: at the last completed one */
  double *integral, *integral_gradient;  /* ψ without its final term, and ψ', so far */
  double *values;                        /* values of all parameters; modes, at their end, change */
  const double *nominal;                 /* nominal values, which set the penalty */
  double *penalty;
  double *chosen;                        /* 1 for independent coordinates, otherwise 0 */
  double duration, step, tolerance;      /* s; equal steps unless there is a tolerance or `ends` */
  double longest;                        /* s; longest adaptive step */
  const double *stops, *limits;          /* ends of pieces that no step crosses, and their longest steps; NULL for a single piece */
  const double *probes;                  /* sampling times of explicit functions of time, and the duration that each represents */
  const double *ends;                    /* given step ends, from 0 on; otherwise NULL */
  const double *outputs;                 /* output times, from the second on; NULL for every `stride`-th step and the last */
  double *taken;                         /* ends of all completed steps, or NULL */
  double *crossed;                       /* for each completed step, the switch that changed sides, from 1 on, negative if nothing jumps, or 0; or NULL */
  const double *unit_table;              /* for each unit: kind, contact of a friction, place of its first mode, direction and kind of reset of an event */
  const double *action_table;            /* for each action: event, place of a mode and its value; a negative place ends the run */
  const double *sample_table, *sample_factors; /* for each sample its kind, unit and occurrence; for each objective, the factor of each sample */
  double *event_sides;                   /* for each unit, whether the function of a stated event is negative; then its largest magnitude so far */
  double *sample_values, *sample_gradient, *sample_places, *sample_counts; /* for each sample: value, derivatives, place where it was taken, number of occurrences so far */
  double *triggers;                      /* for each completed step, the unit whose mode ends there, from 1 on, -1 at the start of a run, or 0; or NULL */
  double *notes;                         /* log of each event, see `Trajectory.notes`; or NULL */
  double *mode_log;                      /* modes after each event, by the number of its step; or NULL */
  const double *passages, *passage_rows; /* for each given step that is a passage the number of its row of data, from 1 on, else 0; NULL without passages */
  long long probe_count;
  long long last, stride, total;         /* last step of this call; number of steps, 0 if unknown */
  long long max_iterations, parts;       /* parts: continuation steps from the nominal to the requested initial state */
  double *times, *states_stored, *sensitivities, *objectives_stored, *gradients;  /* output arrays; `stored` rows are filled */
  long long stored;
  double *residuals;                     /* largest so far */
  const double *turns;                   /* for each coordinate the magnitude that scales its error: 1 for an angle, infinity if only its rate counts; 0 for a length */
  const double *sensitivity_floors;            /* for each parameter, 1 over its magnitude */
  double *sensitivity_scales, *integrand_scales; /* error scales: of derivatives of positions, then of velocities; of integrands */
  double *velocity_scales;               /* for each coordinate, the largest rate so far; used if coordinates are of several kinds */
  double mixed;                          /* whether coordinates are of several kinds */
  double smallest_size;                  /* lower bound of the largest length */
  double *records, *start_unknowns;      /* step records from number `first_recorded` on, or NULL; solution of the assembly */
  double *costate, *gradient;            /* derivatives of objectives with respect to the current state of the sweep, and to parameters, by rows */
  double time, proposal, position_scale, velocity_scale;
  double kept_proposal;                  /* proposed step before the end of a piece shortened it */
  double longer;                         /* longest step that a jump has shortened since the last one */
  double contact_length, contact_speed, contact_force, rest_tolerance; /* scales of contacts; impacts slower than a share of the speed have no restitution */
  double sought_short, value_short, rate_short, sought_long, value_long, rate_long; /* step lengths on both sides of an event that is sought, with values and rates of its function */
  double short_step;                     /* length up to which a step of an implicit integrator uses the accelerations at its beginning */
  double event_time;                     /* time of the last event, one of `events_there` at that time */
  double check_time;                      /* time of the last progress check, after `check_tries` attempted steps */
  long long sought, attempts, events_there, culprit, stopped; /* unit whose event is sought, or -1; unit that causes a failure; whether an event has ended the run */
  long long piece, check_tries, approaches; /* attempts to end a step before the same change of sides */
  long long watches, grid;               /* whether given steps are shortened to end at events; number of given steps completed then */
  long long at_steps, passed;            /* whether only ends of steps are stored, the first at or after each output time; the next output time */
  long long first_recorded, to_end, from_start; /* of a reverse sweep: see adjoint.c */
  long long done, rejected, selections, iterations;
  long long status;
  const vm_function *functions;          /* for the machine, those of the program's own library: NULL for each that is not generated, or for all */
  vm_plan_call execute_plan;             /* of that library, for plans; or NULL */
  vm_lane_call lane_functions;           /* for vectors of samples: see lanes.c */
  vm_lane_map_call lane_maps;            /* maps of plans for vectors of samples, or NULL */
  long long lane_bits;
} vm_run;

#ifdef VM_WIDTH
/* Attempted step of a run in a lane; its stages stay in vectors until they are fetched: see lanes.c. */
typedef struct { double error, *sums; struct vm_vectors *vectors; int number, fetched; } vm_lane;
#endif

/* working storage of a run */
typedef struct {
  vm_scratch scratch;
  double *workspace, *coefficients, *x, *y, *x_next, *y_next, *jacobian, *residuals, *ratio, *guess, *path_values;
  /* states at all stages (the first is the beginning of a step), at its end and at further stages, and integrands there, both with derivatives;
     for explicit schemes combined positions and velocities, and dense output */
  double *X, *X_, *G, *G_, *Y, *Y_, *Z, *Z_, *psi, *psi_;
  double *solved;                        /* unknowns and multipliers of iterated chains, at all stages */
  double *sides, *sides_next, *slopes;   /* sides, values and rates of switching functions at both ends of a step, and their gradients */
  double *units, *units_next, *units_sought, *unit_slopes; /* values of units at both ends of a step, directions of sliding, and gradients of watched functions */
  double *unit_directions; /* for each slip of several components the last direction that was tried and the acceleration of the slip, three numbers each; then the acceleration without friction */
  double *event_before, *event_integrands, *modes_before; /* state, integrands and modes before an event */
  double *shift, *event_seeds, *event_state, *event_slopes, *event_motion; /* derivatives of its time; of parameters and time there; a state beside it, and its rates */
  double *sampled, *sample_slopes;       /* values of sampled functions, twice, and their gradients */
  double *passed, *passed_, *passed_costate; /* state and integrals after a passage, with derivatives; their costates */
  double *costates, *pulled, *contribution; /* of a reverse sweep: costates at stages; latest results for a state and for parameters */
#ifdef VM_WIDTH
  vm_lane *lane;                         /* NULL for a single run */
#endif
} vm_workspace;

/* Whether steps are shortened or lengthened by their error, events or jumps. */
static int vm_chooses(const vm_run *r) { return r->tolerance > 0 || r->watches; }

/* End of a given step. */
static double vm_given_end(const vm_run *r, long long number) { return r->ends ? r->ends[number] : (double)number * r->step; }

/* Whether a step of an implicit integrator is too short for it: rounding of positions over the square of its length would be an acceleration. */
static int vm_is_short(const vm_run *r, double h) { return !r->scheme && r->rates && h <= r->short_step; }

/* Stage index of the end of a step. */
static long long vm_last_stage(const vm_run *r) { return r->scheme ? r->scheme->stages : 1; }

static int vm_finite(const double *x, long long n) {
  double sum = 0;
  for (long long i = 0; i < n; ++i) sum += 0 * x[i]; /* NaN and infinity times zero are NaN */
  return sum == 0;
}

/* Whether a function is bytecode: some functions of a large program are, and all of the machine's that are not plans. */
static int vm_interpreted(const vm_run *r, int function) {
#ifdef VM_MACHINE
  return r->plans[function].bytecode != 0;
#else
  return 0;
#endif
}

static int vm_generated(const vm_run *r, int function) {
#ifdef VM_MACHINE
  return r->functions && r->functions[function];
#else
  return VM_GENERATED >> function & 1;
#endif
}

static int vm_is_plan(const vm_run *r, int function) { return !vm_generated(r, function) && !vm_interpreted(r, function); }

static int vm_iterated(const vm_run *r, int chain) {
#ifdef VM_ITERATED
  return VM_ITERATED >> chain / VM_PER_CHAIN & 1;
#else
  return vm_generated(r, chain + VM_ITERATE) || vm_interpreted(r, chain + VM_ITERATE) || r->plans[chain + VM_ITERATE].code;
#endif
}

static void vm_call(int function, const vm_run *r, vm_workspace *m) {
  const vm_scratch *b = &m->scratch;
#ifdef VM_MACHINE
  if (vm_generated(r, function)) r->functions[function](b->arg, b->res, b->iw, b->rw, 0);
  else if (vm_interpreted(r, function)) vm_interpret(r->plans[function].bytecode, b->arg, b->res, b->rw);
#else
  if (vm_generated(r, function)) vm_call_generated(function, b->arg, b->res, b->iw, b->rw);
#endif
#ifdef VM_PLANS /* the plans of a GPU are part of its program */
  else if (vm_plans[function].code) vm_execute(vm_plans + function, 0, b, m->workspace);
#elif !defined(VM_THREADS)
#ifdef VM_MACHINE
  else if (r->execute_plan && r->plans[function].code) r->execute_plan(r->plans + function, b, m->workspace);
#endif
  else if (r->plans && r->plans[function].code) vm_execute(r->plans + function, vm_maps, b, m->workspace);
#endif
#ifdef VM_MACHINE
  else if (r->plans[function].arguments >= 0) abort(); /* a function that has results and is not loaded */
#endif
}

/* Reason why a chain has no solution. Returns a status. */
static int vm_unsolved(const vm_workspace *m) { return *m->ratio <= VM_LARGEST ? VM_NO_CONVERGENCE : VM_NOT_FINITE; }

/* Execute a chain from `state` (and S) with `count` settings to `result` (and S_result). Returns whether it converged. */
static int vm_solve(int chain, vm_run *r, vm_workspace *m, const double *state, const double *S, const double *const *settings, int count,
                    double *result, double *S_result) {
  const size_t bytes = (size_t)count * sizeof(double *);
  const int iterated = vm_iterated(r, chain);
  const double **arg = m->scratch.arg;
  double **res = m->scratch.res;
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
      converged = vm_converged(*m->ratio, last, k, r->max_iterations);
      last = *m->ratio;
    } while (!converged && *m->ratio <= VM_LARGEST && k < r->max_iterations);
    if (!converged) return 0;
    if (chain != VM_START) r->iterations += k;
  }
  const int tangent = !vm_is_plan(r, chain + VM_TANGENT), planned = r->parameters && !tangent;
  *arg++ = state;
  if (iterated) { *arg++ = m->x; *arg++ = m->y; }
  if (planned) *arg++ = S;
  if (planned && r->seed_rows) *arg++ = r->seeds; /* derivatives of all parameters and time */
  memcpy(arg, settings, bytes);
  res[0] = result; res[1] = m->residuals;
  res[2] = tangent ? m->coefficients : S_result;
  vm_call(chain + VM_FINISH, r, m);
  if (tangent) {
    arg = m->scratch.arg;
    arg[0] = m->coefficients; arg[1] = S; arg[2] = r->seeds;
    res[0] = S_result;
    vm_call(chain + VM_TANGENT, r, m);
  }
  return 1;
}

/* Evaluate the objectives' integrands or final terms at a state, and their derivatives. */
static void vm_evaluate_objectives(int function, vm_run *r, vm_workspace *m, const double *time, const double *state, const double *S, double *value, double *derivative) {
  if (r->objectives == 0) return;
  const double **arg = m->scratch.arg;
  arg[0] = state; arg[1] = r->values; arg[2] = time;
  m->scratch.res[0] = value;
  vm_call(function, r, m);
  if (r->parameters == 0) return;
  arg[0] = state; arg[1] = S; arg[2] = r->values; arg[3] = time;
  m->scratch.res[0] = derivative;
  vm_call(function + 1, r, m);
}

/* Evaluate a function of positions: penalties, or the Jacobian of the constraints. */
static void vm_of_positions(int function, vm_run *r, vm_workspace *m, const double *values, const double *time, const double *state, double *result) {
  m->scratch.arg[0] = state; m->scratch.arg[1] = values; m->scratch.arg[2] = time; /* a state begins with its positions */
  m->scratch.res[0] = result;
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

/* Data of a run, calls of generated functions, and execution of chains. This source is the same for every program.

   In the machine it is preceded by bytecode.c and plan.c, and generated functions are those of a program's own library (library.c). In programs
   for GPUs, and in bundles, it is preceded by the generated functions, which vm_call_generated calls by number, by plan.c, and by the kernels
   of plans, listed in vm_maps. */

enum { VM_DONE = 0, VM_NO_CONVERGENCE, VM_NOT_FINITE, VM_NO_MEMORY, VM_NOT_ASSEMBLED, VM_UNDERFLOW, VM_AT_SINGULARITY, VM_AMPLIFIED, VM_STALLED, VM_CROSSING,
       VM_OVERLAP, VM_UNSETTLED, VM_ENDLESS, VM_SETTLE };
enum { VM_PREDICT, VM_ITERATE, VM_FINISH, VM_TANGENT, VM_LINEARISE, VM_PULLBACK, VM_PER_CHAIN };  /* of a step, an assembly, rates, an impact or a passage */
enum { VM_STEP = 0, VM_START = VM_PER_CHAIN, VM_RATES = 2 * VM_PER_CHAIN, VM_IMPACT = 3 * VM_PER_CHAIN, VM_PASSAGE = 4 * VM_PER_CHAIN, VM_PENALTY = 5 * VM_PER_CHAIN, VM_JACOBIAN, VM_INTEGRANDS,
       VM_FINALS = VM_INTEGRANDS + 3,  /* both are followed by their tangent and their pullback */
       VM_SWITCHING = VM_FINALS + 3, VM_SWITCHING_GRADIENT, VM_UNITS, VM_UNIT_GRADIENT, VM_SAMPLES, VM_SAMPLE_GRADIENT, VM_FINAL_TIME };

/* Sizes. `parameters` are those of the gradient; derivatives of the state have rows of length `row`. rates: whether there are rates beside the step;
   selects: whether independent coordinates are selected; sharp: whether to stop where rounding is amplified. columns: length of a row of costates,
   0 without a reverse sweep; pulled: number of all parameters; measured: entries of a state that objectives read; record_size: numbers in a step
   record; switches: functions whose sign decides about jumps, those of forces first; units: contacts, frictions and stated events; samples:
   functions whose values at events, or extrema, are wanted; actions: of stated events; modes: numbers at the end of the parameters that change at events; seed_rows: rows of `seeds`, the last for time, 0 where time has none; passage_size: numbers in a row of data of a passage, 0 where
   there are none; passage_modes of them are modes before, or after it, which stand in the parameters from mode_place on. Then sizes of the working storage. In GPU code they, and
   the scheme, are constants. */
#ifndef VM_SIZES
#define VM_SCHEME const vm_scheme *scheme;
#define VM_SIZES \
  long long coordinates, states, unknowns, multipliers, objectives, parameters, row, coefficients, conditions; \
  long long rates, selects, sharp; \
  long long columns, pulled, measured, record_size, switches, force_switches; \
  long long units, modes, seed_rows, samples, actions, passage_size, passage_modes, mode_place; \
  long long numbers, penalties, stages, arguments, results, integers, reals, bases, workspace;
#endif

/* a generated function; a call of one of a vector of samples by its number */
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
  const double *guess;                   /* of the assembly; NULL if state and state_sensitivity are given */
  const double *anchor;                  /* positions that set the penalty; NULL: the initial ones */
  double *state, *state_sensitivity;     /* in: at the first step; out: at the last completed one */
  double *integral, *integral_gradient;  /* ψ without its final term, ψ' likewise, so far */
  double *values;                        /* of all parameters; modes, at their end, change */
  const double *nominal;                 /* they set the penalty */
  double *penalty;
  double *chosen;                        /* 1 for independent coordinates, otherwise 0 */
  double duration, step, tolerance;      /* s; equal steps unless there is a tolerance or `ends` */
  double longest;                        /* s; longest adaptive step */
  const double *stops, *limits;          /* ends of pieces that no step crosses, and their longest steps; NULL for a single piece */
  const double *probes;                  /* sampling times of explicit functions of time, and the duration that each represents */
  const double *ends;                    /* given step ends, from 0 on; otherwise NULL */
  const double *outputs;                 /* output times, from the second on; NULL for every `stride`-th step and the last */
  double *taken;                         /* ends of all completed steps, or NULL */
  double *crossed;                       /* for each completed step, the switch whose side it changed, from 1 on, negative where nothing jumps, or 0; or NULL */
  const double *unit_table;              /* for each unit: its kind, the contact of friction, the place of its first mode, direction and whether it resets, of events */
  const double *action_table;            /* for each action: its event, the place of a mode and its value; a negative place ends the run */
  const double *sample_table, *sample_factors; /* for each sample its kind, unit and occurrence; for each objective, what it has of each sample */
  double *event_sides;                   /* for each unit, whether the function of a stated event is negative; then its largest magnitude so far */
  double *sample_values, *sample_gradient, *sample_places, *sample_counts; /* of each sample: value, derivatives, where it was taken, occurrences so far */
  double *triggers;                      /* for each completed step, the unit whose mode ends there, from 1 on, -1 at the start of a run, or 0; or NULL */
  double *notes;                         /* for each of these what events.py lists; or NULL */
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
  double kept_proposal;                  /* proposed step before a piece end shortened it */
  double longer;                         /* longest step that a jump has shortened since the last one */
  double contact_length, contact_speed, contact_force, rest_tolerance; /* scales of contacts; impacts slower than a share of the speed have no restitution */
  double sought_short, value_short, rate_short, sought_long, value_long, rate_long; /* lengths of steps on both sides of an event that is sought */
  double short_step;                     /* length up to which accelerations at the beginning take a step of an implicit integrator */
  double event_time;                     /* of the last event, one of `events_there` */
  double check_time;                      /* time of the last progress check, at `check_tries` attempted steps */
  long long sought, attempts, events_there, culprit, stopped; /* unit whose event is sought, or -1; the unit that a failure is about; whether an event has ended the run */
  long long piece, check_tries;
  long long watches, grid;               /* whether given steps are shortened to end at events; how many of them have been taken then */
  long long at_steps, passed;            /* whether only ends of steps are stored, the first at or after each output time; the next output time */
  long long first_recorded, to_end, from_start; /* of a reverse sweep: see adjoint.c */
  long long done, rejected, selections, iterations;
  long long status;
  const vm_function *functions;          /* those of the library of the program, for the machine: NULL for each that is not generated, or for all */
  vm_plan_call execute_plan;             /* likewise of that library, for plans; or NULL */
  vm_lane_call lane_functions;           /* likewise for vectors of samples: see lanes.c */
  vm_lane_map_call lane_maps;            /* and maps of plans, or NULL */
  long long lane_bits;
} vm_run;

#ifdef VM_WIDTH
/* What a run in a lane has of an attempted step; its stages stand in vectors until they are fetched: see lanes.c. */
typedef struct { double error, *sums; struct vm_vectors *vectors; int number, fetched; } vm_lane;
#endif

/* working storage of a run */
typedef struct {
  vm_scratch scratch;
  double *workspace, *coefficients, *x, *y, *x_next, *y_next, *jacobian, *residuals, *ratio, *guess, *path_values;
  /* states at all stages (the first is the beginning of a step), at its end and at further stages, and integrands there, both with derivatives;
     of explicit schemes combined positions and velocities, and dense output */
  double *X, *X_, *G, *G_, *Y, *Y_, *Z, *Z_, *psi, *psi_;
  double *solved;                        /* unknowns and multipliers of iterated chains, at all stages */
  double *sides, *sides_next, *slopes;   /* sides, values and rates of switching functions at both ends of a step, and their gradients */
  double *units, *units_next, *units_sought, *unit_slopes; /* values of units at both ends of a step, directions of friction that slides, and gradients of watched functions */
  double *unit_directions; /* the last direction of each slip of several components that was tried, and the acceleration of the slip, three numbers each; and that without friction */
  double *event_before, *event_integrands, *modes_before; /* state, integrands and modes before an event */
  double *shift, *event_seeds, *event_state, *event_slopes, *event_motion; /* derivatives of its time; of parameters and time there; a state beside it, and its rates */
  double *sampled, *sample_slopes;       /* values of sampled functions, twice, and their gradients */
  double *passed, *passed_, *passed_costate; /* state and integrals after a passage, with derivatives; their costates */
  double *costates, *pulled, *contribution; /* of a reverse sweep: at stages; latest result for a state and for parameters */
#ifdef VM_WIDTH
  vm_lane *lane;                         /* NULL for a run by itself */
#endif
} vm_workspace;

/* Whether steps end where their error, an event or a jump says. */
static int vm_chooses(const vm_run *r) { return r->tolerance > 0 || r->watches; }

/* Given end of a step. */
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

/* whether a function is bytecode; some of a large program are, and all of the machine's that are no plans */
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
#ifdef VM_PLANS /* those of a GPU are part of its program */
  else if (vm_plans[function].code) vm_execute(vm_plans + function, 0, b, m->workspace);
#elif !defined(VM_THREADS)
#ifdef VM_MACHINE
  else if (r->execute_plan && r->plans[function].code) r->execute_plan(r->plans + function, b, m->workspace);
#endif
  else if (r->plans && r->plans[function].code) vm_execute(r->plans + function, vm_maps, b, m->workspace);
#endif
#ifdef VM_MACHINE
  else if (r->plans[function].arguments >= 0) abort(); /* a function that has results and is not there */
#endif
}

/* Why a chain has no solution. Returns a status. */
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
  if (planned && r->seed_rows) *arg++ = r->seeds; /* of all parameters and time */
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

/* values of the objectives' integrands or finals at a state, and their derivatives */
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

/* `function` of positions: penalties, or the Jacobian of the constraints */
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

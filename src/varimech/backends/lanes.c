/* Many runs side by side: VM_WIDTH samples in the lanes of vector registers.

   A lane is a run with its own workspace. All lanes attempt a step at the same time: the expensive part, the stages of the step with their
   derivatives, integrands and error estimates, is computed in vectors, in which each lane has one number. Everything else (the next step, events,
   outputs) is computed lane by lane with the functions of the driver, so lanes may be at different times, in different modes, and end or fail
   independently; then the next sample takes the lane. Operations and their order are those of a single run, so results are the same to the last
   bit, except for sines and cosines (lane_math.c, which precedes this text). */

static const vm_vector vm_zeros = {0};

/* Interpret a function for all lanes. For column functions (columns.py), `columns` columns are computed, in rows of length `row`; 0 for others.
   The last argument of column functions, the derivatives of the parameters, is the same for all lanes. */
static void vm_interpret_lanes(const vm_bytecode *t, const vm_vector *const *arg, vm_vector *const *res, vm_vector *w, long long columns, long long row) {
  const int by_columns = columns > 0;
  for (long long c = 0; c < (by_columns ? columns : 1); ++c)
    for (const vm_instruction *i = t->code, *end = i + t->count; i < end; ++i) {
      vm_vector *to = w + i->to;
      switch (i->operation) {
        case VM_OP_INPUT:
          if (!by_columns || i->a < t->shared) *to = arg[i->a][i->b];
          else if (i->a == t->shared) *to = arg[i->a][i->b * row + c];
          else *to = vm_all(((const double *)arg[i->a])[i->b * row + c]);
          break;
        case VM_OP_OUTPUT: res[i->to][by_columns ? i->b * row + c : i->b] = w[i->a]; break;
        case VM_OP_CONST: *to = vm_all(vm_constant(i)); break;
        case VM_OP_ASSIGN: case VM_OP_LIFT: *to = w[i->a]; break;
        case VM_OP_ADD: *to = w[i->a] + w[i->b]; break;
        case VM_OP_SUB: *to = w[i->a] - w[i->b]; break;
        case VM_OP_MUL: *to = w[i->a] * w[i->b]; break;
        case VM_OP_DIV: *to = w[i->a] / w[i->b]; break;
        case VM_OP_NEG: *to = -w[i->a]; break;
        case VM_OP_SQ: *to = w[i->a] * w[i->a]; break;
        case VM_OP_TWICE: *to = 2. * w[i->a]; break;
        case VM_OP_INV: *to = 1. / w[i->a]; break;
        case VM_OP_FABS: *to = vm_magnitudes(w[i->a]); break;
        case VM_OP_LT: *to = vm_ones(w[i->a] < w[i->b]); break;
        case VM_OP_LE: *to = vm_ones(w[i->a] <= w[i->b]); break;
        case VM_OP_NOT: *to = vm_ones(w[i->a] == 0); break;
        case VM_OP_IF_ELSE_ZERO: *to = vm_pick(w[i->a] != 0, w[i->b], vm_zeros); break;
        case VM_OP_SQRT: *to = vm_sqrt(w[i->a]); break;
        case VM_OP_SIN: *to = vm_sin(w[i->a]); break;
        case VM_OP_COS: *to = vm_cos(w[i->a]); break;
        case VM_OP_FMIN: *to = vm_fmin(w[i->a], w[i->b]); break;
        case VM_OP_FMAX: *to = vm_fmax(w[i->a], w[i->b]); break;
        default: for (int k = 0; k < VM_WIDTH; ++k) (*to)[k] = vm_operation(i->operation, w[i->a][k], w[i->b][k]);
      }
    }
}

static void vm_execute_lanes(const vm_plan *plan, const vm_run *r, const double *const *arg, double *const *res, vm_vector *workspace, vm_vector *w); /* see lane_plans.c */

/* Vectors of all lanes: as in vm_workspace, and the inputs of each lane; `seeds` are the same for all */
struct vm_vectors {
  vm_vector *X, *X_, *G, *G_, *Y, *Y_, *coefficients, *x, *y, *x_next, *y_next, *residuals, *ratio;
  vm_vector *penalty, *values, *chosen, *guess, *sums, *motion_scales, *sensitivity_scales, *integrand_scales, *w, *workspace, *seeds;
  vm_vector begin, end, h, time; /* of the step, and of a stage */
  const double *arg[12];
  double *res[8];
  int status[VM_WIDTH];
  long long iterations[VM_WIDTH];
  void *memory;
};
typedef struct vm_vectors vm_vectors;

/* A sample in progress. */
typedef struct {
  vm_run run;
  vm_workspace storage;
  vm_memory memory;
  vm_lane lane;
  vm_attempt attempt;
  double *values;
  long long sample; /* -1: none */
} vm_seat;

static void vm_call_lanes(int function, const vm_run *r, vm_vectors *m) {
  if (r->lane_bits >> function & 1) r->lane_functions(function, m->arg, m->res, (double *)m->w);
  else if (r->plans[function].bytecode)
    vm_interpret_lanes(r->plans[function].bytecode, (const vm_vector *const *)m->arg, (vm_vector *const *)m->res, m->w, function % VM_PER_CHAIN == VM_TANGENT && function < VM_PENALTY ? r->parameters : 0, r->row);
  else if (r->plans[function].code) vm_execute_lanes(r->plans + function, r, m->arg, m->res, m->workspace, m->w);
}

/* Record the first failure of a lane; failed lanes take part with whatever numbers they have. */
static void vm_fail(vm_vectors *m, int lane, int status) { if (m->status[lane] == VM_DONE) m->status[lane] = status; }

/* Newton's method for all lanes; those that have converged keep their values. */
static void vm_iterate_lanes(int chain, const vm_run *r, vm_vectors *m, const vm_vector *state, const double *const *settings, int count) {
  const size_t bytes = (size_t)count * sizeof(double *);
  vm_vector last = vm_zeros, ratio = vm_zeros;
  vm_mask going = {0};
  going = ~going;
  m->arg[0] = (const double *)state; memcpy(m->arg + 1, settings, bytes);
  m->res[0] = (double *)m->x; m->res[1] = (double *)m->y;
  vm_call_lanes(chain + VM_PREDICT, r, m);
  for (long long k = 1, left = VM_WIDTH; left; ++k) {
    m->arg[0] = (const double *)state; m->arg[1] = (double *)m->x; m->arg[2] = (double *)m->y; memcpy(m->arg + 3, settings, bytes);
    m->res[0] = (double *)m->x_next; m->res[1] = (double *)m->y_next; m->res[2] = (double *)m->ratio;
    vm_call_lanes(chain + VM_ITERATE, r, m);
    for (long long i = 0; i < r->unknowns; ++i) m->x[i] = vm_pick(going, m->x_next[i], m->x[i]);
    for (long long i = 0; i < r->multipliers; ++i) m->y[i] = vm_pick(going, m->y_next[i], m->y[i]);
    ratio = vm_pick(going, *m->ratio, ratio);
    left = 0;
    for (int l = 0; l < VM_WIDTH; ++l) {
      if (!going[l]) continue;
      const int converged = vm_converged(ratio[l], last[l], k, r->max_iterations);
      if (!converged && ratio[l] <= VM_LARGEST && k < r->max_iterations) { ++left; continue; }
      if (!converged) vm_fail(m, l, ratio[l] <= VM_LARGEST ? VM_NO_CONVERGENCE : VM_NOT_FINITE);
      else if (chain != VM_START) m->iterations[l] += k;
      going[l] = 0;
    }
    last = ratio;
  }
}

/* Execute a chain for all lanes, as vm_solve does for one. */
static void vm_solve_lanes(int chain, const vm_run *r, vm_vectors *m, const vm_vector *state, const vm_vector *S, const double *const *settings, int count,
                           vm_vector *result, vm_vector *S_result) {
  const int iterated = vm_iterated(r, chain), planned = r->parameters && vm_is_plan(r, chain + VM_TANGENT);
  const double **arg = m->arg;
  vm_vector sum = vm_zeros;
  if (iterated) vm_iterate_lanes(chain, r, m, state, settings, count);
  *arg++ = (const double *)state;
  if (iterated) { *arg++ = (double *)m->x; *arg++ = (double *)m->y; }
  if (planned) *arg++ = (const double *)S;
  if (planned && r->seed_rows) *arg++ = (double *)m->seeds;
  memcpy(arg, settings, (size_t)count * sizeof(double *));
  m->res[0] = (double *)result; m->res[1] = (double *)m->residuals; m->res[2] = (double *)(planned ? S_result : m->coefficients);
  vm_call_lanes(chain + VM_FINISH, r, m);
  if (r->parameters && !planned) {
    m->arg[0] = (double *)m->coefficients; m->arg[1] = (const double *)S; m->arg[2] = r->seeds;
    m->res[0] = (double *)S_result;
    vm_call_lanes(chain + VM_TANGENT, r, m);
  }
  for (long long i = 0; i < r->states; ++i) sum += 0 * result[i];
  for (int l = 0; l < VM_WIDTH; ++l) if (!(sum[l] == 0)) vm_fail(m, l, VM_NOT_FINITE);
}

static void vm_integrands_of_lanes(const vm_run *r, vm_vectors *m, const vm_vector *time, long long i) {
  const long long o = r->objectives, n = r->states;
  const double *const state = (double *)(m->X + i * n);
  if (o == 0) return;
  m->arg[0] = state; m->arg[1] = (double *)m->values; m->arg[2] = (const double *)time;
  m->res[0] = (double *)(m->G + i * o);
  vm_call_lanes(VM_INTEGRANDS, r, m);
  if (r->parameters == 0) return;
  m->arg[0] = state; m->arg[1] = (double *)(m->X_ + i * n * r->row); m->arg[2] = (double *)m->values; m->arg[3] = (const double *)time;
  m->res[0] = (double *)(m->G_ + i * o * r->parameters);
  vm_call_lanes(VM_INTEGRANDS + 1, r, m);
}

/* Nonzero weights of a scheme, and their stages. */
typedef struct { double weights[VM_MOST_STAGES]; long long places[VM_MOST_STAGES], count; } vm_weights;

static vm_weights vm_nonzero(const double *weights, long long count) {
  vm_weights found;
  found.count = 0;
  for (long long j = 0; j < count; ++j) if (weights[j] != 0) { found.weights[found.count] = weights[j]; found.places[found.count++] = j; }
  return found;
}

/* Weighted sums of some neighbouring numbers over all stages, which are `stride` apart. */
static inline void vm_sum_block_of_lanes(const vm_vector *K, long long stride, const vm_weights *w, const int block, vm_vector *sums) {
  for (int k = 0; k < block; ++k) sums[k] = vm_zeros;
  for (long long j = 0; j < w->count; ++j) {
    const vm_vector *from = K + w->places[j] * stride;
    for (int k = 0; k < block; ++k) sums[k] += w->weights[j] * from[k];
  }
}

static inline vm_vector vm_sum_lanes(const vm_vector *K, long long stride, const vm_weights *w) {
  vm_vector sum;
  vm_sum_block_of_lanes(K, stride, w, 1, &sum);
  return sum;
}

#define VM_LANE_BLOCK 4 /* sums computed together, in registers */

/* result = X + h Σ weights_j K_j of `count` neighbouring numbers */
static void vm_combine_run_of_lanes(const vm_vector *X, const vm_vector *K, long long stride, vm_vector h, const vm_weights *w, long long count, vm_vector *result) {
  vm_vector sums[VM_LANE_BLOCK];
  long long i = 0;
  for (; i + VM_LANE_BLOCK <= count; i += VM_LANE_BLOCK) {
    vm_sum_block_of_lanes(K + i, stride, w, VM_LANE_BLOCK, sums);
    for (int k = 0; k < VM_LANE_BLOCK; ++k) result[i + k] = X[i + k] + h * sums[k];
  }
  for (; i < count; ++i) result[i] = X[i] + h * vm_sum_lanes(K + i, stride, w);
}

/* Combine (q, v) of the first stage and the rates of all stages; for derivatives a row has `width` numbers, of which those of parameters are used. */
static void vm_combine_lanes(const vm_run *r, const vm_vector *X, long long width, vm_vector h, const double *weights, long long count, vm_vector *result) {
  const long long rows = 2 * r->coordinates, shift = r->coordinates * width, stride = r->states * width;
  const vm_weights w = vm_nonzero(weights, count);
  if (width == 1 || width == r->parameters) vm_combine_run_of_lanes(X, X + shift, stride, h, &w, rows * width, result);
  else for (long long i = 0; i < rows; ++i) vm_combine_run_of_lanes(X + i * width, X + shift + i * width, stride, h, &w, r->parameters, result + i * width);
}

/* Evaluate a chain at a combination of stages, for all lanes, and integrands there. */
static void vm_stage_of_lanes(int chain, const vm_run *r, vm_vectors *m, double c, const double *weights, long long count, long long i) {
  const long long n = r->states;
  const vm_vector time = m->begin + c * m->h;
  m->time = vm_pick(time > m->end, m->end, time);
  if (i == r->scheme->stages) m->time = m->end;
  const double *settings[4];
  int k = 0;
  if (r->selects) settings[k++] = (double *)m->chosen;
  settings[k++] = (double *)m->penalty; settings[k++] = (double *)m->values; settings[k++] = (double *)&m->time;
  vm_combine_lanes(r, m->X, 1, m->h, weights, count, m->Y);
  if (r->parameters) vm_combine_lanes(r, m->X_, r->row, m->h, weights, count, m->Y_);
  vm_solve_lanes(chain, r, m, m->Y, m->Y_, settings, k, m->X + i * n, m->X_ + i * n * r->row);
  vm_integrands_of_lanes(r, m, &m->time, i);
}

static void vm_explicit_step_of_lanes(const vm_run *r, vm_vectors *m) {
  const vm_scheme *s = r->scheme;
  const long long o = r->objectives, q = o * r->parameters;
  for (long long i = 1; i < s->stages; ++i) vm_stage_of_lanes(r->rates ? VM_RATES : VM_STEP, r, m, s->c[i], s->a + i * s->stages, i, i);
  vm_stage_of_lanes(VM_STEP, r, m, 1, s->b, s->stages, s->stages);
  const vm_weights w = vm_nonzero(s->b, s->stages);
  for (long long i = 0; i < o; ++i) m->sums[i] = vm_sum_lanes(m->G + i, o, &w);
  for (long long i = 0; i < q; ++i) m->sums[o + i] = vm_sum_lanes(m->G_ + i, q, &w);
}

static void vm_implicit_step_of_lanes(const vm_run *r, vm_vectors *m) {
  const double *const settings[] = {(double *)&m->h, (double *)m->penalty, (double *)m->values, (double *)&m->end};
  vm_solve_lanes(VM_STEP, r, m, m->X, m->X_, settings, 4, m->X + r->states, m->X_ + r->states * r->row);
  vm_integrands_of_lanes(r, m, &m->end, 1);
}

/* Copy numbers of a lane into vectors, and back; derivatives have rows of length `width`, of which some are used. */
static void vm_gather(vm_vector *to, int lane, const double *from, long long count) { for (long long i = 0; i < count; ++i) to[i][lane] = from[i]; }
static void vm_scatter(double *to, const vm_vector *from, int lane, long long count) { for (long long i = 0; i < count; ++i) to[i] = from[i][lane]; }
static void vm_gather_rows(const vm_run *r, vm_vector *to, int lane, const double *from) {
  for (long long i = 0; i < r->states; ++i) vm_gather(to + i * r->row, lane, from + i * r->row, r->parameters);
}
static void vm_scatter_rows(const vm_run *r, double *to, const vm_vector *from, int lane) {
  for (long long i = 0; i < r->states; ++i) vm_scatter(to + i * r->row, from + i * r->row, lane, r->parameters);
}

static void vm_fetch_stages(const vm_run *r, vm_workspace *m) {
  const long long n = r->states, o = r->objectives;
  if (!m->lane || m->lane->fetched) return;
  const vm_vectors *v = m->lane->vectors;
  for (long long i = 1; i < r->scheme->stages; ++i) {
    vm_scatter(m->X + i * n, v->X + i * n, m->lane->number, n);
    vm_scatter_rows(r, m->X_ + i * n * r->row, v->X_ + i * n * r->row, m->lane->number);
    vm_scatter(m->G + i * o, v->G + i * o, m->lane->number, o);
    vm_scatter(m->G_ + i * o * r->parameters, v->G_ + i * o * r->parameters, m->lane->number, o * r->parameters);
  }
  m->lane->fetched = 1;
}

static void vm_raise_norms(vm_vector *largest, vm_vector estimate, vm_vector scale) {
  const vm_vector share = vm_magnitudes(estimate) / scale;
  *largest = vm_pick((scale > 0) & ~(share <= *largest), share, *largest);
}

/* Largest scaled error estimates of all lanes, for some weights; see vm_error_norm. */
static vm_vector vm_norms_of_lanes(const vm_run *r, const vm_vectors *m, const double *weights) {
  const long long n = r->coordinates, p = r->parameters, o = r->objectives, stages = r->scheme->stages;
  const vm_weights w = vm_nonzero(weights, stages + 1);
  vm_vector largest = vm_zeros;
  for (long long i = 0; i < 2 * n; ++i) {
    vm_raise_norms(&largest, vm_sum_lanes(m->X + n + i, r->states, &w), m->motion_scales[i]);
    const vm_vector *scales = m->sensitivity_scales + (vm_sensitivity_scale(r, i, 0) - r->sensitivity_scales);
    for (long long k = 0; k < p && (i >= n || r->turns[i] <= 1); ++k)
      vm_raise_norms(&largest, vm_sum_lanes(m->X_ + (n + i) * r->row + k, r->states * r->row, &w), scales[k]);
  }
  for (long long i = 0; i < o; ++i) {
    const vm_vector end = vm_magnitudes(m->G[stages * o + i]), scale = m->integrand_scales[i];
    vm_raise_norms(&largest, vm_sum_lanes(m->G + i, o, &w), r->duration * vm_pick(end > scale, end, scale));
  }
  return largest;
}

/* Copy the error scales of a lane into the vectors. */
static void vm_gather_scales(const vm_run *r, vm_vectors *v, int lane) {
  const long long n = r->coordinates;
  for (long long i = 0; i < n; ++i) {
    v->motion_scales[i][lane] = r->turns[i] ? r->turns[i] : r->position_scale;
    v->motion_scales[n + i][lane] = r->mixed ? r->velocity_scales[i] : r->velocity_scale;
  }
  vm_gather(v->sensitivity_scales, lane, r->sensitivity_scales, 6 * r->parameters);
  vm_gather(v->integrand_scales, lane, r->integrand_scales, r->objectives);
}

static void vm_errors_of_lanes(const vm_run *r, vm_vectors *m, vm_seat *seats) {
  const vm_scheme *s = r->scheme;
  for (int l = 0; l < VM_WIDTH; ++l) if (seats[l].sample >= 0) vm_gather_scales(&seats[l].run, m, l);
  const vm_vector first = vm_norms_of_lanes(r, m, s->error), second = s->second_error ? vm_norms_of_lanes(r, m, s->second_error) : vm_zeros;
  for (int l = 0; l < VM_WIDTH; ++l) if (seats[l].sample >= 0) seats[l].lane.error = vm_over_allowed(&seats[l].run, m->h[l], first[l], second[l]);
}

/* Copy the beginning of a lane's step into the vectors. */
static void vm_enter(vm_vectors *v, int lane, const vm_seat *seat) {
  const vm_run *r = &seat->run;
  const vm_workspace *m = &seat->storage;
  vm_gather(v->X, lane, m->X, r->states);
  vm_gather(v->G, lane, m->G, r->objectives);
  vm_gather(v->penalty, lane, r->penalty, r->penalties);
  vm_gather(v->values, lane, r->values, r->numbers);
  if (r->selects) vm_gather(v->chosen, lane, r->chosen, r->coordinates);
  if (r->parameters) {
    vm_gather_rows(r, v->X_, lane, m->X_);
    vm_gather(v->G_, lane, m->G_, r->objectives * r->parameters);
  }
  v->begin[lane] = r->time; v->h[lane] = seat->attempt.h; v->end[lane] = seat->attempt.end;
  v->status[lane] = VM_DONE;
  v->iterations[lane] = 0;
}

/* Copy the results of a lane's step from the vectors. */
static void vm_exit(const vm_vectors *v, int lane, vm_seat *seat) {
  vm_run *r = &seat->run;
  vm_workspace *m = &seat->storage;
  const long long n = r->states, o = r->objectives, q = o * r->parameters, k = vm_last_stage(r);
  vm_scatter(m->X + k * n, v->X + k * n, lane, n);
  vm_scatter(m->G + k * o, v->G + k * o, lane, o);
  vm_scatter(m->residuals, v->residuals, lane, 3);
  if (r->parameters) {
    vm_scatter_rows(r, m->X_ + k * n * r->row, v->X_ + k * n * r->row, lane);
    vm_scatter(m->G_ + k * q, v->G_ + k * q, lane, q);
  }
  if (r->scheme) vm_scatter(seat->lane.sums, v->sums, lane, o + q);
  seat->lane.fetched = 0;
  r->iterations += v->iterations[lane];
  seat->attempt.status = v->status[lane];
}

/* Attempt a step in all lanes. A lane whose step is too short for its integrator takes it separately. */
static void vm_try_lanes(vm_vectors *v, vm_seat *seats) {
  const vm_run *r = &seats[0].run;
  for (int l = 0; l < VM_WIDTH; ++l) if (seats[l].sample >= 0) { vm_enter(v, l, seats + l); r = &seats[l].run; }
  if (r->scheme) vm_explicit_step_of_lanes(r, v); else vm_implicit_step_of_lanes(r, v);
  if (r->tolerance > 0) vm_errors_of_lanes(r, v, seats);
  for (int l = 0; l < VM_WIDTH; ++l) {
    vm_seat *seat = seats + l;
    if (seat->sample < 0) continue;
    if (vm_too_short(&seat->run, &seat->attempt)) seat->attempt.status = VM_UNDERFLOW;
    else if (vm_is_short(&seat->run, seat->attempt.h)) seat->attempt.status = vm_move(&seat->run, &seat->storage, seat->attempt.h, seat->attempt.end);
    else vm_exit(v, l, seat);
    if (seat->attempt.status == VM_DONE) seat->attempt.status = vm_judge(&seat->run, &seat->storage, &seat->attempt);
    vm_conclude(&seat->run, &seat->storage, &seat->attempt);
  }
}

/* Assembled initial states of the samples from `first` on, as many as there are lanes. */
typedef struct { long long first, count; int status[VM_WIDTH]; vm_vector *X, *X_, *residuals; } vm_starts;

/* Assemble the next samples, all at once. All must be near the nominal one; otherwise the seat assembles its own. */
static void vm_assemble_lanes(const vm_job *job, vm_starts *starts, vm_vectors *v, const vm_seat *seat, long long first, long long count) {
  const vm_run *r = &seat->run;
  const vm_vector time = vm_zeros;
  const double *const settings[] = {(double *)v->penalty, (double *)v->values, (const double *)&time};
  starts->first = first;
  starts->count = count - first < VM_WIDTH ? count - first : VM_WIDTH;
  for (int l = 0; l < VM_WIDTH; ++l) {
    const long long k = l < starts->count ? first + l : first;
    vm_gather(v->values, l, job->values + k * VM_ROW(job, r), r->numbers);
    vm_gather(v->penalty, l, r->penalty, r->penalties);
    vm_gather(v->guess, l, r->guess, r->coordinates);
    v->status[l] = VM_DONE;
  }
  vm_solve_lanes(VM_START, r, v, v->guess, 0, settings, 3, starts->X, starts->X_);
  memcpy(starts->residuals, v->residuals, 3 * sizeof(vm_vector));
  memcpy(starts->status, v->status, sizeof v->status);
}

/* Begin a sample in a seat. Returns a status. */
static int vm_begin_lane(const vm_job *job, vm_starts *starts, vm_vectors *v, vm_seat *seat, long long count) {
  vm_run *r = &seat->run;
  vm_workspace *m = &seat->storage;
  const long long k = seat->sample;
  vm_set_penalty(r, m);
  if (r->parts == 1) {
    if (k < starts->first || k >= starts->first + starts->count) vm_assemble_lanes(job, starts, v, seat, k, count);
    const int l = (int)(k - starts->first);
    vm_scatter(m->residuals, starts->residuals, l, 3);
    if (starts->status[l] != VM_DONE || !vm_closes(m->residuals)) return VM_NOT_ASSEMBLED;
    vm_scatter(m->X, starts->X, l, r->states);
    if (r->parameters) vm_scatter_rows(r, m->X_, starts->X_, l);
    vm_keep_largest(r->residuals, m->residuals, 3);
  } else if (vm_assemble(r, m) != VM_DONE) return VM_NOT_ASSEMBLED;
  return vm_set_out(r, m);
}

/* Fill a seat with the next sample that has a step to take; `next` is the first one that has not begun. */
static void vm_fill_seat(const vm_job *job, vm_starts *starts, vm_vectors *v, vm_seat *seat, long long *next, long long count) {
  while (seat->sample < 0 || !vm_prepare(&seat->run, &seat->storage, &seat->attempt)) {
    if (seat->sample >= 0) {
      if (seat->attempt.status != VM_NOT_ASSEMBLED || seat->run.stored) vm_leave(&seat->run, &seat->storage, seat->attempt.status);
      vm_close_sample(job, seat->sample, &seat->run, seat->attempt.status);
    }
    seat->sample = -1;
    if (*next == count) return;
    seat->run = job->common;
    seat->sample = (*next)++;
    seat->values = vm_give_arrays(&seat->run, &seat->memory);
    int status = vm_open_sample(job, seat->sample, &seat->run, seat->values) ? vm_begin_lane(job, starts, v, seat, count) : VM_NOT_ASSEMBLED;
    seat->attempt.status = status;
    if (status == VM_DONE) seat->attempt = vm_first_attempt(&seat->run, &seat->storage);
  }
}

static vm_vector *vm_take(vm_vector **from, long long count) { vm_vector *taken = *from; *from += count; return taken; }

/* Allocate the vectors, and the seats. Returns whether there is enough memory. */
static int vm_allocate_lanes(const vm_run *r, vm_vectors *v, vm_starts *starts, vm_seat *seats, double *sums) {
  const long long n = r->states, nr = n * r->row, o = r->objectives, q = o * r->parameters;
  const long long size = r->stages * (n + nr + o + q) + 2 * (n + nr) + r->coefficients + 2 * (r->unknowns + r->multipliers) + 16 + r->penalties + r->numbers +
                         4 * r->coordinates + 2 * o + q + 6 * r->parameters + r->reals + r->workspace + r->seed_rows * r->row;
  int good = 1;
  v->memory = malloc((size_t)(size + 1) * sizeof(vm_vector));
  if (v->memory) memset(v->memory, 0, (size_t)(size + 1) * sizeof(vm_vector));
  vm_vector *p = (vm_vector *)(((size_t)v->memory + sizeof(vm_vector) - 1) / sizeof(vm_vector) * sizeof(vm_vector));
  v->X = vm_take(&p, r->stages * n); v->X_ = vm_take(&p, r->stages * nr); v->G = vm_take(&p, r->stages * o); v->G_ = vm_take(&p, r->stages * q);
  v->Y = vm_take(&p, n); v->Y_ = vm_take(&p, nr); v->coefficients = vm_take(&p, r->coefficients);
  v->x = vm_take(&p, r->unknowns); v->x_next = vm_take(&p, r->unknowns); v->y = vm_take(&p, r->multipliers); v->y_next = vm_take(&p, r->multipliers);
  v->residuals = vm_take(&p, 3); v->ratio = vm_take(&p, 1); v->penalty = vm_take(&p, r->penalties); v->values = vm_take(&p, r->numbers);
  v->chosen = vm_take(&p, r->coordinates); v->guess = vm_take(&p, r->coordinates); v->sums = vm_take(&p, o + q);
  v->motion_scales = vm_take(&p, 2 * r->coordinates); v->sensitivity_scales = vm_take(&p, 6 * r->parameters); v->integrand_scales = vm_take(&p, o);
  v->w = vm_take(&p, r->reals); v->workspace = vm_take(&p, r->workspace); v->seeds = vm_take(&p, r->seed_rows * r->row);
  for (long long i = 0; v->memory && i < r->seed_rows * r->row; ++i) v->seeds[i] = vm_all(r->seeds[i]);
  starts->X = vm_take(&p, n); starts->X_ = vm_take(&p, nr); starts->residuals = vm_take(&p, 3);
  starts->first = starts->count = 0;
  for (int l = 0; l < VM_WIDTH; ++l) {
    vm_seat *seat = seats + l;
    seat->sample = -1;
    good &= vm_allocate(&seat->memory, r, vm_private_size(r));
    if (!good) continue;
    seat->run = *r;
    seat->storage = vm_partitioned(r, &seat->memory);
    seat->lane.vectors = v; seat->lane.number = l; seat->lane.sums = sums + l * (o + q);
    seat->storage.lane = &seat->lane;
  }
  return good && v->memory;
}

VM_EXPORT int vm_lane_count(void) { return VM_WIDTH; }

VM_EXPORT void vm_sample_lanes(const vm_job *job, long long count) {
  const vm_run *r = &job->common;
  vm_vectors vectors = {0};
  vm_starts starts = {0};
  vm_seat seats[VM_WIDTH] = {{0}};
  double *sums = malloc((size_t)(VM_WIDTH * r->objectives * (1 + r->parameters) + 1) * sizeof(double));
  const int good = vm_allocate_lanes(r, &vectors, &starts, seats, sums) && sums;
  long long next = 0;
  for (int busy = good; busy;) {
    busy = 0;
    for (int l = 0; l < VM_WIDTH; ++l) {
      vm_fill_seat(job, &starts, &vectors, seats + l, &next, count);
      busy |= seats[l].sample >= 0;
    }
    if (busy) vm_try_lanes(&vectors, seats);
  }
  for (long long k = 0; !good && k < count; ++k) job->status[k] = VM_NO_MEMORY;
  for (int l = 0; l < VM_WIDTH; ++l) vm_release(&seats[l].memory);
  free(vectors.memory);
  free(sums);
}

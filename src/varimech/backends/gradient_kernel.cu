/* GPU kernel for gradients by equal steps of explicit schemes. A block has 32 samples, one in each lane, and several warps. The first warp leads:
   it computes the motion of the samples and the coefficients of its linearisation. Each of the others follows with one column of derivatives,
   computed from the coefficients. One thread for both would need more registers than it has, and would wait for memory.

   Coefficients and states are handed over in shared memory. It has two halves, so that the leading warp is a stage ahead; the end of a step has
   more coefficients than a half, so all warps synchronise there. All threads pass all barriers: a run that fails continues with whatever numbers
   it has, and keeps its status. */

typedef vm_run S; /* for its sizes */

extern __shared__ double vm_shared[]; /* coefficients, then states of both halves: (number, lane) */

static double *vm_coefficients(long long half) { return vm_shared + half * VM_HALF * VM_LANES + threadIdx.x % VM_LANES; }

static double *vm_handed_state(long long half) { return vm_shared + (VM_COEFFICIENTS + half * S::states) * VM_LANES + threadIdx.x % VM_LANES; }

/* The sample of this thread; lanes without one repeat the last, and write nothing. */
typedef struct { long long number; int writes; } vm_sample;

static vm_sample vm_sample_of(long long count) {
  const long long lane = (long long)blockIdx.x * VM_LANES + threadIdx.x % VM_LANES;
  const vm_sample s = {lane < count ? lane : count - 1, lane < count};
  return s;
}

/* Barrier of the leading and the following warps. */
static void vm_meet() { __syncthreads(); }

static int vm_stored_after(const vm_run *r, long long number) { return number % r->stride == 0 || number == r->total; }

/* --- the leading warp */

static void vm_hand_over(const double *state, long long half) {
  double *handed = vm_handed_state(half);
  for (long long i = 0; i < S::states; ++i) handed[i * VM_LANES] = state[i];
  vm_meet();
}

/* Write objectives at the beginning of the next step. */
static void vm_store_values(vm_run *r, vm_workspace *m, int writes) {
  const long long o = r->objectives;
  vm_evaluate_objectives(VM_FINALS, r, m, &r->time, m->X, 0, m->psi, 0);
  for (long long i = 0; writes && i < o; ++i) r->objectives_stored[r->stored * o + i] = m->psi[i] + r->integral[i];
  ++r->stored;
}

/* Compute the stages of a step, and its end. Returns the first status that is not VM_DONE. */
static int vm_lead_step(vm_run *r, vm_workspace *m, double h, double end) {
  const vm_scheme *s = r->scheme;
  const long long n = r->states, count = s->stages;
  int status = VM_DONE;
  for (long long i = 1; i <= count; ++i) {
    const int last = i == count, half = last ? 0 : i % 2;
    const double time = last ? end : vm_stage_time(r->time, s->c[i], h, end);
    int now;
    if (last) vm_meet(); /* both halves are free */
    if (last) now = vm_evaluate(VM_STEP, r, m, time, h, s->b, count, m->X + i * n, vm_coefficients(half));
    else now = vm_evaluate(r->rates ? VM_RATES : VM_STEP, r, m, time, h, s->a + i * count, i, m->X + i * n, vm_coefficients(half));
    if (status == VM_DONE) status = now;
    vm_hand_over(m->X + i * n, half);
    vm_evaluate_integrands(r, m, time, i);
  }
  if (status == VM_DONE && vm_amplified(r, m)) status = VM_AMPLIFIED;
  return status;
}

/* The end of a step becomes the beginning of the next. */
static void vm_lead_on(vm_run *r, vm_workspace *m, double h, double end) {
  const long long n = r->states, o = r->objectives, count = r->scheme->stages;
  vm_add(m->G, o, h, r->scheme->b, count, r->integral);
  memcpy(m->X, m->X + count * n, (size_t)n * sizeof(double));
  memcpy(m->G, m->G + count * o, (size_t)o * sizeof(double));
  r->time = end;
}

/* Compute the motion of a sample. Returns a status. */
static int vm_lead(vm_run *r, vm_workspace *m, int writes) {
  int status = VM_NOT_ASSEMBLED;
  vm_set_penalty(r, m);
  if (r->parts > 0) status = vm_assemble(r, m);
  vm_hand_over(m->X, 0);
  vm_evaluate_integrands(r, m, r->time, 0);
  vm_store_values(r, m, writes);
  vm_meet();
  for (long long number = 1; number <= r->total; ++number) {
    const double end = vm_given_end(r, number), h = r->step;
    const int now = vm_lead_step(r, m, h, end);
    if (status == VM_DONE) status = now;
    if (status == VM_DONE) vm_keep_largest(r->residuals, m->residuals, 3);
    vm_lead_on(r, m, h, end);
    if (vm_stored_after(r, number)) vm_store_values(r, m, writes);
    vm_meet();
  }
  return status;
}

/* Compute the motion of a sample with its own arrays; see kernel.cu about them. */
static void vm_lead_sample(const vm_job *job, long long count) {
  const vm_sample sample = vm_sample_of(count);
  const long long states = vm_table.stages + 1;
  const double *arg[S::arguments + 5];
  double *res[S::results + 3];
  long long iw[S::integers + 1];
  double rw[S::reals + 1], X[states * S::states], G[states * S::objectives], Y[S::states], psi[S::objectives];
  double x[S::unknowns + 1], y[S::multipliers + 1], x_next[S::unknowns + 1], y_next[S::multipliers + 1];
  double step_residuals[3], ratio[1], guess[S::coordinates], path_values[S::numbers + 1];
  vm_workspace storage = {{arg, res, iw, rw, res}}, *m = &storage;
  m->residuals = step_residuals; m->ratio = ratio; m->guess = guess; m->path_values = path_values; m->X = X; m->G = G; m->Y = Y; m->psi = psi;
  m->x = x; m->y = y; m->x_next = x_next; m->y_next = y_next;
  m->X_ = vm_coefficients(0); /* those of the assembly */
  double state[S::states], integral[S::objectives] = {}, residuals[3] = {}, penalty[S::penalties + 1] = {}, values[S::numbers + 1];
  vm_run run = job->common, *r = &run;
  r->state = state; r->integral = integral; r->residuals = residuals; r->penalty = penalty;
  vm_open_sample(job, sample.number, r, values);
  const int status = vm_lead(r, m, sample.writes && blockIdx.y == 0);
  memcpy(state, X, sizeof(state));
  if (sample.writes && blockIdx.y == 0) vm_close_sample(job, sample.number, r, status);
}

/* --- the following warps */

/* A column of derivatives: of positions at the beginning of a step, of (v, a) at its stages, of the latest state and integrands, and of integrals. */
typedef struct {
  double q[S::coordinates], K[vm_table.stages * 2 * S::coordinates], state[S::states], g[S::objectives], psi[S::objectives];
  const double *seeds, *values;
} vm_column;

/* Compute derivatives of the state by a tangent, from those of positions and velocities `from`. */
#define VM_FOLLOW(tangent, half, from) \
  { const double *arg[] = {vm_coefficients(half), from, c->seeds}; double *res[] = {c->state}; tangent(arg, res, 0, 0, 0); }

/* Compute derivatives of integrands or final terms at the state that was handed over. */
#define VM_FOLLOW_OBJECTIVES(tangent, half, time, result) \
  { const double at = time, *arg[] = {vm_handed_state(half), c->state, c->values, &at, c->seeds}; double *res[] = {result}; tangent(arg, res, 0, 0, 0); }

static void vm_keep_stage(vm_column *c, long long i) {
  const long long n = S::coordinates;
  for (long long k = 0; k < 2 * n; ++k) c->K[i * 2 * n + k] = c->state[n + k];
}

/* The latest state becomes the beginning of a step. */
static void vm_begin_column(vm_column *c) {
  for (long long k = 0; k < S::coordinates; ++k) c->q[k] = c->state[k];
  vm_keep_stage(c, 0);
}

/* result = (q, v) + h Σ weights_j (v, a) of stage j, summed in the order of vm_combine */
static void vm_combine_column(const vm_column *c, double h, const double *weights, long long count, double *result) {
  const long long n = S::coordinates;
  for (long long k = 0; k < 2 * n; ++k) result[k] = 0;
#pragma unroll 1
  for (long long j = 0; j < count; ++j)
    if (weights[j] != 0) for (long long k = 0; k < 2 * n; ++k) result[k] += weights[j] * c->K[j * 2 * n + k];
  for (long long k = 0; k < 2 * n; ++k) result[k] = (k < n ? c->q[k] : c->K[k - n]) + h * result[k];
}

static void vm_follow_step(vm_column *c, double begin, double h, double end) {
  const vm_scheme *s = &vm_table;
  const long long o = S::objectives;
  double from[2 * S::coordinates], sum[S::objectives];
  for (long long k = 0; k < o; ++k) sum[k] = s->b[0] != 0 ? s->b[0] * c->g[k] : 0;
#pragma unroll 1
  for (long long i = 1; i < s->stages; ++i) {
    vm_combine_column(c, h, s->a + i * s->stages, i, from);
    vm_meet();
    VM_FOLLOW(VM_STAGE_TANGENT, i % 2, from)
    vm_keep_stage(c, i);
    VM_FOLLOW_OBJECTIVES(integrand_tangent, i % 2, vm_stage_time(begin, s->c[i], h, end), c->g)
    for (long long k = 0; k < o; ++k) if (s->b[i] != 0) sum[k] += s->b[i] * c->g[k];
  }
  vm_meet(); /* both halves are free */
  vm_combine_column(c, h, s->b, s->stages, from);
  vm_meet();
  VM_FOLLOW(VM_STEP_TANGENT, 0, from)
  VM_FOLLOW_OBJECTIVES(integrand_tangent, 0, end, c->g)
  for (long long k = 0; k < o; ++k) c->psi[k] += h * sum[k];
  vm_begin_column(c);
}

/* Write derivatives of objectives, which are a row of parameters apart. */
static void vm_store_column(const vm_column *c, double time, double *gradients, int writes) {
  double w[S::objectives];
  VM_FOLLOW_OBJECTIVES(final_tangent, 0, time, w)
  for (long long i = 0; writes && i < S::objectives; ++i) gradients[i * VM_PARAMETERS] = w[i] + c->psi[i];
}

static void vm_follow_sample(const vm_job *job, long long count, long long column) {
  const vm_run *r = &job->common;
  const vm_sample sample = vm_sample_of(count);
  const int writes = sample.writes && column < VM_PARAMETERS; /* the last group may have fewer columns: a warp without one repeats the last */
  if (column >= VM_PARAMETERS) column = VM_PARAMETERS - 1;
  const long long size = S::objectives * VM_PARAMETERS;
  vm_column storage = {}, *c = &storage;
  c->seeds = r->seeds + column;
  c->values = job->values + sample.number * S::numbers;
  double time = r->time, *gradients = job->gradients + sample.number * job->rows * size + column;
  vm_meet();
  VM_FOLLOW(VM_START_TANGENT, 0, 0)
  VM_FOLLOW_OBJECTIVES(integrand_tangent, 0, time, c->g)
  vm_store_column(c, time, gradients, writes);
  vm_begin_column(c);
  vm_meet();
#pragma unroll 1
  for (long long number = 1; number <= r->total; ++number) {
    const double end = vm_given_end(r, number);
    vm_follow_step(c, time, r->step, end);
    time = end;
    if (vm_stored_after(r, number)) vm_store_column(c, time, gradients += size, writes);
    vm_meet();
  }
}

extern "C" __global__ void __launch_bounds__(VM_THREADS) vm_sample_all(const vm_job *job, long long count) {
  const long long warp = threadIdx.x / VM_LANES;
  if (warp == 0) vm_lead_sample(job, count);
  else vm_follow_sample(job, count, blockIdx.y * VM_FOLLOWERS + warp - 1);
}

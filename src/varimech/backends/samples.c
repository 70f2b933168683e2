/* Many runs that differ in parameter values only: objectives at stored times and the status of each. */

typedef struct {
  vm_run common;                          /* shared fields; the others are set for each run */
  const double *values;                   /* all parameters, one row for each run */
  const double *reach;                    /* distance from its nominal value within which each parameter allows assembly from the nominal state in one step */
  const double *independent;              /* selection of independent coordinates, or NULL */
  double *objectives, *gradients, *residuals; /* out, for each run: (row, objective), (row, objective, parameter), largest residuals at three levels */
  long long *status, rows;                /* out: status of each run; rows that a run stores */
  double *taken;                          /* out, for each run, or NULL: the number of its steps, and their ends from 0 on */
  long long row, most;                    /* numbers in a row of values: given steps may follow the parameters, in the format of `taken`; most steps that are kept */
} vm_job;

#define VM_MOST_PARTS 20 /* most continuation steps to an initial state; the same as in the Python continuation */
#define VM_LIGHT_SPEED 3e8 /* m/s: a fixed-step explicit run that ends faster has diverged; the same as LIGHT in validity.py */

#ifdef VM_SHARED_STEPS /* rows have a constant length in kernels of runs whose steps are neither given nor kept */
#define VM_ROW(job, r) (r)->numbers
#else
#define VM_ROW(job, r) (job)->row

/* Let run k take given steps of its own, or keep the steps that it takes. */
static void vm_own_steps(const vm_job *job, long long k, vm_run *r) {
  const double *given = job->values + k * job->row + r->numbers;
  if (job->row > r->numbers) { r->total = (long long)given[0]; r->ends = given + 1; }
  if (job->taken) { r->taken = job->taken + k * (job->most + 3) + 1; r->taken[0] = 0; r->last = job->most; }
}
#endif

static int vm_is_over(const vm_run *r) { return r->stopped || (r->total ? (r->watches ? r->grid : r->done) >= r->total : r->time >= r->duration); }

/* Begin run k. Its arrays are zero-filled; its parameters are copied to `values`. Returns whether its initial state can be computed. */
static int vm_open_sample(const vm_job *job, long long k, vm_run *r, double *values) {
  const long long o = r->objectives;
  memcpy(values, job->values + k * VM_ROW(job, r), (size_t)r->numbers * sizeof(double));
#ifndef VM_SHARED_STEPS
  vm_own_steps(job, k, r);
#endif
  r->values = values;
  double furthest = 1;
  for (long long i = 0; i < r->numbers; ++i) {
    const double distance = fabs(values[i] - r->nominal[i]);
    if (distance > furthest * job->reach[i]) furthest = distance / job->reach[i];
  }
  r->parts = furthest <= VM_MOST_PARTS ? (long long)ceil(furthest) : 0;
  if (job->independent) memcpy(r->chosen, job->independent, (size_t)r->coordinates * sizeof(double));
  r->objectives_stored = job->objectives + k * job->rows * o;
  r->gradients = job->gradients + k * job->rows * o * r->parameters;
  if (r->states_stored) r->states_stored += k * job->rows * r->states; /* all runs write into one array, if states are requested */
  return r->parts > 0;
}

/* Store the results of run k. */
static void vm_close_sample(const vm_job *job, long long k, vm_run *r, int status) {
  const long long o = r->objectives;
  job->status[k] = status;
  for (long long row = r->stored; r->stopped && row > 0 && row < job->rows; ++row) { /* nothing changes after an event that ends the run */
    memcpy(r->objectives_stored + row * o, r->objectives_stored + (row - 1) * o, (size_t)o * sizeof(double));
    memcpy(r->gradients + row * o * r->parameters, r->gradients + (row - 1) * o * r->parameters, (size_t)(o * r->parameters) * sizeof(double));
  }
  if (r->scheme && !(r->tolerance > 0) && vm_size(r->state + r->coordinates, r->coordinates) > VM_LIGHT_SPEED) job->status[k] = VM_NOT_FINITE;
#ifndef VM_SHARED_STEPS
  if (job->taken) {
    job->taken[k * (job->most + 3)] = (double)r->done;
    if (status == VM_DONE && !vm_is_over(r)) job->status[k] = VM_NO_MEMORY;
  }
#endif
  memcpy(job->residuals + 3 * k, r->residuals, 3 * sizeof(double));
}

/* Execute run k. */
static void vm_run_sample(const vm_job *job, long long k, vm_run *r, vm_workspace *m, double *values) {
  const int status = vm_open_sample(job, k, r, values) ? vm_advance(r, m) : VM_NOT_ASSEMBLED;
  vm_close_sample(job, k, r, status);
}

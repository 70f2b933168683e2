/* Many runs that differ in parameter values only: objectives at stored times and the status of each. */

typedef struct {
  vm_run common;                          /* shared fields; the others are set for each run */
  const double *values;                   /* all parameters, one row for each run */
  const double *reach;                    /* distance from its nominal value within which each parameter allows assembly from the nominal state in one step */
  const double *independent;              /* selection of independent coordinates, or NULL */
  double *objectives, *gradients, *residuals; /* out, for each run: (row, objective), (row, objective, parameter), largest residuals at three levels */
  long long *status, rows;                /* out: status of each run; rows that a run stores */
} vm_job;

#define VM_MOST_PARTS 20 /* most continuation steps to an initial state; the same as in the Python continuation */
#define VM_LIGHT_SPEED 3e8 /* m/s: a fixed-step explicit run that ends faster has diverged; the same as LIGHT in validity.py */

/* Begin run k. Its arrays are zero-filled; its parameters are copied to `values`. Returns whether its initial state can be looked for. */
static int vm_open_sample(const vm_job *job, long long k, vm_run *r, double *values) {
  const long long o = r->objectives;
  memcpy(values, job->values + k * r->numbers, (size_t)r->numbers * sizeof(double));
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
  if (r->states_stored) r->states_stored += k * job->rows * r->states; /* all runs write into one array, if states are wanted */
  return r->parts > 0;
}

/* Keep what run k has yielded. */
static void vm_close_sample(const vm_job *job, long long k, vm_run *r, int status) {
  const long long o = r->objectives;
  job->status[k] = status;
  for (long long row = r->stored; r->stopped && row > 0 && row < job->rows; ++row) { /* after an event that ends the run, nothing changes */
    memcpy(r->objectives_stored + row * o, r->objectives_stored + (row - 1) * o, (size_t)o * sizeof(double));
    memcpy(r->gradients + row * o * r->parameters, r->gradients + (row - 1) * o * r->parameters, (size_t)(o * r->parameters) * sizeof(double));
  }
  if (r->scheme && !(r->tolerance > 0) && vm_size(r->state + r->coordinates, r->coordinates) > VM_LIGHT_SPEED) job->status[k] = VM_NOT_FINITE;
  memcpy(job->residuals + 3 * k, r->residuals, 3 * sizeof(double));
}

/* Run k. */
static void vm_run_sample(const vm_job *job, long long k, vm_run *r, vm_workspace *m, double *values) {
  const int status = vm_open_sample(job, k, r, values) ? vm_advance(r, m) : VM_NOT_ASSEMBLED;
  vm_close_sample(job, k, r, status);
}

/* Many runs that differ in parameter values only: of each, objectives at stored times are kept, and how it went. */

typedef struct {
  vm_run common;                          /* what they share; the rest is set for each */
  const double *values;                   /* of all parameters, a row for each run */
  const double *reach;                    /* how far from its nominal value each parameter may be for the nominal start to lead to its own */
  const double *independent;              /* a choice of coordinates, or NULL */
  double *objectives, *gradients, *residuals; /* out, for each run: (row, objective), (row, objective, parameter), the three largest */
  long long *status, rows;                /* out: how each run ended; rows that a run stores */
} vm_job;

#define VM_FURTHEST 20 /* parts of the way to a start; start_continuation.py has the same */
#define VM_LIGHT 3e8 /* explicit runs of equal steps that end faster than this are no results; validity.py has the same, and says why */

/* Run k, whose arrays are filled with zeros; `values` takes those of its parameters. */
static void vm_sample(const vm_job *job, long long k, vm_run *r, vm_workspace *m, double *values) {
  const long long o = r->objectives;
  memcpy(values, job->values + k * r->numbers, (size_t)r->numbers * sizeof(double));
  r->values = values;
  double furthest = 1;
  for (long long i = 0; i < r->numbers; ++i) {
    const double distance = fabs(values[i] - r->nominal[i]);
    if (distance > furthest * job->reach[i]) furthest = distance / job->reach[i];
  }
  r->parts = furthest <= VM_FURTHEST ? (long long)ceil(furthest) : 0;
  if (job->independent) memcpy(r->chosen, job->independent, (size_t)r->coordinates * sizeof(double));
  r->objectives_stored = job->objectives + k * job->rows * o;
  r->gradients = job->gradients + k * job->rows * o * r->parameters;
  job->status[k] = r->parts ? vm_advance(r, m) : VM_NO_START;
  if (r->scheme && !(r->tolerance > 0) && vm_size(r->state + r->coordinates, r->coordinates) > VM_LIGHT) job->status[k] = VM_NOT_FINITE;
  memcpy(job->residuals + 3 * k, r->residuals, 3 * sizeof(double));
}

/* Many runs that differ in parameter values only: of each, objectives at stored times are kept, and how it went. */

typedef struct {
  vm_run common;                          /* what they share; the rest is set for each */
  const double *values;                   /* of all parameters, a row for each run */
  const double *given, *given_sensitivity, *independent; /* a state to start from where there is no guess; a choice of coordinates; or NULL */
  double *objectives, *gradients, *residuals; /* out, for each run: (row, objective), (row, objective, parameter), the three largest */
  long long *status, rows;                /* out: how each run ended; rows that a run stores */
} vm_job;

/* Numbers that a run has for itself, beside those it works with. */
VM_CONSTANT long long vm_own_size(const vm_run *r) {
  return r->states * (1 + r->row) + r->objectives * (2 + r->parameters) + r->numbers + r->penalties + 2 * r->coordinates + 3 + 4 * r->parameters;
}

static void vm_sample(const vm_job *job, long long k, double *memory, const double **arg, double **res, long long *iw) {
  vm_run run = job->common, *r = &run;
  const long long n = r->states, o = r->objectives, q = r->parameters;
  double *p = memory, *values;
  memset(memory, 0, (size_t)vm_own_size(r) * sizeof(double));
  r->state = p; p += n; r->state_sensitivity = p; p += n * r->row;
  r->integral = p; p += o; r->integral_gradient = p; p += o * q;
  r->integrand_scales = p; p += o; r->velocity_scales = p; p += r->coordinates;
  r->chosen = p; p += r->coordinates; r->residuals = p; p += 3;
  r->slope_scales = p; p += 4 * q; r->penalty = p; p += r->penalties;
  values = p; p += r->numbers;
  memcpy(values, job->values + k * r->numbers, (size_t)r->numbers * sizeof(double));
  r->values = values;
  if (job->given) memcpy(r->state, job->given, (size_t)n * sizeof(double));
  if (job->given_sensitivity) memcpy(r->state_sensitivity, job->given_sensitivity, (size_t)(n * r->row) * sizeof(double));
  if (job->independent) memcpy(r->chosen, job->independent, (size_t)r->coordinates * sizeof(double));
  r->objectives_stored = job->objectives + k * job->rows * o;
  r->gradients = job->gradients + k * job->rows * o * q;
  vm_room room = vm_furnished(r, p, arg, res, iw);
  job->status[k] = vm_advance(r, &room);
  memcpy(job->residuals + 3 * k, r->residuals, 3 * sizeof(double));
}

/* Entry points of a CPU library: single runs that can be paused and continued, and many runs at once. */

#ifdef _WIN32
#define VM_EXPORT __declspec(dllexport)
#else
#define VM_EXPORT __attribute__((visibility("default")))
#endif

/* Sizes of the working storage, and of the private arrays of one of many runs (numbers). */
static long long vm_workspace_size(const vm_run *r) {
  const long long nr = r->states * r->row, q = r->objectives * r->parameters, solved = r->unknowns + r->multipliers, costates = r->states * r->columns;
  return r->stages * (r->states + nr + r->objectives + q + solved + costates) + 2 * (r->states + nr) + 2 * solved + r->objectives + q +
         r->reals + r->workspace + r->coefficients + (r->selects ? r->conditions * r->coordinates + 2 * r->coordinates : 0) + costates +
         r->pulled * r->columns + 4 + r->coordinates + r->numbers + r->switches * (6 + 2 * r->coordinates + r->parameters + r->numbers) +
         (r->units || r->samples ? r->units * (4 + 2 * VM_UNIT_VALUES + 7 + 3 * (r->states + r->parameters + r->numbers)) + 3 * r->states + r->objectives + r->modes + r->parameters +
                     r->seed_rows * r->row + nr + r->samples * (3 + r->states + r->parameters + r->numbers) : 0) +
         (r->passage_size ? (r->states + r->objectives) * (1 + r->row + r->columns) : 0);
}

static long long vm_private_size(const vm_run *r) {
  return r->states * (1 + r->row) + r->objectives * (2 + r->parameters) + r->numbers + r->penalties + 2 * r->coordinates + 3 + 6 * r->parameters +
         2 * r->units + r->samples * (3 + r->parameters) + (r->columns ? (r->states + r->pulled) * r->columns + r->unknowns + r->multipliers : 0);
}

typedef struct { double *own, *numbers; const double **arg; double **res; long long *iw; } vm_memory;

/* Partition memory into the working storage of a run. */
static vm_workspace vm_partitioned(const vm_run *r, const vm_memory *a) {
  const long long n = r->states, nr = n * r->row, o = r->objectives, q = o * r->parameters, stages = r->stages, costates = n * r->columns;
  double *p = a->numbers;
  vm_workspace storage = {{a->arg, a->res, a->iw, p, a->res + r->results + 2}}, *m = &storage; p += r->reals;
  m->X = p; p += stages * n; m->X_ = p; p += stages * nr;
  m->G = p; p += stages * o; m->G_ = p; p += stages * q;
  m->Y = p; p += n; m->Y_ = p; p += nr; m->Z = p; p += n; m->Z_ = p; p += nr;
  m->psi = p; p += o; m->psi_ = p; p += q;
  m->workspace = p; p += r->workspace;
  m->coefficients = p; p += r->coefficients;
  m->x = p; m->x_next = p + r->unknowns; p += 2 * r->unknowns;
  m->y = p; m->y_next = p + r->multipliers; p += 2 * r->multipliers;
  m->solved = p; p += stages * (r->unknowns + r->multipliers);
  m->costates = p; p += stages * costates;
  m->pulled = p; p += costates; m->contribution = p; p += r->pulled * r->columns;
  m->residuals = p; p += 3; m->ratio = p; ++p;
  m->guess = p; p += r->coordinates; m->path_values = p; p += r->numbers;
  m->sides = p; p += 3 * r->switches; m->sides_next = p; p += 3 * r->switches;
  m->slopes = p; p += r->switches * (2 * r->coordinates + r->parameters + r->numbers);
  if (r->units || r->samples) {
    m->units = p; p += VM_UNIT_VALUES * r->units; m->units_next = p; p += VM_UNIT_VALUES * r->units; m->units_sought = p; p += r->units;
    m->unit_directions = p; p += 7 * r->units;
    m->unit_slopes = p; p += 3 * r->units * (n + r->parameters + r->numbers + 1);
    m->event_before = p; p += n; m->event_integrands = p; p += o; m->modes_before = p; p += r->modes;
    m->shift = p; p += r->parameters; m->event_seeds = p; p += r->seed_rows * r->row; m->event_state = p; p += n; m->event_slopes = p; p += nr;
    m->event_motion = p; p += n; m->sampled = p; p += 2 * r->samples; m->sample_slopes = p; p += r->samples * (n + r->parameters + r->numbers + 1);
  }
  if (r->passage_size) {
    const long long rows = n + o;
    m->passed = p; p += rows; m->passed_ = p; p += rows * r->row; m->passed_costate = p; p += rows * r->columns;
  }
  m->jacobian = p;
  return storage;
}

static int vm_allocate(vm_memory *a, const vm_run *r, long long own) {
  a->own = calloc((size_t)(own + vm_workspace_size(r) + 1), sizeof(double));
  a->numbers = a->own + own;
  a->iw = malloc((size_t)(r->integers + 1) * sizeof(long long));
  a->arg = malloc((size_t)(r->arguments + 5) * sizeof(double *));
  a->res = malloc((size_t)(r->results + r->bases + 3) * sizeof(double *));
  return a->own && a->iw && a->arg && a->res;
}

static void vm_release(vm_memory *a) { free(a->own); free(a->iw); free(a->arg); free(a->res); }

static void vm_run_with(vm_run *r, int (*work)(vm_run *, vm_workspace *)) {
  vm_memory a;
  r->status = VM_NO_MEMORY;
  if (vm_allocate(&a, r, 0)) {
    vm_workspace storage = vm_partitioned(r, &a);
    r->status = work(r, &storage);
  }
  vm_release(&a);
}

VM_EXPORT void vm_run_forward(vm_run *run) { vm_run_with(run, vm_advance); }

VM_EXPORT void vm_run_backward(vm_run *run) { vm_run_with(run, vm_retreat); }

/* Give one of many runs its private arrays, filled with zeros. Returns the place of its parameters. */
static double *vm_give_arrays(vm_run *r, const vm_memory *a) {
  double *p = a->own;
  memset(p, 0, (size_t)vm_private_size(r) * sizeof(double));
  r->state = p; p += r->states; r->state_sensitivity = p; p += r->states * r->row;
  r->integral = p; p += r->objectives; r->integral_gradient = p; p += r->objectives * r->parameters;
  r->integrand_scales = p; p += r->objectives; r->velocity_scales = p; p += r->coordinates;
  r->chosen = p; p += r->coordinates; r->residuals = p; p += 3;
  r->sensitivity_scales = p; p += 6 * r->parameters; r->penalty = p; p += r->penalties;
  r->event_sides = p; p += 2 * r->units; r->sample_values = p; p += r->samples; r->sample_places = p; p += r->samples;
  r->sample_counts = p; p += r->samples; r->sample_gradient = p; p += r->samples * r->parameters;
  if (r->columns) { r->costate = p; p += r->states * r->columns; r->gradient = p; p += r->pulled * r->columns; r->start_unknowns = p; p += r->unknowns + r->multipliers; }
  return p;
}

static void vm_sample_in(const vm_job *job, long long k, const vm_memory *a) {
  vm_run run = job->common, *r = &run;
  vm_workspace storage = vm_partitioned(r, a);
  vm_run_sample(job, k, r, &storage, vm_give_arrays(r, a));
}

VM_EXPORT void vm_sample_all(const vm_job *job, long long count) {
  vm_memory a;
  const int good = vm_allocate(&a, &job->common, vm_private_size(&job->common));
  for (long long k = 0; k < count; ++k)
    if (good) vm_sample_in(job, k, &a);
    else job->status[k] = VM_NO_MEMORY;
  vm_release(&a);
}

/* Execute many runs with reverse sweeps; they share one storage. */
VM_EXPORT void vm_sweep_all(const vm_sweep_job *sweep, long long count) {
  const vm_run *common = &sweep->job.common;
  vm_memory a;
  const int good = vm_allocate(&a, common, vm_private_size(common));
  for (long long k = 0; k < count; ++k)
    if (good) {
      vm_run run = *common;
      vm_workspace storage = vm_partitioned(&run, &a);
      vm_run_sweep(sweep, k, &run, &storage, vm_give_arrays(&run, &a));
    } else sweep->job.status[k] = VM_NO_MEMORY;
  vm_release(&a);
}

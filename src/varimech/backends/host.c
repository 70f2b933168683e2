/* What a library for the processor offers: single runs that can be left and gone on with, and many at once. */

#ifdef _WIN32
#define VM_EXPORT __declspec(dllexport)
#else
#define VM_EXPORT __attribute__((visibility("default")))
#endif

typedef struct { double *numbers; const double **arg; double **res; long long *iw; } vm_memory;

/* For a run, and so many numbers of its own. */
static int vm_allocate(vm_memory *a, const vm_run *r, long long own) {
  a->numbers = calloc((size_t)(own + vm_room_size(r) + 1), sizeof(double));
  a->iw = malloc((size_t)(r->integers + 1) * sizeof(long long));
  a->arg = malloc((size_t)(r->arguments + 5) * sizeof(double *));
  a->res = malloc((size_t)(r->results + r->bases + 3) * sizeof(double *));
  return a->numbers && a->iw && a->arg && a->res;
}

static void vm_release(vm_memory *a) { free(a->numbers); free(a->iw); free(a->arg); free(a->res); }

static void vm_carry_out(vm_run *r, int (*work)(vm_run *, vm_room *)) {
  vm_memory a;
  r->status = VM_NO_MEMORY;
  if (vm_allocate(&a, r, 0)) {
    vm_room room = vm_furnished(r, a.numbers, a.arg, a.res, a.iw);
    r->status = work(r, &room);
  }
  vm_release(&a);
}

VM_EXPORT void vm_go_on(vm_run *run) { vm_carry_out(run, vm_advance); }

VM_EXPORT void vm_go_back(vm_run *run) { vm_carry_out(run, vm_retreat); }

VM_EXPORT void vm_sample_all(const vm_job *job, long long count) {
  vm_memory a;
  const int good = vm_allocate(&a, &job->common, vm_own_size(&job->common));
  for (long long k = 0; k < count; ++k)
    if (good) vm_sample(job, k, a.numbers, a.arg, a.res, a.iw);
    else job->status[k] = VM_NO_MEMORY;
  vm_release(&a);
}

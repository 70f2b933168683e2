/* Many runs with a reverse sweep each: gradients of objectives at the end, with respect to chosen parameters.

   A run is divided into sections. It is executed once from start to end; the state at the beginning of each section is kept, and the records of
   its steps replace those of the section before. Then sections are reversed: the last one first, whose records exist; each of the others is
   executed again for its records, over the same steps. So a run of one section is executed once, any other twice. */

typedef struct {
  vm_job job;                             /* its gradients are the forward derivatives by which a run chooses its steps */
  double *storage;                        /* storage of each run, `stride` numbers apart; consecutive runs share it if stride is 0 */
  const double *wrt;                      /* places of the chosen parameters among all */
  double *gradients;                      /* out, for each run: (objective, chosen parameter) */
  long long stride, section, most, chosen; /* steps of a section; most steps of a run; number of chosen parameters */
} vm_sweep_job;

/* Storage of a run: records of a section (an event may follow its last step); for each step its end, the jump it crosses and the event there;
   samples that were taken; and checkpoints. SweepBatch in sweeps.py computes its size. */
typedef struct { double *records, *taken, *crossed, *triggers, *samples, *checkpoints; long long size; } vm_tape;

static vm_tape vm_tape_of(const vm_sweep_job *sweep, long long k, const vm_run *r) {
  const long long steps = sweep->most + 2;
  vm_tape t;
  t.records = sweep->storage + k * sweep->stride;
  t.taken = t.records + (sweep->section + 1) * r->record_size;
  t.crossed = t.taken + steps;
  t.triggers = t.crossed + steps;
  t.samples = t.triggers + steps;
  t.checkpoints = t.samples + 3 * r->samples;
  t.size = 2 + r->states + r->coordinates + r->modes + 2 * r->units;
  return t;
}

/* Copy numbers to a checkpoint, or back from it. */
static void vm_exchange(double *kept, double *own, long long count, int back) {
  if (back) memcpy(own, kept, (size_t)count * sizeof(double));
  else memcpy(kept, own, (size_t)count * sizeof(double));
}

static void vm_copy_checkpoint(vm_run *r, double *kept, int back) {
  if (back) { r->done = (long long)kept[0]; r->time = kept[1]; }
  else { kept[0] = (double)r->done; kept[1] = r->time; }
  kept += 2;
  vm_exchange(kept, r->state, r->states, back); kept += r->states;
  vm_exchange(kept, r->chosen, r->coordinates, back); kept += r->coordinates;
  vm_exchange(kept, vm_modes(r), r->modes, back); kept += r->modes;
  vm_exchange(kept, r->event_sides, 2 * r->units, back);
}

static void vm_copy_samples(vm_run *r, double *kept, int back) {
  vm_exchange(kept, r->sample_values, r->samples, back);
  vm_exchange(kept + r->samples, r->sample_places, r->samples, back);
  vm_exchange(kept + 2 * r->samples, r->sample_counts, r->samples, back);
}

/* Repeat the same steps from now on, and store nothing after the start. */
static void vm_repeat_steps(vm_run *r, const vm_tape *t) {
  if (vm_chooses(r)) r->ends = t->taken;
  r->tolerance = 0; r->watches = 0; r->taken = 0;
  r->outputs = 0; r->total = r->done; r->stride = r->done + 1;
}

/* Execute run k, and its reverse sweep. Its arrays are zero-filled. The driver is called at one place, because a GPU's compiler inlines all of it. */
static void vm_run_sweep(const vm_sweep_job *sweep, long long k, vm_run *r, vm_workspace *m, double *values) {
  const vm_job *job = &sweep->job;
  const vm_tape t = vm_tape_of(sweep, k, r);
  const long long selections = r->selections;
  long long number = 0, back = 0;
  int status = vm_open_sample(job, k, r, values) ? VM_DONE : VM_NOT_ASSEMBLED;
  r->records = t.records;
  t.taken[0] = 0;
  if (vm_chooses(r)) r->taken = t.taken;
  if (r->switches) { r->crossed = t.crossed; memset(t.crossed, 0, (size_t)(sweep->most + 2) * sizeof(double)); }
  if (r->units) r->triggers = t.triggers;
  for (; status == VM_DONE && number >= 0; number -= back) {
    double *checkpoint = t.checkpoints + number * t.size;
    vm_copy_checkpoint(r, checkpoint, (int)back);
    if (back) {
      r->stored = 0; r->stopped = 0;
      if (number == 0) { /* results at the start are stored again */
        r->selections = selections;
        memset(r->integral, 0, (size_t)r->objectives * sizeof(double));
        memset(r->integral_gradient, 0, (size_t)(r->objectives * r->parameters) * sizeof(double));
      }
    }
    r->first_recorded = r->done;
    r->last = back ? (long long)checkpoint[t.size] : r->done + sweep->section < sweep->most ? r->done + sweep->section : sweep->most;
    status = vm_advance(r, m);
    if (status != VM_DONE) break;
    if (!back && !vm_is_over(r)) {
      if (r->done >= sweep->most) status = VM_NO_MEMORY;
      ++number;
      continue;
    }
    if (back) vm_copy_samples(r, t.samples, 1);
    else {
      vm_close_sample(job, k, r, VM_DONE);
      if (job->status[k] != VM_DONE) return;
      vm_copy_samples(r, t.samples, 0);
      vm_repeat_steps(r, &t);
    }
    r->to_end = !back; r->from_start = number == 0; back = 1;
    status = vm_retreat(r, m);
  }
  if (!back) vm_close_sample(job, k, r, status);
  job->status[k] = status == VM_DONE ? job->status[k] : status;
  double *gradients = sweep->gradients + k * r->objectives * sweep->chosen;
  for (long long i = 0; i < r->objectives; ++i)
    for (long long j = 0; j < sweep->chosen; ++j) gradients[i * sweep->chosen + j] = r->gradient[(long long)sweep->wrt[j] * r->columns + i];
}

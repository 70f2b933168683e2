/* GPU kernel: many runs at once, one thread for each run. Every array is a separate local variable, and no pointer to one is selected at run time,
   so that the compiler can keep them in registers; derivatives are too large for that, and are in local memory. Arrays that a program does not use
   have one number. */

typedef vm_run S; /* for its sizes */

/* Number of values in the gradients of `count` functions of an event: by state, direction, parameter, and time. */
#define VM_GRADIENTS(count) ((count) * (S::states + S::parameters + S::numbers + 1))

#ifdef VM_SWEEPS
extern "C" __global__ void __launch_bounds__(VM_THREADS) vm_sweep_all(const vm_sweep_job *sweep, long long count) {
  const vm_job *job = &sweep->job;
#else
extern "C" __global__ void __launch_bounds__(VM_THREADS) vm_sample_all(const vm_job *job, long long count) {
#endif
  const long long k = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= count) return;
  const double *arg[S::arguments + 5];
  double *res[S::results + S::bases + 3];
  long long iw[S::integers + 1];
  double rw[S::reals + 1], X[S::stages * S::states], G[S::stages * S::objectives + 1], Y[S::states], Z[S::states], psi[S::objectives + 1];
  double x[S::unknowns + 1], y[S::multipliers + 1], x_next[S::unknowns + 1], y_next[S::multipliers + 1];
  double sides[3 * S::switches + 1], sides_next[3 * S::switches + 1];
  double jacobian[S::selects ? S::conditions * S::coordinates + 2 * S::coordinates : 1];
  double units[VM_UNIT_VALUES * S::units + 1], units_next[VM_UNIT_VALUES * S::units + 1], unit_directions[7 * S::units + 1], units_sought[S::units + 1], event_before[S::states], event_integrands[S::objectives + 1], modes_before[S::modes + 1];
  double event_state[S::states], event_motion[S::states], sampled[2 * S::samples + 1];
  vm_workspace storage = {{arg, res, iw, rw, res}}, *m = &storage;
#ifdef VM_PLANS
  double plan_workspace[S::workspace + 1];
  m->workspace = plan_workspace; m->scratch.bases = res + S::results + 2;
#endif
  double step_residuals[3], ratio[1], guess[S::coordinates], path_values[S::numbers + 1];
  m->residuals = step_residuals; m->ratio = ratio; m->guess = guess; m->path_values = path_values; m->X = X; m->G = G; m->Y = Y; m->Z = Z; m->psi = psi;
  m->x = x; m->y = y; m->x_next = x_next; m->y_next = y_next; m->jacobian = jacobian;
  m->sides = sides; m->sides_next = sides_next;
  m->units = units; m->units_next = units_next; m->units_sought = units_sought; m->unit_directions = unit_directions; m->event_before = event_before; m->event_integrands = event_integrands; m->modes_before = modes_before;
  m->event_state = event_state; m->event_motion = event_motion; m->sampled = sampled;
  /* derivatives with respect to parameters */
  double X_[S::stages * S::states * S::row + 1], G_[S::stages * S::objectives * S::parameters + 1], Y_[S::states * S::row + 1], Z_[S::states * S::row + 1], psi_[S::objectives * S::parameters + 1];
  double coefficients[S::coefficients + 1], slopes[S::switches * (2 * S::coordinates + S::parameters + S::numbers) + 1];
  double unit_slopes[VM_GRADIENTS(3 * S::units) + 1], shift[S::parameters + 1], event_seeds[S::seed_rows * S::row + 1], event_slopes[(S::units ? S::states * S::row : 0) + 1], sample_slopes[VM_GRADIENTS(S::samples) + 1];
  m->X_ = X_; m->G_ = G_; m->Y_ = Y_; m->Z_ = Z_; m->psi_ = psi_; m->coefficients = coefficients; m->slopes = slopes;
  m->unit_slopes = unit_slopes; m->shift = shift; m->event_seeds = event_seeds; m->event_slopes = event_slopes; m->sample_slopes = sample_slopes;
  double state[S::states] = {}, integral[S::objectives + 1] = {}, integrand_scales[S::objectives + 1] = {}, velocity_scales[S::coordinates] = {};
  double chosen[S::coordinates] = {}, residuals[3] = {}, penalty[S::penalties + 1] = {}, values[S::numbers + 1];
  double event_sides[2 * S::units + 1] = {}, sample_values[S::samples + 1] = {}, sample_places[S::samples + 1] = {}, sample_counts[S::samples + 1] = {};
  double integral_gradient[S::objectives * S::parameters + 1] = {}, sensitivity_scales[6 * S::parameters + 1] = {}, sample_gradient[S::samples * S::parameters + 1] = {};
  vm_run run = job->common, *r = &run;
  r->state = state; r->integral = integral; r->integrand_scales = integrand_scales; r->velocity_scales = velocity_scales;
  r->chosen = chosen; r->residuals = residuals; r->penalty = penalty;
  r->event_sides = event_sides; r->sample_values = sample_values; r->sample_places = sample_places; r->sample_counts = sample_counts;
  r->integral_gradient = integral_gradient; r->sensitivity_scales = sensitivity_scales; r->sample_gradient = sample_gradient;
  r->state_sensitivity = Z_; /* only written, at the end of the run */
#ifdef VM_SWEEPS /* a reverse sweep follows */
  double solved[S::stages * (S::unknowns + S::multipliers) + 1], costates[S::stages * S::states * S::columns], pulled[S::states * S::columns], contribution[S::pulled * S::columns];
  m->solved = solved; m->costates = costates; m->pulled = pulled; m->contribution = contribution;
  double costate[S::states * S::columns] = {}, gradient[S::pulled * S::columns] = {}, start_unknowns[S::unknowns + S::multipliers + 1] = {}, state_sensitivity[S::states * S::row + 1] = {};
  r->costate = costate; r->gradient = gradient; r->start_unknowns = start_unknowns;
  r->state_sensitivity = state_sensitivity; /* each section continues from it */
  vm_run_sweep(sweep, k, r, m, values);
#else
  vm_run_sample(job, k, r, m, values);
#endif
}

/* Modes of contacts and friction: which contacts take part in an impact, and which modes follow an event. events.py has the equations, modes.py
   implements the same. Both questions are complementarity problems with the same structure; a vm_phase selects the chain and the modes. */

typedef struct { int chain, acts; } vm_phase; /* the chain that is solved; the mode by which a contact acts */

static const vm_phase vm_in_impact = {VM_IMPACT, VM_IMPACTS}, vm_in_motion = {VM_RATES, VM_CLOSED};

/* Modes of friction that sticks, and of the direction in which it slides, in a phase. */
static double *vm_sticks(const vm_run *r, long long i, const vm_phase *p) { return vm_mode(r, i, p->chain == VM_IMPACT ? vm_impact_sticks(r, i) : VM_STICKS); }
static double *vm_slides(const vm_run *r, long long i, const vm_phase *p) { return vm_sticks(r, i, p) + 1; }
static int vm_is_sliding(const vm_run *r, long long i, const vm_phase *p) {
  const double *direction = vm_slides(r, i, p);
  return vm_dot(direction, direction, vm_components(r, i)) != 0;
}

/* Components of the slip, its rate or the friction force among the values of friction i. */
static const double *vm_parts(const vm_run *r, const double *values, long long i, int first) {
  if (vm_components(r, i) == 1) first = first == VM_SLIPS ? VM_SLIP : first == VM_SLIP_RATES ? VM_SLIP_RATE : VM_TANGENTIAL;
  return values + VM_UNIT_VALUES * i + first;
}

/* Let friction i stick, slide along `factor` times the direction of x (0: unknown), or neither. */
static void vm_set_friction(const vm_run *r, const vm_workspace *m, long long i, const vm_phase *p, int sticks, double factor, const double *x) {
  const int d = vm_components(r, i);
  double *direction = vm_slides(r, i, p), size = x ? sqrt(vm_dot(x, x, d)) : 1;
  *vm_sticks(r, i, p) = sticks;
  for (int k = 0; k < d; ++k) direction[k] = factor == 0 ? 0 : !x ? (k == 0) * factor : size > 0 ? factor * x[k] / size : x[k];
  if (d == 1) return;
  if (p->chain == VM_IMPACT) *vm_ratio_mode(r, i) = 0;
  else *vm_slow_mode(r, i) = m->units_next[VM_UNIT_VALUES * i + VM_SLIP] <= 1.5 * VM_ENTERED * vm_ending_speed(r) ? vm_ending_speed(r) : 0;
}

/* Let friction i slide against the friction force among some values. */
static void vm_give_way(const vm_run *r, const vm_workspace *m, long long i, const vm_phase *p, const double *values) {
  const double *force = vm_parts(r, values, i, VM_TANGENTIALS);
  if (vm_components(r, i) == 1) vm_set_friction(r, m, i, p, 0, *force > 0 ? -1 : 1, 0);
  else vm_set_friction(r, m, i, p, 0, -1, force);
}

/* Whether the surfaces of a contact touch; those of `trigger` do. */
static int vm_touches(const vm_run *r, const double *values, long long i, long long trigger) {
  return vm_kind(r, i) == VM_CONTACT && (i == trigger || *vm_mode(r, i, VM_CLOSED) != 0 || values[VM_UNIT_VALUES * i + VM_GAP] <= vm_touch(r));
}

/* Whether friction has a normal force, or impulse, in a phase. */
static int vm_pressed(const vm_run *r, long long i, const vm_phase *p) {
  return vm_parent(r, i) < 0 ? p->chain != VM_IMPACT : *vm_mode(r, vm_parent(r, i), p->acts) != 0;
}

/* Solve the chain of a phase from the state x, for the present modes; evaluate all units at the resulting state. Returns a status. */
static int vm_answer(vm_run *r, vm_workspace *m, const vm_phase *p, const double *x, const double *S, double *state, double *slopes) {
  const vm_settings all = vm_settings_at(r, &r->time), bare = {{r->penalty, r->values, &r->time, 0}, 3}, *s = p->chain == VM_IMPACT ? &bare : &all;
  const int chain = p->chain == VM_RATES && !r->rates ? VM_STEP : p->chain;
  if (!vm_solve(chain, r, m, x, S, s->list, s->count, state, slopes)) return vm_unsolved(m);
  if (!vm_finite(state, r->states)) return VM_NOT_FINITE;
  vm_evaluate_units(r, m, r->time, state, m->units_next);
  return VM_DONE;
}

/* Whether contact i, which touches, is consistent: if it acts, it presses; otherwise its surfaces do not approach (or bounce too little). */
static int vm_contact_consistent(const vm_run *r, const vm_workspace *m, const vm_phase *p, long long i, double force, double acceleration) {
  const double *before = m->units + VM_UNIT_VALUES * i, *after = m->units_next + VM_UNIT_VALUES * i;
  if (*vm_mode(r, i, p->acts) != 0) return after[VM_NORMAL] >= -VM_CONSISTENT * force;
  if (p->chain == VM_IMPACT) return after[VM_GAP_RATE] + *vm_mode(r, i, VM_BOUNCES) * after[VM_RESTITUTION] * before[VM_GAP_RATE] >= -vm_slow(r);
  return !(fabs(after[VM_GAP_RATE]) <= vm_slow(r) && after[VM_GAP_ACCELERATION] < -VM_CONSISTENT * acceleration); /* if they approach, an impact follows */
}

/* Whether friction i that sticks stays below its limit; and whether one that slides moves, or begins to move, in the direction of its mode. */
static int vm_holds(const vm_run *r, const vm_workspace *m, const vm_phase *p, long long i, double force) {
  const double *u = m->units_next + VM_UNIT_VALUES * i;
  return *vm_sticks(r, i, p) == 0 || fabs(u[VM_TANGENTIAL]) <= u[VM_LIMIT] + VM_CONSISTENT * force;
}
static int vm_slides_ahead(const vm_run *r, const vm_workspace *m, const vm_phase *p, long long i, double acceleration) {
  const double *direction = vm_slides(r, i, p);
  const int d = vm_components(r, i);
  if (!vm_is_sliding(r, i, p)) return 1;
  if (p->chain == VM_IMPACT || vm_moves(r, m->units_next, i)) return vm_dot(direction, vm_parts(r, m->units_next, i, VM_SLIPS), d) >= -vm_slow(r);
  return vm_dot(direction, vm_parts(r, m->units_next, i, VM_SLIP_RATES), d) >= -VM_CONSISTENT * acceleration;
}

/* Change the mode of the first inconsistent unit, except a mode that is over. Returns its number, or -1 if all are consistent. */
static long long vm_mend(const vm_run *r, const vm_workspace *m, const vm_phase *p, long long trigger, int over, double acceleration) {
  const double force = vm_largest_normal(r, m->units_next);
  for (long long i = 0; i < r->units; ++i) {
    if (vm_kind(r, i) >= VM_EVENT || (i == trigger && over)) continue;
    if (vm_kind(r, i) == VM_CONTACT) {
      if (!vm_touches(r, m->units_next, i, trigger) || vm_contact_consistent(r, m, p, i, force, acceleration)) continue;
      *vm_mode(r, i, p->acts) = 1 - *vm_mode(r, i, p->acts);
      return i;
    }
    const int pressed = vm_pressed(r, i, p), sticks = *vm_sticks(r, i, p) != 0, slides = vm_is_sliding(r, i, p);
    if (!pressed && !sticks && !slides) continue;
    if (pressed && (sticks || slides) && vm_holds(r, m, p, i, force)) continue;
    if (pressed && sticks) vm_give_way(r, m, i, p, m->units_next);
    else vm_set_friction(r, m, i, p, pressed, 0, 0);
    return i;
  }
  return -1;
}

/* Iterate the direction of a slip after an impact by Newton's method. Returns whether it has changed. */
static int vm_refine_impact(const vm_run *r, const vm_workspace *m, long long i, double *direction) {
  const double *s = vm_parts(r, m->units_next, i, VM_SLIPS), size = m->units_next[VM_UNIT_VALUES * i + VM_SLIP];
  const int d = vm_components(r, i);
  if (size <= vm_slow(r) || vm_dot(direction, s, d) <= 0) return 0;
  double *kept = vm_ratio_mode(r, i), ratio = m->units_next[VM_UNIT_VALUES * vm_parent(r, i) + VM_NORMAL] / size;
  int off = fabs(ratio - *kept) > VM_CONSISTENT * fabs(ratio);
  for (int k = 0; k < d; ++k) off |= fabs(s[k] / size - direction[k]) > VM_ALIGNED;
  if (!off) return 0;
  for (int k = 0; k < d; ++k) direction[k] = s[k] / size;
  *kept = ratio;
  return 1;
}

/* Step towards the direction of the acceleration of a slip that begins. Returns whether the direction has changed. */
static int vm_refine_onset(const vm_run *r, const vm_workspace *m, long long i, double *direction, double acceleration) {
  const double *rates = vm_parts(r, m->units_next, i, VM_SLIP_RATES);
  const int d = vm_components(r, i);
  double *last = m->unit_directions + VM_TRIED * i, *last_rates = last + VM_COMPONENTS;
  const double size = sqrt(vm_dot(rates, rates, d));
  int off = 0;
  vm_raise(&acceleration, last[2 * VM_COMPONENTS]);
  if (size <= VM_CONSISTENT * acceleration) return 0;
  for (int k = 0; k < d; ++k) off |= fabs(rates[k] / size - direction[k]) > VM_ALIGNED;
  if (!off) return 0;
  double b = size, step = 0, change = 0;
  if (vm_dot(last, last, d) != 0) {
    for (int k = 0; k < d; ++k) {
      step += (direction[k] - last[k]) * (direction[k] - last[k]);
      change += (rates[k] - last_rates[k]) * (rates[k] - last_rates[k]);
    }
    if (step > 0 && change > 0) b = sqrt(change / step);
  }
  double moved[VM_COMPONENTS], norm;
  for (int k = 0; k < d; ++k) { last[k] = direction[k]; last_rates[k] = rates[k]; moved[k] = direction[k] + rates[k] / b; }
  norm = sqrt(vm_dot(moved, moved, d));
  for (int k = 0; k < d; ++k) direction[k] = norm > 0 ? moved[k] / norm : moved[k];
  return 1;
}

/* Correct the directions in which slips of several components begin, or leave an impact. Returns whether one has changed. */
static int vm_refine(const vm_run *r, const vm_workspace *m, const vm_phase *p, double acceleration) {
  int changed = 0;
  for (long long i = 0; i < r->units; ++i) {
    if (!vm_several(r, i) || !vm_is_sliding(r, i, p) || !vm_pressed(r, i, p)) continue;
    double *direction = vm_slides(r, i, p);
    if (p->chain == VM_IMPACT) changed |= vm_refine_impact(r, m, i, direction);
    else if (!vm_moves(r, m->units_next, i)) changed |= vm_refine_onset(r, m, i, direction, acceleration);
  }
  return changed;
}

/* Restart the refinement of directions. */
static void vm_forget_directions(const vm_run *r, vm_workspace *m) {
  for (long long i = 0; i < r->units; ++i) memset(m->unit_directions + VM_TRIED * i, 0, (size_t)(2 * VM_COMPONENTS) * sizeof(double));
}

/* Whether all units are consistent, sliding included. */
static int vm_all_consistent(const vm_run *r, const vm_workspace *m, const vm_phase *p, long long trigger, int over, double acceleration) {
  const double force = vm_largest_normal(r, m->units_next);
  for (long long i = 0; i < r->units; ++i) {
    if (vm_kind(r, i) >= VM_EVENT || (i == trigger && over)) continue;
    if (vm_kind(r, i) == VM_CONTACT ? vm_touches(r, m->units_next, i, trigger) && !vm_contact_consistent(r, m, p, i, force, acceleration)
                                    : vm_pressed(r, i, p) && !(vm_holds(r, m, p, i, force) && vm_slides_ahead(r, m, p, i, acceleration))) return 0;
  }
  return 1;
}

/* Number of modes of an undecided unit; a slip of several components finds its direction. */
static long long vm_options(const vm_run *r, long long i) { return vm_kind(r, i) == VM_CONTACT || vm_components(r, i) > 1 ? 2 : 3; }

/* Set the combination of modes of all undecided units with a given number: contacts act or not; friction sticks, or slides either way. Returns
   whether the combination is a distinct one: friction without a normal force has no choice. `over`: friction that no longer sticks, or -1. */
static int vm_choose_modes(const vm_run *r, const vm_workspace *m, const vm_phase *p, const long long *undecided, long long count, long long number, long long over) {
  static const double directions[] = {0, 1, -1};
  int own = 1;
  for (long long k = 0; k < count; ++k) {
    const long long i = undecided[k], options = vm_options(r, i), option = number % options;
    number /= options;
    if (vm_kind(r, i) == VM_CONTACT) { *vm_mode(r, i, p->acts) = option == 0; continue; }
    const int pressed = vm_pressed(r, i, p), moves = vm_several(r, i) && option && m->units[VM_UNIT_VALUES * i + VM_SLIP] > vm_slow(r);
    vm_set_friction(r, m, i, p, pressed && option == 0, pressed ? directions[option] : 0, moves ? vm_parts(r, m->units, i, VM_SLIPS) : 0);
    own = own && (pressed || option == 0);
  }
  for (long long i = 0; i < r->units; ++i) /* friction that slides already */
    if (vm_kind(r, i) == VM_FRICTION && p->chain != VM_IMPACT && m->units_sought[i] != 0) {
      const double sticks = *vm_sticks(r, i, p);
      if (!vm_pressed(r, i, p)) vm_set_friction(r, m, i, p, 0, 0, 0);
      else if (i == over) vm_give_way(r, m, i, p, m->units);
      else vm_set_friction(r, m, i, p, 0, 1, vm_parts(r, m->units_next, i, VM_SLIPS));
      *vm_sticks(r, i, p) = sticks;
    }
  return own;
}

/* Try all modes of the units that velocities leave undecided, if changing one after the other finds none. Returns a status. */
static int vm_try_all_modes(vm_run *r, vm_workspace *m, const vm_phase *p, long long trigger, int over, const double *x, const double *S, double *state, double *slopes) {
  long long undecided[VM_MOST_UNDECIDED], count = 0, total = 1;
  for (long long i = 0; i < r->units; ++i) {
    m->units_sought[i] = 0;
    if (vm_kind(r, i) >= VM_EVENT) continue;
    const double *u = (p->chain == VM_IMPACT ? m->units : m->units_next) + VM_UNIT_VALUES * i;
    const int contact = vm_kind(r, i) == VM_CONTACT;
    if (i == trigger && over) { if (!contact) m->units_sought[i] = 1; continue; }
    if (contact && (!vm_touches(r, u - VM_UNIT_VALUES * i, i, trigger) || (p->chain != VM_IMPACT && fabs(u[VM_GAP_RATE]) > vm_slow(r)))) continue;
    if (!contact && vm_parent(r, i) >= 0 && !vm_touches(r, u - VM_UNIT_VALUES * i, vm_parent(r, i), trigger)) { vm_set_friction(r, m, i, p, 0, 0, 0); continue; }
    if (!contact && p->chain != VM_IMPACT && vm_moves(r, m->units_next, i)) { m->units_sought[i] = 1; continue; }
    if (!contact && p->chain == VM_IMPACT && vm_parent(r, i) < 0) continue;
    if (count == VM_MOST_UNDECIDED) return VM_UNSETTLED;
    undecided[count++] = i;
    total *= vm_options(r, i);
  }
  for (long long number = 0; number < total; ++number) {
    if (!vm_choose_modes(r, m, p, undecided, count, number, over ? trigger : -1)) continue;
    int status = vm_answer(r, m, p, x, S, state, slopes);
    vm_forget_directions(r, m);
    for (int k = 0; status == VM_DONE && k < VM_REFINED && vm_refine(r, m, p, vm_size(state + 2 * r->coordinates, r->coordinates)); ++k)
      status = vm_answer(r, m, p, x, S, state, slopes);
    if (status != VM_DONE) continue;
    if (vm_all_consistent(r, m, p, trigger, over, vm_size(state + 2 * r->coordinates, r->coordinates))) return VM_DONE;
  }
  return VM_UNSETTLED;
}

/* Find consistent modes, beginning with the present ones: the first inconsistent one is changed until all are consistent. Returns a status. */
static int vm_find_modes(vm_run *r, vm_workspace *m, const vm_phase *p, long long trigger, int over, const double *x, const double *S, double *state, double *slopes) {
  int refined = 0;
  vm_forget_directions(r, m);
  for (long long k = 0; k < VM_REVISIONS * (r->units + 1) + VM_REFINED; ++k) {
    const int status = vm_answer(r, m, p, x, S, state, slopes);
    if (status != VM_DONE) return status;
    const double acceleration = vm_size(state + 2 * r->coordinates, r->coordinates);
    const long long changed = vm_mend(r, m, p, trigger, over, acceleration);
    if (changed < 0 && refined++ < VM_REFINED && vm_refine(r, m, p, acceleration)) continue;
    if (changed < 0 && vm_all_consistent(r, m, p, trigger, over, acceleration)) return VM_DONE;
    if (changed < 0) break;
    r->culprit = changed;
  }
  return vm_try_all_modes(r, m, p, trigger, over, x, S, state, slopes);
}

/* Compute velocities after an impact, from X to Z. Returns a status. */
static int vm_impact(vm_run *r, vm_workspace *m, long long trigger) {
  for (long long i = 0; i < r->units; ++i)
    if (vm_kind(r, i) == VM_CONTACT) {
      const int touches = vm_touches(r, m->units, i, trigger), closed = *vm_mode(r, i, VM_CLOSED) != 0;
      *vm_mode(r, i, VM_IMPACTS) = touches && (closed || m->units[VM_UNIT_VALUES * i + VM_GAP_RATE] < 0 || i == trigger);
      *vm_mode(r, i, VM_BOUNCES) = touches && !closed && vm_bounces(r, m->units + VM_UNIT_VALUES * i);
    } else if (vm_kind(r, i) == VM_FRICTION) vm_set_friction(r, m, i, &vm_in_impact, 0, 0, 0);
    else if (vm_field(r, i, VM_RESETS)) *vm_mode(r, i, 0) = i == trigger || (trigger < 0 && vm_resets_at_start(r, m, i));
  return vm_find_modes(r, m, &vm_in_impact, trigger, 0, m->X, m->X_, m->Z, m->Z_);
}

/* Remove the remaining slip of several components where sliding ends, from X to Z: contacts stay closed, friction that sticks keeps sticking, and
   nothing else acts. Returns a status. */
static int vm_halt(vm_run *r, vm_workspace *m, long long trigger) {
  for (long long i = 0; i < r->units; ++i)
    if (vm_kind(r, i) == VM_CONTACT) {
      *vm_mode(r, i, VM_IMPACTS) = *vm_mode(r, i, VM_CLOSED);
      *vm_mode(r, i, VM_BOUNCES) = 0;
    } else if (vm_kind(r, i) == VM_FRICTION) vm_set_friction(r, m, i, &vm_in_impact, i == trigger || *vm_mode(r, i, VM_STICKS) != 0, 0, 0);
    else if (vm_field(r, i, VM_RESETS)) *vm_mode(r, i, 0) = 0;
  return vm_answer(r, m, &vm_in_impact, m->X, m->X_, m->Z, m->Z_);
}

/* Set modes by velocities alone, after an event at Z: contacts that part are open, friction that slides has a direction; all others are closed and
   stick, except the mode of `trigger` if that is over. */
static void vm_modes_by_velocity(const vm_run *r, const vm_workspace *m, long long trigger, int over) {
  for (long long i = 0; i < r->units; ++i) {
    const double *u = m->units_next + VM_UNIT_VALUES * i;
    const int mine = i == trigger && over;
    if (vm_kind(r, i) == VM_CONTACT) *vm_mode(r, i, VM_CLOSED) = vm_touches(r, m->units_next, i, trigger) && fabs(u[VM_GAP_RATE]) <= vm_slow(r) && !mine;
    if (vm_kind(r, i) != VM_FRICTION) continue;
    const int pressed = vm_pressed(r, i, &vm_in_motion);
    const int moves = vm_moves(r, m->units_next, i);
    if (pressed && mine) vm_give_way(r, m, i, &vm_in_motion, m->units);
    else vm_set_friction(r, m, i, &vm_in_motion, pressed && !moves, pressed && moves, vm_parts(r, m->units_next, i, VM_SLIPS));
  }
}

/* Set ε of a slip of several components that begins, from the acceleration that it would have without friction. Returns a status. */
static int vm_begin_sliding(vm_run *r, vm_workspace *m, long long trigger) {
  const int d = vm_components(r, trigger);
  double *direction = vm_slides(r, trigger, &vm_in_motion), kept[VM_COMPONENTS];
  for (int k = 0; k < d; ++k) { kept[k] = direction[k]; direction[k] = 0; }
  const int status = vm_answer(r, m, &vm_in_motion, m->Z, m->Z_, m->Y, m->Y_);
  const double *rates = vm_parts(r, m->units_next, trigger, VM_SLIP_RATES);
  double more = VM_GATHERED * sqrt(vm_dot(rates, rates, d)) * r->duration / r->contact_speed;
  m->unit_directions[VM_TRIED * trigger + 2 * VM_COMPONENTS] = sqrt(vm_dot(rates, rates, d));
  *vm_slow_mode(r, trigger) = vm_ending_speed(r) * (more > 1 ? more : 1);
  for (int k = 0; k < d; ++k) direction[k] = kept[k];
  return status;
}

/* Determine modes after an event, and compute the whole state there, from Z to Y. Returns a status. */
static int vm_settle(vm_run *r, vm_workspace *m, long long trigger) {
  const int over = trigger >= 0 && vm_kind(r, trigger) < VM_EVENT && *vm_mode(r, trigger, 0) != 0; /* a contact that was closed, or friction that stuck */
  vm_evaluate_units(r, m, r->time, m->Z, m->units_next);
  vm_modes_by_velocity(r, m, trigger, over);
  memset(m->unit_directions, 0, (size_t)(VM_TRIED * r->units) * sizeof(double));
  if (over && vm_several(r, trigger) && vm_is_sliding(r, trigger, &vm_in_motion)) {
    const int status = vm_begin_sliding(r, m, trigger);
    if (status != VM_DONE) return status;
  }
  return vm_find_modes(r, m, &vm_in_motion, trigger, over, m->Z, m->Z_, m->Y, m->Y_);
}

/* Modes of contacts and friction: which contacts take part in an impact, and which modes follow an event. events.py has the equations and the
   same in Python. Both questions are complementarity problems with the same structure; a vm_phase says where their numbers are. */

typedef struct { int chain, acts, sticks, slides; } vm_phase; /* the chain that answers; modes of a contact that acts, of friction that sticks or slides */

static const vm_phase vm_in_impact = {VM_IMPACT, VM_IMPACTS, VM_IMPACT_STICKS, VM_IMPACT_SLIDES}, vm_in_motion = {VM_RATES, VM_CLOSED, VM_STICKS, VM_SLIDES};

/* Whether surfaces of a contact touch; `trigger` does. */
static int vm_touches(const vm_run *r, const double *values, long long i, long long trigger) {
  return vm_kind(r, i) == VM_CONTACT && (i == trigger || *vm_mode(r, i, VM_CLOSED) != 0 || values[VM_UNIT_VALUES * i + VM_GAP] <= vm_touch(r));
}

/* Whether friction has a normal force, or impulse, in a phase. */
static int vm_pressed(const vm_run *r, long long i, const vm_phase *p) {
  return vm_parent(r, i) < 0 ? p->chain != VM_IMPACT : *vm_mode(r, vm_parent(r, i), p->acts) != 0;
}

/* Solve the chain of a phase from the state x, for the present modes: the whole state, and the values of all units there. Returns a status. */
static int vm_answer(vm_run *r, vm_workspace *m, const vm_phase *p, const double *x, const double *S, double *state, double *slopes) {
  const vm_settings all = vm_settings_at(r, &r->time), bare = {{r->penalty, r->values, &r->time, 0}, 3}, *s = p->chain == VM_IMPACT ? &bare : &all;
  const int chain = p->chain == VM_RATES && !r->rates ? VM_STEP : p->chain;
  if (!vm_solve(chain, r, m, x, S, s->list, s->count, state, slopes) || !vm_finite(state, r->states)) return VM_NOT_FINITE;
  vm_evaluate_units(r, m, r->time, state, m->units_next);
  return VM_DONE;
}

/* Whether contact i, which touches, is as its mode says: it presses if it acts, and its surfaces do not approach (or bounce too little) if not. */
static int vm_contact_consistent(const vm_run *r, const vm_workspace *m, const vm_phase *p, long long i, double force, double acceleration) {
  const double *before = m->units + VM_UNIT_VALUES * i, *after = m->units_next + VM_UNIT_VALUES * i;
  if (*vm_mode(r, i, p->acts) != 0) return after[VM_NORMAL] >= -VM_CONSISTENT * force;
  if (p->chain == VM_IMPACT) return after[VM_GAP_RATE] + *vm_mode(r, i, VM_BOUNCES) * after[VM_RESTITUTION] * before[VM_GAP_RATE] >= -vm_slow(r);
  return !(fabs(after[VM_GAP_RATE]) <= vm_slow(r) && after[VM_GAP_ACCELERATION] < -VM_CONSISTENT * acceleration); /* if they approach, an impact follows */
}

/* Whether friction i that sticks holds; and whether one that slides moves, or begins to move, as its mode says. */
static int vm_holds(const vm_run *r, const vm_workspace *m, const vm_phase *p, long long i, double force) {
  const double *u = m->units_next + VM_UNIT_VALUES * i;
  return *vm_mode(r, i, p->sticks) == 0 || fabs(u[VM_TANGENTIAL]) <= u[VM_LIMIT] + VM_CONSISTENT * force;
}
static int vm_slides_ahead(const vm_run *r, const vm_workspace *m, const vm_phase *p, long long i, double acceleration) {
  const double *u = m->units_next + VM_UNIT_VALUES * i, slides = *vm_mode(r, i, p->slides);
  if (slides == 0) return 1;
  if (p->chain == VM_IMPACT || fabs(u[VM_SLIP]) > vm_slow(r)) return slides * u[VM_SLIP] >= -vm_slow(r);
  return slides * u[VM_SLIP_RATE] >= -VM_CONSISTENT * acceleration;
}

/* Change the first inconsistent unit, but for a mode that is over. Returns its number, or -1 if all are consistent. */
static long long vm_mend(const vm_run *r, const vm_workspace *m, const vm_phase *p, long long trigger, int over, double acceleration) {
  const double force = vm_largest_normal(r, m->units_next);
  for (long long i = 0; i < r->units; ++i) {
    if (vm_kind(r, i) >= VM_EVENT || (i == trigger && over)) continue;
    if (vm_kind(r, i) == VM_CONTACT) {
      if (!vm_touches(r, m->units_next, i, trigger) || vm_contact_consistent(r, m, p, i, force, acceleration)) continue;
      *vm_mode(r, i, p->acts) = 1 - *vm_mode(r, i, p->acts);
      return i;
    }
    double *sticks = vm_mode(r, i, p->sticks), *slides = vm_mode(r, i, p->slides);
    const int pressed = vm_pressed(r, i, p);
    if (!pressed && *sticks == 0 && *slides == 0) continue;
    if (pressed && (*sticks != 0 || *slides != 0) && vm_holds(r, m, p, i, force)) continue;
    const int gives_way = pressed && *sticks != 0;
    *slides = gives_way ? (m->units_next[VM_UNIT_VALUES * i + VM_TANGENTIAL] > 0 ? -1 : 1) : 0;
    *sticks = pressed && !gives_way;
    return i;
  }
  return -1;
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

/* Give all undecided units the modes that a number stands for: contacts act or not; friction sticks, or slides either way. Returns whether the
   number stands for modes of its own: friction without a normal force has none. */
static int vm_choose_modes(const vm_run *r, const vm_workspace *m, const vm_phase *p, const long long *undecided, long long count, long long number) {
  static const double directions[] = {0, 1, -1};
  int own = 1;
  for (long long k = 0; k < count; ++k) {
    const long long i = undecided[k], options = vm_kind(r, i) == VM_CONTACT ? 2 : 3, option = number % options;
    number /= options;
    if (options == 2) { *vm_mode(r, i, p->acts) = option == 0; continue; }
    const int pressed = vm_pressed(r, i, p);
    *vm_mode(r, i, p->sticks) = pressed && option == 0;
    *vm_mode(r, i, p->slides) = pressed ? directions[option] : 0;
    own = own && (pressed || option == 0);
  }
  for (long long i = 0; i < r->units; ++i) /* friction that slides already */
    if (vm_kind(r, i) == VM_FRICTION && p->chain != VM_IMPACT && fabs(m->units_sought[i]) > 0)
      *vm_mode(r, i, p->slides) = vm_pressed(r, i, p) ? m->units_sought[i] : 0;
  return own;
}

/* Try all modes of the units that velocities leave open, where changing one after the other finds none. Returns a status. */
static int vm_try_all_modes(vm_run *r, vm_workspace *m, const vm_phase *p, long long trigger, int over, const double *x, const double *S, double *state, double *slopes) {
  long long undecided[VM_MOST_UNDECIDED], count = 0, total = 1;
  for (long long i = 0; i < r->units; ++i) {
    m->units_sought[i] = 0;
    if (vm_kind(r, i) >= VM_EVENT) continue;
    const double *u = (p->chain == VM_IMPACT ? m->units : m->units_next) + VM_UNIT_VALUES * i;
    const int contact = vm_kind(r, i) == VM_CONTACT;
    if (i == trigger && over) { if (!contact) m->units_sought[i] = *vm_mode(r, i, p->slides); continue; }
    if (contact && (!vm_touches(r, u - VM_UNIT_VALUES * i, i, trigger) || (p->chain != VM_IMPACT && fabs(u[VM_GAP_RATE]) > vm_slow(r)))) continue;
    if (!contact && p->chain != VM_IMPACT && fabs(u[VM_SLIP]) > vm_slow(r)) { m->units_sought[i] = u[VM_SLIP] > 0 ? 1 : -1; continue; }
    if (!contact && p->chain == VM_IMPACT && vm_parent(r, i) < 0) continue;
    if (count == VM_MOST_UNDECIDED) return VM_UNSETTLED;
    undecided[count++] = i;
    total *= contact ? 2 : 3;
  }
  for (long long number = 0; number < total; ++number) {
    if (!vm_choose_modes(r, m, p, undecided, count, number)) continue;
    if (vm_answer(r, m, p, x, S, state, slopes) != VM_DONE) continue;
    if (vm_all_consistent(r, m, p, trigger, over, vm_size(state + 2 * r->coordinates, r->coordinates))) return VM_DONE;
  }
  return VM_UNSETTLED;
}

/* Find consistent modes, from the present ones on: the first inconsistent one is changed until none is. Returns a status. */
static int vm_find_modes(vm_run *r, vm_workspace *m, const vm_phase *p, long long trigger, int over, const double *x, const double *S, double *state, double *slopes) {
  for (long long k = 0; k < VM_REVISIONS * (r->units + 1); ++k) {
    const int status = vm_answer(r, m, p, x, S, state, slopes);
    if (status != VM_DONE) return status;
    const double acceleration = vm_size(state + 2 * r->coordinates, r->coordinates);
    const long long changed = vm_mend(r, m, p, trigger, over, acceleration);
    if (changed < 0 && vm_all_consistent(r, m, p, trigger, over, acceleration)) return VM_DONE;
    if (changed < 0) break;
    r->culprit = changed;
  }
  return vm_try_all_modes(r, m, p, trigger, over, x, S, state, slopes);
}

/* Velocities after an impact, from X to Z. Returns a status. */
static int vm_impact(vm_run *r, vm_workspace *m, long long trigger) {
  for (long long i = 0; i < r->units; ++i)
    if (vm_kind(r, i) == VM_CONTACT) {
      const int touches = vm_touches(r, m->units, i, trigger), closed = *vm_mode(r, i, VM_CLOSED) != 0;
      *vm_mode(r, i, VM_IMPACTS) = touches && (closed || m->units[VM_UNIT_VALUES * i + VM_GAP_RATE] < 0 || i == trigger);
      *vm_mode(r, i, VM_BOUNCES) = touches && !closed && vm_bounces(r, m->units + VM_UNIT_VALUES * i);
    } else if (vm_kind(r, i) == VM_FRICTION) *vm_mode(r, i, VM_IMPACT_STICKS) = *vm_mode(r, i, VM_IMPACT_SLIDES) = 0;
    else if (vm_field(r, i, VM_RESETS)) *vm_mode(r, i, 0) = i == trigger || (trigger < 0 && vm_resets_at_start(r, m, i));
  return vm_find_modes(r, m, &vm_in_impact, trigger, 0, m->X, m->X_, m->Z, m->Z_);
}

/* Modes that follow from velocities alone, after an event at Z: contacts that part are open, friction that slides has a direction; all others
   are closed and stick, but for the mode of `trigger` if that is over. */
static void vm_modes_by_velocity(const vm_run *r, const vm_workspace *m, long long trigger, int over) {
  for (long long i = 0; i < r->units; ++i) {
    const double *u = m->units_next + VM_UNIT_VALUES * i;
    const int mine = i == trigger && over;
    if (vm_kind(r, i) == VM_CONTACT) *vm_mode(r, i, VM_CLOSED) = vm_touches(r, m->units_next, i, trigger) && fabs(u[VM_GAP_RATE]) <= vm_slow(r) && !mine;
    if (vm_kind(r, i) != VM_FRICTION) continue;
    const int pressed = vm_pressed(r, i, &vm_in_motion);
    double slides = fabs(u[VM_SLIP]) > vm_slow(r) ? (u[VM_SLIP] > 0 ? 1 : -1) : 0;
    if (mine) slides = m->units[VM_UNIT_VALUES * i + VM_TANGENTIAL] > 0 ? -1 : 1;
    *vm_mode(r, i, VM_STICKS) = pressed && slides == 0;
    *vm_mode(r, i, VM_SLIDES) = pressed ? slides : 0;
  }
}

/* Modes after an event, and the whole state there, from Z to Y. Returns a status. */
static int vm_settle(vm_run *r, vm_workspace *m, long long trigger) {
  const int over = trigger >= 0 && vm_kind(r, trigger) < VM_EVENT && *vm_mode(r, trigger, 0) != 0; /* a contact that was closed, or friction that stuck */
  vm_evaluate_units(r, m, r->time, m->Z, m->units_next);
  vm_modes_by_velocity(r, m, trigger, over);
  return vm_find_modes(r, m, &vm_in_motion, trigger, over, m->Z, m->Z_, m->Y, m->Y_);
}

/* Events of contacts and dry friction: when a mode ends, what an impact makes of the velocities, which modes follow, and derivatives across.
   events.py has the equations, the same in Python, and the constants. */

enum { VM_CONTACT, VM_FRICTION, VM_EVENT, VM_EXTREMUM };                        /* kinds of units: the last two have no mode but a side of zero */
enum { VM_KIND, VM_PARENT, VM_FIRST_MODE, VM_DIRECTION, VM_RESETS, VM_UNIT_FIELDS };
enum { VM_GAP, VM_GAP_RATE, VM_GAP_ACCELERATION, VM_NORMAL, VM_RESTITUTION };   /* values of a contact */
enum { VM_SLIP, VM_SLIP_RATE, VM_TANGENTIAL, VM_LIMIT, VM_UNIT_VALUES = 5 };    /* values of friction; as many of both */
enum { VM_CLOSED, VM_IMPACTS, VM_BOUNCES };                                     /* modes of a contact */
enum { VM_NEVER_FIRES = 2 };                                                    /* direction of an event that only ends steps */
enum { VM_NONE = -1, VM_SHORTER = -2 };
enum { VM_STICKS, VM_SLIDES, VM_IMPACT_STICKS, VM_IMPACT_SLIDES };              /* modes of friction */

static long long vm_field(const vm_run *r, long long i, int which) { return (long long)r->unit_table[VM_UNIT_FIELDS * i + which]; }
static int vm_kind(const vm_run *r, long long i) { return (int)vm_field(r, i, VM_KIND); }
static long long vm_parent(const vm_run *r, long long i) { return vm_field(r, i, VM_PARENT); }
static double *vm_mode(const vm_run *r, long long i, int which) { return r->values + vm_field(r, i, VM_FIRST_MODE) + which; }
/* Whether friction has a normal force: its contact is closed, or the force is given. */
static int vm_presses(const vm_run *r, long long i) { return vm_parent(r, i) < 0 || *vm_mode(r, vm_parent(r, i), 0) != 0; }
static double *vm_modes(const vm_run *r) { return r->values + r->numbers - r->modes; }

/* A function of state, parameters and time. */
static void vm_values_at(int function, vm_run *r, vm_workspace *m, double time, const double *state, double *result) {
  m->scratch.arg[0] = state; m->scratch.arg[1] = r->values; m->scratch.arg[2] = &time;
  m->scratch.res[0] = result;
  vm_call(function, r, m);
}

/* Rate of sampled function k along the motion, by a central difference: it may depend on accelerations and multipliers. */
static double vm_sample_rate(vm_run *r, vm_workspace *m, double time, const double *state, long long k) {
  const long long n = r->coordinates;
  const double short_time = VM_NUDGE * r->duration;
  double values[2];
  for (int side = 0; side < 2; ++side) {
    const double dt = side ? short_time : -short_time, then = time + dt;
    const vm_settings s = vm_settings_at(r, &then);
    for (long long j = 0; j < n; ++j) {
      m->event_state[j] = state[j] + dt * (state[n + j] + dt / 2 * state[2 * n + j]);
      m->event_state[n + j] = state[n + j] + dt * state[2 * n + j];
    }
    if (!vm_solve(r->rates ? VM_RATES : VM_STEP, r, m, m->event_state, m->event_slopes, s.list, s.count, m->event_motion, m->event_slopes)) return NAN;
    vm_values_at(VM_SAMPLES, r, m, then, m->event_motion, m->sampled);
    values[side] = m->sampled[k];
  }
  return (values[1] - values[0]) / (2 * short_time);
}

/* Values of all units at a state. */
static void vm_evaluate_units(vm_run *r, vm_workspace *m, double time, const double *state, double *result) {
  vm_values_at(VM_UNITS, r, m, time, state, result);
  for (long long i = 0; i < r->units; ++i)
    if (vm_kind(r, i) == VM_EXTREMUM) result[VM_UNIT_VALUES * i] = vm_sample_rate(r, m, time, state, vm_parent(r, i)), result[VM_UNIT_VALUES * i + 1] = NAN;
}

/* What is positive as long as the mode of a unit holds, and its rate; the latter is not a number where it depends on multipliers. */
static double vm_watched(const vm_run *r, const double *values, long long i, double *rate) {
  const double *u = values + VM_UNIT_VALUES * i;
  *rate = NAN;
  if (vm_kind(r, i) >= VM_EVENT) {
    const double side = r->event_sides[i] != 0 ? -1 : 1;
    *rate = side * u[1];
    return side * u[0];
  }
  if (vm_kind(r, i) == VM_CONTACT) {
    if (*vm_mode(r, i, VM_CLOSED) != 0) return u[VM_NORMAL];
    *rate = u[VM_GAP_RATE];
    return u[VM_GAP];
  }
  const double slides = *vm_mode(r, i, VM_SLIDES);
  if (*vm_mode(r, i, VM_STICKS) != 0) return u[VM_LIMIT] - fabs(u[VM_TANGENTIAL]);
  if (slides == 0) return VM_NEVER; /* its contact is open */
  *rate = slides * u[VM_SLIP_RATE];
  return slides * u[VM_SLIP];
}

/* Distance below which surfaces touch, speed below which they do not part, and speed below which an impact has no restitution. */
static double vm_touch(const vm_run *r) { return VM_TOUCH * r->contact_length; }
static double vm_slow(const vm_run *r) { return VM_SLOW * r->contact_speed; }
static double vm_rest_speed(const vm_run *r) { return r->rest_tolerance * r->contact_speed; }

/* Whether an impact has restitution: it is fast enough, and what follows is a flight higher than rounding. */
static int vm_bounces(const vm_run *r, const double *contact) {
  const double after = contact[VM_RESTITUTION] * contact[VM_GAP_RATE];
  return contact[VM_GAP_RATE] < -vm_rest_speed(r) && after * after > -2 * VM_LOWEST * r->contact_length * contact[VM_GAP_ACCELERATION];
}

/* How far below zero a watched value may be by rounding. */
static double vm_blur(const vm_run *r, const double *values, long long i) {
  if (vm_kind(r, i) >= VM_EVENT) return 0;
  if (*vm_mode(r, i, 0) == 0) return VM_BLURRED * (vm_kind(r, i) == VM_CONTACT ? r->contact_length : r->contact_speed);
  double force = fabs(values[VM_UNIT_VALUES * i + VM_NORMAL]);
  if (vm_kind(r, i) == VM_FRICTION) vm_raise(&force, fabs(values[VM_UNIT_VALUES * i + VM_TANGENTIAL]));
  return VM_BLURRED_FORCE * (force > r->contact_force ? force : r->contact_force);
}

/* Largest normal force, or impulse, among some values. */
static double vm_largest_normal(const vm_run *r, const double *values) {
  double force = 0;
  for (long long i = 0; i < r->units; ++i) if (vm_kind(r, i) == VM_CONTACT) vm_raise(&force, fabs(values[VM_UNIT_VALUES * i + VM_NORMAL]));
  return force;
}

/* Raise the scales by which contacts are judged to the values at the beginning of a step. */
static void vm_scale_contacts(vm_run *r, const vm_workspace *m) {
  vm_raise(&r->contact_length, vm_largest_of(r, m->X, 0));
  vm_raise(&r->contact_length, r->smallest_size);
  vm_raise(&r->contact_speed, vm_size(m->X + r->coordinates, r->coordinates));
  vm_raise(&r->contact_force, vm_largest_normal(r, m->units));
}

/* Share of an interval at which a value vanishes that is positive at its beginning and negative at its end; by a cubic where rates are known. */
static double vm_root(double g0, double d0, double g1, double d1) {
  if (g0 < 0) g0 = 0;
  if (isnan(d0) || isnan(d1)) return g0 / (g0 - g1);
  double low = 0, high = 1;
  for (int k = 0; k < 60; ++k) {
    const double x = (low + high) / 2, y = 1 - x;
    if (y * y * (g0 * (1 + 2 * x) + d0 * x) + x * x * (g1 * (1 + 2 * y) - d1 * y) > 0) low = x; else high = x;
  }
  return high;
}

/* Share of a step at which a value that is positive at both ends has a minimum that may be negative; 0 if there is none. */
static double vm_dip(double g0, double d0, double g1, double d1) {
  if (!(d0 < 0 && d1 > 0)) return 0;
  const double a = 3 * (d0 + d1) + 6 * (g0 - g1), b = -2 * (2 * d0 + d1) - 6 * (g0 - g1), root = sqrt(b * b - 4 * a * d0 > 0 ? b * b - 4 * a * d0 : 0);
  const double x = fabs(a) > 1e-12 * fabs(b) ? (-b + root) / (2 * a) : -d0 / b, y = 1 - x;
  if (!(x > 1e-3 && x < 1 - 1e-3)) return 0;
  const double lowest = y * y * (g0 * (1 + 2 * x) + d0 * x) + x * x * (g1 * (1 + 2 * y) - d1 * y);
  return lowest < VM_DIP * (g0 < g1 ? g0 : g1) ? x : 0;
}

/* Note the result of an attempt to end a step at the event that is sought; *length is that of the next attempt, or 0 if this one will do. */
static void vm_narrow(vm_run *r, double h, double g, double rate, double *length) {
  const double instant = VM_INSTANT * r->duration;
  *length = 0;
  if (fabs(g) <= fabs(rate) * instant) return;
  if (g > 0) {
    if (isnan(rate) && r->sought_short > 0) r->value_long *= 0.5; /* or one end of the interval would not move */
    r->sought_short = h; r->value_short = g; r->rate_short = rate;
  } else {
    if (isnan(rate) && r->sought_long < VM_NEVER) r->value_short *= 0.5;
    r->sought_long = h; r->value_long = g; r->rate_long = rate;
  }
  const double between = r->sought_long - r->sought_short;
  if (between <= instant || ++r->attempts > VM_ATTEMPTS) return;
  const double share = vm_root(r->value_short, between * r->rate_short, r->value_long, between * r->rate_long);
  *length = r->sought_short + (share > 0 && share < 1 ? share : 0.5) * between;
}

/* The unit whose mode ends first within the step of length h that was tried, VM_NONE, or VM_SHORTER where two events may be hidden in the step;
   *length is then that of the next attempt, or 0 if the step ends at the event. */
static long long vm_first_event(vm_run *r, vm_workspace *m, double h, double *length) {
  long long first = VM_NONE;
  double earliest = 2 * h, rate, rate_next;
  *length = h;
  for (long long i = 0; i < r->units; ++i) {
    const double g = vm_watched(r, m->units, i, &rate), g_next = vm_watched(r, m->units_next, i, &rate_next);
    if (g >= VM_NEVER) continue;
    if (g_next < -vm_blur(r, m->units_next, i)) {
      const double time = h * vm_root(g, h * rate, g_next, h * rate_next);
      if (time < earliest) { earliest = time; first = i; }
    } else if (i != r->sought) {
      const double share = vm_dip(g, h * rate, g_next, h * rate_next);
      if (share > 0 && share * h < *length) *length = share * h;
    }
  }
  if (first < 0 && r->sought >= 0 && r->sought_long >= h) first = r->sought; /* the attempt was too short, or just right */
  if (first < 0) return *length < h ? VM_SHORTER : VM_NONE;
  if (first != r->sought) {
    r->sought = first; r->attempts = 0;
    const double g = vm_watched(r, m->units, first, &rate);
    r->sought_short = 0; r->value_short = g > 0 ? g : 0; r->rate_short = rate;
    r->sought_long = VM_NEVER;
  }
  vm_narrow(r, h, vm_watched(r, m->units_next, first, &rate_next), rate_next, length);
  return first;
}

/* Whether surfaces of a contact touch; `trigger` does. */
static int vm_touches(const vm_run *r, const double *values, long long i, long long trigger) {
  return vm_kind(r, i) == VM_CONTACT && (i == trigger || *vm_mode(r, i, VM_CLOSED) != 0 || values[VM_UNIT_VALUES * i + VM_GAP] <= vm_touch(r));
}

/* Change what is inconsistent about contact or friction i in an impact. Returns whether there was something. */
static int vm_mend_impact(const vm_run *r, const vm_workspace *m, long long i, double impulse) {
  const double *before = m->units + VM_UNIT_VALUES * i, *after = m->units_next + VM_UNIT_VALUES * i, speed = vm_slow(r);
  if (vm_kind(r, i) == VM_CONTACT) {
    double *takes_part = vm_mode(r, i, VM_IMPACTS);
    const double part = after[VM_GAP_RATE] + *vm_mode(r, i, VM_BOUNCES) * after[VM_RESTITUTION] * before[VM_GAP_RATE];
    if (*takes_part != 0 ? after[VM_NORMAL] < -VM_CONSISTENT * impulse : part < -speed) { *takes_part = 1 - *takes_part; return 1; }
    return 0;
  }
  if (vm_kind(r, i) >= VM_EVENT) return 0;
  double *sticks = vm_mode(r, i, VM_IMPACT_STICKS), *slides = vm_mode(r, i, VM_IMPACT_SLIDES);
  const int active = vm_parent(r, i) >= 0 && *vm_mode(r, vm_parent(r, i), VM_IMPACTS) != 0;
  if (!active) {
    const int was = *sticks != 0 || *slides != 0;
    *sticks = *slides = 0;
    return was;
  }
  if (*sticks == 0 && *slides == 0) { *sticks = 1; return 1; }
  if (*sticks != 0 && fabs(after[VM_TANGENTIAL]) > after[VM_LIMIT] + VM_CONSISTENT * impulse) {
    *sticks = 0;
    *slides = after[VM_TANGENTIAL] > 0 ? -1 : 1;
    return 1;
  }
  return 0;
}

/* Velocities after an impact, from X to Z. Contacts take part whose impulse is positive, or whose surfaces would not part otherwise: a linear
   complementarity problem, solved by changing the first inconsistent one. Returns a status. */
static int vm_impact(vm_run *r, vm_workspace *m, long long trigger) {
  const vm_settings s = {{r->penalty, r->values, &r->time, 0}, 3};
  for (long long i = 0; i < r->units; ++i)
    if (vm_kind(r, i) == VM_CONTACT) {
      const int touches = vm_touches(r, m->units, i, trigger);
      const double rate = m->units[VM_UNIT_VALUES * i + VM_GAP_RATE];
      *vm_mode(r, i, VM_IMPACTS) = touches && (*vm_mode(r, i, VM_CLOSED) != 0 || rate < 0 || i == trigger);
      *vm_mode(r, i, VM_BOUNCES) = touches && *vm_mode(r, i, VM_CLOSED) == 0 && vm_bounces(r, m->units + VM_UNIT_VALUES * i);
    } else if (vm_kind(r, i) == VM_FRICTION) *vm_mode(r, i, VM_IMPACT_STICKS) = *vm_mode(r, i, VM_IMPACT_SLIDES) = 0;
    else if (vm_field(r, i, VM_RESETS)) *vm_mode(r, i, 0) = i == trigger;
  for (long long k = 0; k < VM_REVISIONS * (r->units + 1); ++k) {
    if (!vm_solve(VM_IMPACT, r, m, m->X, m->X_, s.list, s.count, m->Z, m->Z_) || !vm_finite(m->Z, r->states)) return VM_NOT_FINITE;
    vm_evaluate_units(r, m, r->time, m->Z, m->units_next);
    const double impulse = vm_largest_normal(r, m->units_next);
    long long i = 0;
    while (i < r->units && ((vm_kind(r, i) == VM_CONTACT && !vm_touches(r, m->units, i, trigger)) || !vm_mend_impact(r, m, i, impulse))) ++i;
    if (i == r->units) return VM_DONE;
    r->culprit = i;
  }
  return VM_UNSETTLED;
}

/* Modes that follow from velocities alone, after an event at Z: contacts that part are open, friction that slides has a direction; all others
   are closed and stick, but for the mode of `trigger` if that has `ended`. */
static void vm_modes_by_velocity(const vm_run *r, const vm_workspace *m, long long trigger, int ended) {
  for (long long i = 0; i < r->units; ++i) {
    const double *u = m->units_next + VM_UNIT_VALUES * i;
    const int over = i == trigger && ended;
    if (vm_kind(r, i) == VM_CONTACT) {
      *vm_mode(r, i, VM_CLOSED) = vm_touches(r, m->units_next, i, trigger) && u[VM_GAP_RATE] <= vm_slow(r) && !over;
      continue;
    }
    if (vm_kind(r, i) >= VM_EVENT) continue;
    double *sticks = vm_mode(r, i, VM_STICKS), *slides = vm_mode(r, i, VM_SLIDES);
    const int closed = vm_presses(r, i);
    if (over) *slides = m->units[VM_UNIT_VALUES * i + VM_TANGENTIAL] > 0 ? -1 : 1;
    else *slides = fabs(u[VM_SLIP]) > vm_slow(r) ? (u[VM_SLIP] > 0 ? 1 : -1) : 0;
    *sticks = closed && *slides == 0;
    if (!closed) *slides = 0;
  }
}

/* Change what is inconsistent about the mode of contact or friction i, by the accelerations that follow from it. */
static int vm_mend_mode(const vm_run *r, const vm_workspace *m, long long i, double force) {
  const double *u = m->units_next + VM_UNIT_VALUES * i;
  if (vm_kind(r, i) == VM_CONTACT) {
    double *closed = vm_mode(r, i, VM_CLOSED);
    if (*closed != 0 ? u[VM_NORMAL] >= -VM_CONSISTENT * force : !(u[VM_GAP_RATE] <= vm_slow(r) && u[VM_GAP_ACCELERATION] < -VM_CONSISTENT * vm_size(m->Y + 2 * r->coordinates, r->coordinates))) return 0;
    *closed = 1 - *closed;
    return 1;
  }
  if (vm_kind(r, i) >= VM_EVENT) return 0;
  double *sticks = vm_mode(r, i, VM_STICKS), *slides = vm_mode(r, i, VM_SLIDES);
  if (!vm_presses(r, i)) {
    const int was = *sticks != 0 || *slides != 0;
    *sticks = *slides = 0;
    return was;
  }
  if (*sticks == 0 && *slides == 0) { *sticks = 1; return 1; }
  if (*sticks != 0 && fabs(u[VM_TANGENTIAL]) > u[VM_LIMIT] + VM_CONSISTENT * force) {
    *sticks = 0;
    *slides = u[VM_TANGENTIAL] > 0 ? -1 : 1;
    return 1;
  }
  return 0;
}

/* Modes after an event, and the whole state there, from Z to the first stage. Returns a status. */
static int vm_settle(vm_run *r, vm_workspace *m, long long trigger) {
  const vm_settings s = vm_settings_at(r, &r->time);
  const double ended = trigger >= 0 && vm_kind(r, trigger) < VM_EVENT ? *vm_mode(r, trigger, 0) : 0; /* a contact that was closed, or friction that stuck: that is over */
  vm_evaluate_units(r, m, r->time, m->Z, m->units_next);
  vm_modes_by_velocity(r, m, trigger, ended != 0);
  for (long long k = 0; k < VM_REVISIONS * (r->units + 1); ++k) {
    if (!vm_solve(r->rates ? VM_RATES : VM_STEP, r, m, m->Z, m->Z_, s.list, s.count, m->Y, m->Y_) || !vm_finite(m->Y, r->states)) return VM_NOT_FINITE;
    vm_evaluate_units(r, m, r->time, m->Y, m->units_next);
    const double force = vm_largest_normal(r, m->units_next);
    long long i = 0;
    while (i < r->units && ((i == trigger && *vm_mode(r, i, 0) == 0 && ended != 0) || (vm_kind(r, i) == VM_CONTACT && !vm_touches(r, m->units_next, i, trigger)) ||
                            !vm_mend_mode(r, m, i, force))) ++i;
    if (i == r->units) return VM_DONE;
    r->culprit = i;
  }
  return VM_UNSETTLED;
}

/* The watched function of a unit, one of three: gap, slip or a stated function; normal force, or limit − T; limit + T. */
static long long vm_function_of(const vm_run *r, const vm_workspace *m, long long i) {
  if (vm_kind(r, i) >= VM_EVENT || *vm_mode(r, i, 0) == 0) return 3 * i;
  return 3 * i + (vm_kind(r, i) == VM_FRICTION && m->units[VM_UNIT_VALUES * i + VM_TANGENTIAL] < 0 ? 2 : 1);
}

/* Rates of a whole state along the motion: those of accelerations and multipliers are derivatives of the rates with time for a parameter, in one
   column. Returns whether these are known. */
static int vm_motion(vm_run *r, vm_workspace *m, double time, const double *state, double *motion) {
  const long long n = r->states, c = r->coordinates;
  const vm_settings s = vm_settings_at(r, &time);
  const double *seeds = r->seeds;
  memset(motion, 0, (size_t)n * sizeof(double));
  memcpy(motion, state + c, (size_t)(2 * c) * sizeof(double));
  if (!r->seed_rows || !r->parameters) return 0;
  memset(m->event_seeds, 0, (size_t)(r->seed_rows * r->row) * sizeof(double));
  m->event_seeds[(r->seed_rows - 1) * r->row] = 1;
  memset(m->Y_, 0, (size_t)(2 * c * r->row) * sizeof(double));
  for (long long j = 0; j < 2 * c; ++j) m->Y_[j * r->row] = state[c + j];
  r->seeds = m->event_seeds;
  vm_solve(r->rates ? VM_RATES : VM_STEP, r, m, state, m->Y_, s.list, s.count, m->event_state, m->event_slopes);
  r->seeds = seeds;
  for (long long j = 2 * c; j < n; ++j) motion[j] = m->event_slopes[j * r->row];
  return 1;
}

/* Gradients of all watched functions at a state: by state, direction, parameter, and time. */
static void vm_unit_gradient(vm_run *r, vm_workspace *m, double time, const double *state) {
  const long long k = 3 * r->units;
  double *p = m->unit_slopes;
  m->scratch.arg[0] = state; m->scratch.arg[1] = r->values; m->scratch.arg[2] = &time;
  m->scratch.res[0] = p; p += k * r->states;
  m->scratch.res[1] = p; p += k * r->parameters;
  m->scratch.res[2] = p; p += k * r->numbers;
  m->scratch.res[3] = p;
  vm_call(VM_UNIT_GRADIENT, r, m);
}

/* Rate of watched function f along the motion at a state; its gradients are known. */
static double vm_watched_rate(vm_run *r, vm_workspace *m, double time, const double *state, long long f) {
  const long long n = r->states, c = r->coordinates, k = 3 * r->units;
  const double *slopes = m->unit_slopes + f * n;
  double rate = m->unit_slopes[k * (n + r->parameters + r->numbers) + f];
  int deep = 0;
  for (long long j = 2 * c; j < n; ++j) if (slopes[j] != 0) deep = 1;
  if (deep && !vm_motion(r, m, time, state, m->event_motion)) return NAN;
  if (!deep) memcpy(m->event_motion, state + c, (size_t)(2 * c) * sizeof(double));
  for (long long j = 0; j < (deep ? n : 2 * c); ++j) rate += slopes[j] * m->event_motion[j];
  return rate;
}

/* Derivatives across an event, from X_ (before) by way of the impact to the first stage; see events.py. Returns a status. */
static int vm_differentiate_event(vm_run *r, vm_workspace *m, int impacts) {
  const long long n = r->coordinates, p = r->parameters, o = r->objectives, row = r->row;
  const double *x = m->event_before;
  const vm_settings s = vm_settings_at(r, &r->time);
  for (long long c = 0; c < p; ++c)
    for (long long j = 0; j < 2 * n; ++j) m->X_[j * row + c] += x[n + j] * m->shift[c];
  if (impacts) {
    const vm_settings bare = {{r->penalty, r->values, &r->time, 0}, 3};
    const double *seeds = r->seeds;
    if (r->seed_rows) {
      memcpy(m->event_seeds, seeds, (size_t)(r->seed_rows * row) * sizeof(double));
      for (long long c = 0; c < p; ++c) m->event_seeds[(r->seed_rows - 1) * row + c] = m->shift[c];
      r->seeds = m->event_seeds;
    }
    const int solved = vm_solve(VM_IMPACT, r, m, x, m->X_, bare.list, bare.count, m->Z, m->Z_);
    r->seeds = seeds;
    if (!solved) return VM_NO_CONVERGENCE;
  } else memcpy(m->Z_, m->X_, (size_t)(2 * n * row) * sizeof(double));
  for (long long c = 0; c < p; ++c) {
    for (long long j = 0; j < 2 * n; ++j) m->Z_[j * row + c] -= m->X[n + j] * m->shift[c];
    for (long long i = 0; i < o; ++i) r->integral_gradient[i * p + c] += (m->event_integrands[i] - m->G[i]) * m->shift[c];
  }
  if (!vm_solve(r->rates ? VM_RATES : VM_STEP, r, m, m->Z, m->Z_, s.list, s.count, m->Y, m->Y_)) return VM_NO_CONVERGENCE;
  memcpy(m->X_, m->Y_, (size_t)(r->states * row) * sizeof(double));
  return VM_DONE;
}

enum { VM_AT_EVENT, VM_HIGHEST, VM_DEEPEST, VM_SAMPLE_FIELDS = 3 }; /* kinds of samples; fields are the kind, the unit, and the occurrence, 0 for the last */
enum { VM_AT_START = -1, VM_AT_END = -2, VM_NOWHERE = -3 };     /* where a sample was taken; else twice the number of the event, plus 1 after it */

static int vm_sample_kind(const vm_run *r, long long k) { return (int)r->sample_table[VM_SAMPLE_FIELDS * k]; }

/* Whether a value is the new extremum. */
static int vm_exceeds(const vm_run *r, long long k, double value) {
  const double kept = r->sample_values[k];
  return vm_sample_kind(r, k) != VM_AT_EVENT && (isnan(kept) || (vm_sample_kind(r, k) == VM_HIGHEST ? value > kept : value < kept));
}

/* Gradients of all sampled functions at a state: by state, direction, parameter, and time. */
static void vm_sample_gradient(vm_run *r, vm_workspace *m, double time, const double *state) {
  const long long k = r->samples;
  double *p = m->sample_slopes;
  m->scratch.arg[0] = state; m->scratch.arg[1] = r->values; m->scratch.arg[2] = &time;
  m->scratch.res[0] = p; p += k * r->states;
  m->scratch.res[1] = p; p += k * r->parameters;
  m->scratch.res[2] = p; p += k * r->numbers;
  m->scratch.res[3] = p;
  vm_call(VM_SAMPLE_GRADIENT, r, m);
}

/* Derivative of sampled function k in direction c at a state with derivatives S, whose time moves by m->shift where there is a motion. */
static double vm_sample_derivative(const vm_run *r, const vm_workspace *m, long long k, long long c, const double *S, const double *motion) {
  const long long n = r->states, q = r->samples;
  const double *slopes = m->sample_slopes + k * n, shift = motion ? m->shift[c] : 0;
  double sum = m->sample_slopes[q * n + k * r->parameters + c];
  for (long long j = 0; j < n; ++j) sum += slopes[j] * S[j * r->row + c];
  if (shift != 0) for (long long j = 0; j < n; ++j) sum += slopes[j] * motion[j] * shift;
  return shift != 0 ? sum + m->sample_slopes[q * (n + r->parameters + r->numbers) + k] * shift : sum;
}

/* Take the samples that are due at a state: those of the event of `trigger`, and extrema. Their time moves by m->shift if they `move`. */
static void vm_take_samples(vm_run *r, vm_workspace *m, double time, const double *state, const double *S, long long trigger, int moves, double place) {
  int known = 0;
  vm_values_at(VM_SAMPLES, r, m, time, state, m->sampled);
  memcpy(m->sampled + r->samples, m->sampled, (size_t)r->samples * sizeof(double));
  for (long long k = 0; k < r->samples; ++k) {
    const double value = m->sampled[r->samples + k];
    int due = vm_exceeds(r, k, value);
    if (vm_sample_kind(r, k) == VM_AT_EVENT && trigger >= 0 && (long long)r->sample_table[VM_SAMPLE_FIELDS * k + 1] == trigger) {
      const double occurrence = r->sample_table[VM_SAMPLE_FIELDS * k + 2];
      due = occurrence == 0 || (r->sample_counts[k] += 1) == occurrence;
    }
    if (!due) continue;
    r->sample_values[k] = value;
    r->sample_places[k] = place;
    if (!r->parameters) continue;
    if (!known) {
      vm_sample_gradient(r, m, time, state);
      if (moves) vm_motion(r, m, time, state, m->event_motion);
      known = 1;
    }
    for (long long c = 0; c < r->parameters; ++c) r->sample_gradient[k * r->parameters + c] = vm_sample_derivative(r, m, k, c, S, moves ? m->event_motion : 0);
  }
}

/* Add the samples to objectives at a state that is stored; it may be an extremum itself. */
static void vm_store_samples(vm_run *r, vm_workspace *m, double time, const double *state, const double *S, double *psi, double *psi_) {
  int known = 0;
  const long long p = r->parameters;
  vm_values_at(VM_SAMPLES, r, m, time, state, m->sampled);
  for (long long k = 0; k < r->samples; ++k) {
    const int here = vm_exceeds(r, k, m->sampled[k]);
    const double value = here ? m->sampled[k] : r->sample_values[k];
    if (here && p && !known) { vm_sample_gradient(r, m, time, state); known = 1; }
    for (long long i = 0; i < r->objectives; ++i) {
      const double factor = r->sample_factors[i * r->samples + k];
      if (factor == 0) continue;
      psi[i] += factor * value;
      for (long long c = 0; c < p; ++c) psi_[i * p + c] += factor * (here ? vm_sample_derivative(r, m, k, c, S, 0) : r->sample_gradient[k * p + c]);
    }
  }
}

/* What the record of a step or an event ends with: the watched function of an event from 2 on, 1 at the start of a run, 0 for a step; its rate;
   whether there was an impact; modes before and after it. */
static double *vm_record_tail(const vm_run *r, const double *record) { return (double *)record + r->record_size - 3 - 2 * r->modes; }

/* Record an event for the reverse sweep: also the state before it, and positions and velocities after the impact. */
static void vm_record_event(vm_run *r, const vm_workspace *m, long long f, double rate, int impacts) {
  double *record = r->records + (r->done - r->first_recorded) * r->record_size, *tail = vm_record_tail(r, record);
  record[0] = record[2] = r->time; record[1] = 0;
  memcpy(record + 3, m->event_before, (size_t)r->states * sizeof(double));
  memcpy(record + 3 + r->states, m->Z, (size_t)(2 * r->coordinates) * sizeof(double));
  tail[0] = (double)(f + 2); tail[1] = rate; tail[2] = impacts;
  memcpy(tail + 3, m->modes_before, (size_t)r->modes * sizeof(double));
  memcpy(tail + 3 + r->modes, vm_modes(r), (size_t)r->modes * sizeof(double));
}

/* What a stated event does: modes that it sets, and whether the run ends. */
static void vm_act(vm_run *r, long long trigger) {
  for (long long k = 0; k < r->actions; ++k)
    if ((long long)r->action_table[3 * k] == trigger) {
      const long long place = (long long)r->action_table[3 * k + 1];
      if (place >= 0) r->values[place] = r->action_table[3 * k + 2];
      else r->stopped = 1;
    }
}

/* Derivatives of the time of an event, in all directions; f is the function that vanishes there, or -1. */
static void vm_shift_event(vm_run *r, vm_workspace *m, long long f, double rate) {
  const long long p = r->parameters, k = 3 * r->units;
  for (long long c = 0; c < p; ++c) {
    double sum = f < 0 ? 0 : m->unit_slopes[k * r->states + f * p + c];
    for (long long j = 0; f >= 0 && j < r->states; ++j) sum += m->unit_slopes[f * r->states + j] * m->X_[j * r->row + c];
    m->shift[c] = f < 0 ? 0 : -sum / rate;
  }
}

/* The end of a run by an event: derivatives of the state at its time, which moves. */
static void vm_end_by_event(vm_run *r, vm_workspace *m) {
  vm_motion(r, m, r->time, m->X, m->event_motion);
  for (long long c = 0; c < r->parameters; ++c) {
    for (long long j = 0; j < r->states; ++j) m->X_[j * r->row + c] += m->event_motion[j] * m->shift[c];
    for (long long i = 0; i < r->objectives; ++i) r->integral_gradient[i * r->parameters + c] += m->G[i] * m->shift[c];
  }
}

/* Count an event and note it. Returns a status. */
static int vm_note_event(vm_run *r, const vm_workspace *m, long long trigger, double before, double after, double impulse, double rate) {
  ++r->done;
  r->sought = VM_NONE;
  if (r->taken) r->taken[r->done] = r->time;
  if (r->triggers) r->triggers[r->done] = (double)(trigger < 0 ? -1 : trigger + 1);
  if (r->notes) {
    double *note = r->notes + 5 * r->done;
    note[0] = before; note[1] = after; note[2] = impulse; note[3] = rate;
    note[4] = trigger < 0 ? 0 : vm_kind(r, trigger) < VM_EVENT ? *vm_mode(r, trigger, 0) : m->units[VM_UNIT_VALUES * trigger + 1] < 0;
  }
  if (r->time > r->event_time + VM_INSTANT * r->duration) r->events_there = 0;
  r->event_time = r->time;
  r->culprit = trigger;
  return ++r->events_there > VM_REVISIONS * (r->units + 1) ? VM_ENDLESS : VM_DONE;
}

/* Side of zero of a stated function after its event: the one that it moves to, which a reset may have turned. */
static double vm_side_after(const vm_run *r, const vm_workspace *m, long long i) {
  const double rate = m->units[VM_UNIT_VALUES * i + 1];
  return isnan(rate) || rate == 0 ? 1 - r->event_sides[i] : rate < 0;
}

/* Pass an event at the beginning of a step: the mode of `trigger` ends (-1 at the start of a run: contacts that touch are settled).
   Returns a status. */
static int vm_event(vm_run *r, vm_workspace *m, long long trigger) {
  const int stated = trigger >= 0 && vm_kind(r, trigger) >= VM_EVENT, which = trigger >= 0 && vm_kind(r, trigger) == VM_FRICTION ? VM_SLIP : VM_GAP_RATE;
  int impacts = 0, fires = trigger >= 0;
  memcpy(m->modes_before, vm_modes(r), (size_t)r->modes * sizeof(double));
  memcpy(m->event_before, m->X, (size_t)r->states * sizeof(double));
  memcpy(m->event_integrands, m->G, (size_t)r->objectives * sizeof(double));
  if (stated) {
    const long long direction = vm_field(r, trigger, VM_DIRECTION);
    fires = vm_kind(r, trigger) == VM_EVENT && direction != VM_NEVER_FIRES && (direction == 0 || (direction < 0) == (r->event_sides[trigger] == 0));
    impacts = fires && vm_field(r, trigger, VM_RESETS);
  } else if (trigger >= 0) {
    impacts = vm_kind(r, trigger) == VM_CONTACT && *vm_mode(r, trigger, VM_CLOSED) == 0;
    fires = impacts || vm_kind(r, trigger) == VM_FRICTION;
  } else
    for (long long i = 0; i < r->units; ++i)
      if (vm_touches(r, m->units, i, -1) && m->units[VM_UNIT_VALUES * i + VM_GAP_RATE] < -vm_slow(r)) impacts = 1;
  const long long f = trigger < 0 || (stated && !fires) ? -1 : vm_function_of(r, m, trigger);
  const double before = trigger >= 0 ? m->units[VM_UNIT_VALUES * trigger + which] : 0;
  double rate = 1;
  if (f >= 0 && (r->parameters || r->records)) {
    vm_unit_gradient(r, m, r->time, m->X);
    rate = vm_watched_rate(r, m, r->time, m->X, f);
  }
  vm_shift_event(r, m, f, rate);
  if (r->samples) vm_take_samples(r, m, r->time, m->X, m->X_, fires ? trigger : -1, f >= 0, 2 * (double)(r->done + 1));
  if (stated && fires) vm_act(r, trigger);
  memcpy(m->Z, m->X, (size_t)r->states * sizeof(double));
  if (r->stopped) {
    if (r->records) vm_record_event(r, m, f, rate, 2);
    vm_end_by_event(r, m);
    return vm_note_event(r, m, trigger, before, before, 0, rate);
  }
  int status = impacts ? vm_impact(r, m, trigger) : VM_DONE;
  const double impulse = impacts && !stated && trigger >= 0 ? m->units_next[VM_UNIT_VALUES * trigger + VM_NORMAL] : 0;
  if (status == VM_DONE) status = vm_settle(r, m, trigger);
  if (status != VM_DONE) return status;
  if (r->records) vm_record_event(r, m, f, rate, impacts);
  memcpy(m->X, m->Y, (size_t)r->states * sizeof(double));
  vm_evaluate_objectives(VM_INTEGRANDS, r, m, &r->time, m->X, m->X_, m->G, m->G_);
  if (r->parameters) {
    status = vm_differentiate_event(r, m, impacts);
    vm_evaluate_objectives(VM_INTEGRANDS, r, m, &r->time, m->X, m->X_, m->G, m->G_);
  }
  if (r->samples) vm_take_samples(r, m, r->time, m->X, m->X_, -1, f >= 0, 2 * (double)(r->done + 1) + 1);
  vm_evaluate_units(r, m, r->time, m->X, m->units);
  vm_scale_contacts(r, m);
  if (stated) r->event_sides[trigger] = vm_side_after(r, m, trigger);
  const int noted = vm_note_event(r, m, trigger, before, trigger >= 0 ? m->units[VM_UNIT_VALUES * trigger + which] : 0, impulse, rate);
  return status == VM_DONE ? noted : status;
}

/* Begin a run: on which side of zero stated functions are, and the first values of extrema. */
static void vm_first_sides(vm_run *r, vm_workspace *m) {
  for (long long i = 0; i < r->units; ++i) {
    const double *u = m->units + VM_UNIT_VALUES * i;
    if (vm_kind(r, i) >= VM_EVENT) r->event_sides[i] = u[0] < 0 || (u[0] == 0 && u[1] < 0);
  }
  for (long long k = 0; k < r->samples; ++k) r->sample_values[k] = NAN, r->sample_places[k] = VM_NOWHERE, r->sample_counts[k] = 0;
  if (r->samples) vm_take_samples(r, m, r->time, m->X, m->X_, -1, 0, VM_AT_START);
}

/* Contacts at the start of a run: those that touch are settled. Returns a status. */
static int vm_first_contacts(vm_run *r, vm_workspace *m) {
  int touch = 0;
  for (long long i = 0; i < r->units; ++i)
    if (vm_kind(r, i) == VM_CONTACT) {
      const double gap = m->units[VM_UNIT_VALUES * i + VM_GAP];
      if (gap < -VM_OVERLAPS * r->contact_length) { r->culprit = i; return VM_OVERLAP; }
      touch |= gap <= vm_touch(r);
    } else if (vm_kind(r, i) == VM_FRICTION) touch |= vm_presses(r, i);
  return touch ? vm_event(r, m, -1) : VM_DONE;
}

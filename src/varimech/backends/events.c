/* Events of contacts and dry friction: when a mode ends, what an impact makes of the velocities, which modes follow, and derivatives across.
   events.py has the equations, the same in Python, and the constants. */

enum { VM_CONTACT, VM_FRICTION };
enum { VM_GAP, VM_GAP_RATE, VM_GAP_ACCELERATION, VM_NORMAL, VM_RESTITUTION };   /* values of a contact */
enum { VM_SLIP, VM_SLIP_RATE, VM_TANGENTIAL, VM_LIMIT, VM_UNIT_VALUES = 5 };    /* values of friction; as many of both */
enum { VM_CLOSED, VM_IMPACTS, VM_BOUNCES };                                     /* modes of a contact */
enum { VM_NONE = -1, VM_SHORTER = -2 };
enum { VM_STICKS, VM_SLIDES, VM_IMPACT_STICKS, VM_IMPACT_SLIDES };              /* modes of friction */

static int vm_kind(const vm_run *r, long long i) { return (int)r->unit_table[3 * i]; }
static long long vm_parent(const vm_run *r, long long i) { return (long long)r->unit_table[3 * i + 1]; }
static double *vm_mode(const vm_run *r, long long i, int which) { return r->values + (long long)r->unit_table[3 * i + 2] + which; }
/* Whether friction has a normal force: its contact is closed, or the force is given. */
static int vm_presses(const vm_run *r, long long i) { return vm_parent(r, i) < 0 || *vm_mode(r, vm_parent(r, i), 0) != 0; }
static double *vm_modes(const vm_run *r) { return r->values + r->numbers - r->modes; }

static void vm_evaluate_units(vm_run *r, vm_workspace *m, double time, const double *state, double *result) {
  m->scratch.arg[0] = state; m->scratch.arg[1] = r->values; m->scratch.arg[2] = &time;
  m->scratch.res[0] = result;
  vm_call(VM_UNITS, r, m);
}

/* What is positive as long as the mode of a unit holds, and its rate; the latter is not a number where it depends on multipliers. */
static double vm_watched(const vm_run *r, const double *values, long long i, double *rate) {
  const double *u = values + VM_UNIT_VALUES * i;
  *rate = NAN;
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
    } else *vm_mode(r, i, VM_IMPACT_STICKS) = *vm_mode(r, i, VM_IMPACT_SLIDES) = 0;
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
  const double ended = trigger >= 0 ? *vm_mode(r, trigger, 0) : 0; /* a contact that was closed, or friction that stuck: that is over */
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

/* The watched function of a unit, one of three: gap or slip; normal force, or limit − T; limit + T. */
static long long vm_function_of(const vm_run *r, const vm_workspace *m, long long i, const double *modes) {
  const double *own = modes + (long long)r->unit_table[3 * i + 2] - (r->numbers - r->modes);
  if (own[0] == 0) return 3 * i;
  return 3 * i + (vm_kind(r, i) == VM_FRICTION && m->units[VM_UNIT_VALUES * i + VM_TANGENTIAL] < 0 ? 2 : 1);
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
  int symbolic = 1;
  for (long long j = 2 * c; j < n; ++j) if (slopes[j] != 0) symbolic = 0;
  for (long long j = 0; j < 2 * c; ++j) rate += slopes[j] * state[c + j];
  if (symbolic) return rate;
  if (!r->seed_rows || !r->parameters) return NAN;
  /* accelerations and multipliers change as the rates do along the motion: one column of derivatives, with time for a parameter */
  const vm_settings s = vm_settings_at(r, &time);
  const double *seeds = r->seeds;
  memset(m->event_seeds, 0, (size_t)(r->seed_rows * r->row) * sizeof(double));
  m->event_seeds[(r->seed_rows - 1) * r->row] = 1;
  memset(m->Y_, 0, (size_t)(2 * c * r->row) * sizeof(double));
  for (long long j = 0; j < 2 * c; ++j) m->Y_[j * r->row] = state[c + j];
  r->seeds = m->event_seeds;
  vm_solve(r->rates ? VM_RATES : VM_STEP, r, m, state, m->Y_, s.list, s.count, m->event_state, m->event_slopes);
  r->seeds = seeds;
  for (long long j = 2 * c; j < n; ++j) rate += slopes[j] * m->event_slopes[j * r->row];
  return rate;
}

/* Derivatives across an event, from X_ (before) by way of the impact to the first stage; see events.py. Returns a status. */
static int vm_differentiate_event(vm_run *r, vm_workspace *m, long long f, double rate, int impacts) {
  const long long n = r->coordinates, p = r->parameters, o = r->objectives, k = 3 * r->units, row = r->row;
  const double *slopes = m->unit_slopes + f * r->states, *x = m->event_before;
  const vm_settings s = vm_settings_at(r, &r->time);
  for (long long c = 0; c < p; ++c) {
    double sum = f < 0 ? 0 : m->unit_slopes[k * r->states + f * p + c];
    for (long long j = 0; f >= 0 && j < r->states; ++j) sum += slopes[j] * m->X_[j * row + c];
    m->shift[c] = f < 0 ? 0 : -sum / rate;
    for (long long j = 0; j < 2 * n; ++j) m->X_[j * row + c] += x[n + j] * m->shift[c];
  }
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

/* Pass an event at the beginning of a step: the mode of `trigger` ends (-1 at the start of a run: contacts that touch are settled).
   Returns a status. */
static int vm_event(vm_run *r, vm_workspace *m, long long trigger) {
  int impacts = 0;
  memcpy(m->modes_before, vm_modes(r), (size_t)r->modes * sizeof(double));
  memcpy(m->event_before, m->X, (size_t)r->states * sizeof(double));
  memcpy(m->event_integrands, m->G, (size_t)r->objectives * sizeof(double));
  if (trigger >= 0) impacts = vm_kind(r, trigger) == VM_CONTACT && *vm_mode(r, trigger, VM_CLOSED) == 0;
  else
    for (long long i = 0; i < r->units; ++i)
      if (vm_touches(r, m->units, i, -1) && m->units[VM_UNIT_VALUES * i + VM_GAP_RATE] < -vm_slow(r)) impacts = 1;
  const long long f = trigger < 0 ? -1 : vm_function_of(r, m, trigger, m->modes_before);
  double rate = 1;
  if (f >= 0 && (r->parameters || r->records)) {
    vm_unit_gradient(r, m, r->time, m->X);
    rate = vm_watched_rate(r, m, r->time, m->X, f);
  }
  memcpy(m->Z, m->X, (size_t)r->states * sizeof(double));
  int status = impacts ? vm_impact(r, m, trigger) : VM_DONE;
  const double impulse = impacts && trigger >= 0 ? m->units_next[VM_UNIT_VALUES * trigger + VM_NORMAL] : 0;
  if (status == VM_DONE) status = vm_settle(r, m, trigger);
  if (status != VM_DONE) return status;
  if (r->records) vm_record_event(r, m, f, rate, impacts);
  memcpy(m->X, m->Y, (size_t)r->states * sizeof(double));
  vm_evaluate_objectives(VM_INTEGRANDS, r, m, &r->time, m->X, m->X_, m->G, m->G_);
  if (r->parameters) {
    status = vm_differentiate_event(r, m, f, rate, impacts);
    vm_evaluate_objectives(VM_INTEGRANDS, r, m, &r->time, m->X, m->X_, m->G, m->G_);
  }
  const int which = trigger >= 0 && vm_kind(r, trigger) == VM_FRICTION ? VM_SLIP : VM_GAP_RATE;
  const double speed = trigger >= 0 ? m->units[VM_UNIT_VALUES * trigger + which] : 0;
  vm_evaluate_units(r, m, r->time, m->X, m->units);
  vm_scale_contacts(r, m);
  ++r->done;
  if (r->taken) r->taken[r->done] = r->time;
  if (r->triggers) r->triggers[r->done] = (double)(trigger < 0 ? -1 : trigger + 1);
  if (r->notes) {
    double *note = r->notes + 5 * r->done;
    note[0] = speed; note[1] = trigger >= 0 ? m->units[VM_UNIT_VALUES * trigger + which] : 0; note[2] = impulse; note[3] = rate;
    note[4] = trigger >= 0 ? *vm_mode(r, trigger, 0) : 0;
  }
  if (r->time > r->event_time + VM_INSTANT * r->duration) r->events_there = 0;
  r->event_time = r->time;
  if (++r->events_there > VM_REVISIONS * (r->units + 1)) { r->culprit = trigger; return VM_ENDLESS; }
  return status;
}

/* Contacts at the start of a run: those that touch are settled. Returns a status. */
static int vm_first_contacts(vm_run *r, vm_workspace *m) {
  int touch = 0;
  for (long long i = 0; i < r->units; ++i)
    if (vm_kind(r, i) == VM_CONTACT) {
      const double gap = m->units[VM_UNIT_VALUES * i + VM_GAP];
      if (gap < -VM_OVERLAPS * r->contact_length) { r->culprit = i; return VM_OVERLAP; }
      touch |= gap <= vm_touch(r);
    } else touch |= vm_presses(r, i);
  return touch ? vm_event(r, m, -1) : VM_DONE;
}

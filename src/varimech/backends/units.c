/* Units: contacts, frictions and stated events. Their values, and when the mode of one ends within a step. events.py has the equations and the
   constants; units.py implements the same. */

enum { VM_CONTACT, VM_FRICTION, VM_EVENT, VM_EXTREMUM };                        /* kinds of units: the last two have no mode but a side of zero */
enum { VM_KIND, VM_PARENT, VM_FIRST_MODE, VM_DIRECTION, VM_RESETS, VM_UNIT_FIELDS };
enum { VM_GAP, VM_GAP_RATE, VM_GAP_ACCELERATION, VM_NORMAL, VM_RESTITUTION };   /* values of a contact */
enum { VM_SLIP, VM_SLIP_RATE, VM_TANGENTIAL, VM_LIMIT };                         /* values of friction: magnitudes, if the slip has several components */
enum { VM_SLIPS = 4, VM_SLIP_RATES = 7, VM_TANGENTIALS = 10, VM_COMPONENTS = 3, VM_TRIED = 7 }; /* places of the components then */
enum { VM_CLOSED, VM_IMPACTS, VM_BOUNCES };                                     /* modes of a contact */
enum { VM_OF_VELOCITIES = 1, VM_OF_STATES, VM_AT_START_TOO };                   /* kinds of resets; the last one: of states, also at the start of a run */
enum { VM_NEVER_FIRES = 2 };                                                    /* direction of an event that only ends steps */
enum { VM_NONE = -1, VM_SHORTER = -2 };
enum { VM_STICKS, VM_SLIDES };                                                   /* modes of friction; those in an impact, and further ones, follow */

static long long vm_field(const vm_run *r, long long i, int which) { return (long long)r->unit_table[VM_UNIT_FIELDS * i + which]; }
static int vm_kind(const vm_run *r, long long i) { return (int)vm_field(r, i, VM_KIND); }
static long long vm_parent(const vm_run *r, long long i) { return vm_field(r, i, VM_PARENT); }
static double *vm_mode(const vm_run *r, long long i, int which) { return r->values + vm_field(r, i, VM_FIRST_MODE) + which; }
static double *vm_modes(const vm_run *r) { return r->values + r->numbers - r->modes; }

/* Components of the slip of friction i; whether it has several; places of its modes in an impact, of ε, and of the ratio c (`contact_law`). */
static int vm_components(const vm_run *r, long long i) { return (int)vm_field(r, i, VM_DIRECTION); }
static int vm_several(const vm_run *r, long long i) { return vm_kind(r, i) == VM_FRICTION && vm_components(r, i) > 1; }
static int vm_impact_sticks(const vm_run *r, long long i) { return vm_components(r, i) + 1; }
static double *vm_slow_mode(const vm_run *r, long long i) { return vm_mode(r, i, 2 * vm_components(r, i) + 2); }
static double *vm_ratio_mode(const vm_run *r, long long i) { return vm_mode(r, i, 2 * vm_components(r, i) + 3); }

static double vm_dot(const double *a, const double *b, int n) {
  double sum = 0;
  for (int k = 0; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

/* Evaluate a function of state, parameters and time. */
static void vm_values_at(int function, vm_run *r, vm_workspace *m, double time, const double *state, double *result) {
  m->scratch.arg[0] = state; m->scratch.arg[1] = r->values; m->scratch.arg[2] = &time;
  m->scratch.res[0] = result;
  vm_call(function, r, m);
}

/* Rate of sampled function k along the motion, by a central difference: it may depend on accelerations and multipliers. */
static double vm_sample_rate(vm_run *r, vm_workspace *m, double time, const double *state, long long k) {
  const long long n = r->coordinates;
  const double short_time = VM_NUDGE * r->duration;
  double values[2], residuals[3];
  memcpy(residuals, m->residuals, sizeof residuals); /* those of the step */
  for (int side = 0; side < 2; ++side) {
    const double dt = side ? short_time : -short_time, then = time + dt;
    const vm_settings s = vm_settings_at(r, &then);
    for (long long j = 0; j < n; ++j) {
      m->event_state[j] = state[j] + dt * (state[n + j] + dt / 2 * state[2 * n + j]);
      m->event_state[n + j] = state[n + j] + dt * state[2 * n + j];
    }
    const int solved = vm_solve(r->rates ? VM_RATES : VM_STEP, r, m, m->event_state, m->event_slopes, s.list, s.count, m->event_motion, m->event_slopes);
    memcpy(m->residuals, residuals, sizeof residuals);
    if (!solved) return NAN;
    vm_values_at(VM_SAMPLES, r, m, then, m->event_motion, m->sampled);
    values[side] = m->sampled[k];
  }
  const double change = values[1] - values[0];
  return fabs(change) <= VM_CHANGED * (fabs(values[0]) + fabs(values[1])) ? 0 : change / (2 * short_time); /* rounding is no change */
}

/* Evaluate all units at a state. */
static void vm_evaluate_units(vm_run *r, vm_workspace *m, double time, const double *state, double *result) {
  vm_values_at(VM_UNITS, r, m, time, state, result);
  for (long long i = 0; i < r->units; ++i)
    if (vm_kind(r, i) == VM_EXTREMUM) result[VM_UNIT_VALUES * i] = vm_sample_rate(r, m, time, state, vm_parent(r, i)), result[VM_UNIT_VALUES * i + 1] = NAN;
}

/* Speed at which sliding with several components begins or ends. */
static double vm_ending_speed(const vm_run *r) {
  const double share = VM_ONSET * r->rest_tolerance;
  return (share > VM_ENDING ? share : VM_ENDING) * r->contact_speed;
}

/* Whether the slip of friction i is more than rounding. */
static int vm_moves(const vm_run *r, const double *values, long long i) { return fabs(values[VM_UNIT_VALUES * i + VM_SLIP]) > VM_SLOW * r->contact_speed; }

/* Whether a slip of several components ends; and whether the only effect of an event is that its direction is renewed. */
static int vm_slides_freely(const vm_run *r, long long i) { return i >= 0 && vm_several(r, i) && *vm_mode(r, i, VM_STICKS) == 0; }
static int vm_halts(const vm_run *r, const vm_workspace *m, long long i) {
  if (!vm_slides_freely(r, i)) return 0;
  const double *u = m->units + VM_UNIT_VALUES * i, held = *vm_slow_mode(r, i);
  return 2 * vm_dot(vm_mode(r, i, VM_SLIDES), u + VM_SLIPS, vm_components(r, i)) < VM_BEGUN * held && u[VM_SLIP] <= VM_NEARLY * held;
}
static int vm_turns(const vm_run *r, const vm_workspace *m, long long i) { return vm_slides_freely(r, i) && !vm_halts(r, m, i); }

/* A value that is positive as long as friction slides near the direction of its mode, and its rate, from the values u. */
static double vm_watched_slip(const vm_run *r, const double *u, long long i, double *rate) {
  const int d = vm_components(r, i);
  const double *direction = vm_mode(r, i, VM_SLIDES), *s = u + VM_SLIPS, *rates = u + VM_SLIP_RATES;
  if (vm_dot(direction, direction, d) == 0) return VM_NEVER; /* its contact is open */
  if (d == 1) {
    *rate = *direction * u[VM_SLIP_RATE];
    return *direction * u[VM_SLIP];
  }
  const double along = vm_dot(direction, s, d), held = *vm_slow_mode(r, i), ahead = VM_BEGUN * held - along;
  *rate = vm_dot(direction, rates, d);
  if (held > 0) {
    if (along > ahead) *rate = -*rate;
    return along <= ahead ? along : ahead;
  }
  const double size = sqrt(vm_dot(s, s, d)), share = along >= 0 ? VM_TURNED : -VM_TURNED;
  *rate -= share * (size > 0 ? vm_dot(s, rates, d) / size : 0);
  return along - share * size - (1 - VM_TURNED) * VM_ENTERED * vm_ending_speed(r);
}

/* The watched value of a unit, positive as long as its mode holds, and its rate, NaN if that depends on multipliers. */
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
  if (*vm_mode(r, i, VM_STICKS) != 0) return u[VM_LIMIT] - fabs(u[VM_TANGENTIAL]);
  return vm_watched_slip(r, u, i, rate);
}

/* Distance below which surfaces touch, speed below which they do not part, and speed below which an impact has no restitution. */
static double vm_touch(const vm_run *r) { return VM_TOUCH * r->contact_length; }
static double vm_slow(const vm_run *r) { return VM_SLOW * r->contact_speed; }
static double vm_rest_speed(const vm_run *r) { return r->rest_tolerance * r->contact_speed; }

/* Whether an impact has restitution: it is fast enough, and the flight after it is higher than rounding. */
static int vm_bounces(const vm_run *r, const double *contact) {
  const double after = contact[VM_RESTITUTION] * contact[VM_GAP_RATE];
  return contact[VM_GAP_RATE] < -vm_rest_speed(r) && after * after > -2 * VM_LOWEST * r->contact_length * contact[VM_GAP_ACCELERATION];
}

/* Magnitude of a watched value below zero that counts as rounding. */
static double vm_blur(const vm_run *r, const double *values, long long i) {
  if (vm_kind(r, i) >= VM_EVENT) return VM_BLURRED * r->event_sides[r->units + i];
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
  vm_raise(&r->contact_speed, VM_SLOWEST);
  vm_raise(&r->contact_force, vm_largest_normal(r, m->units));
  for (long long i = 0; i < r->units; ++i) vm_raise(r->event_sides + r->units + i, fabs(m->units[VM_UNIT_VALUES * i]));
}

/* Share of an interval at which a value vanishes that is positive at its beginning and negative at its end; by a cubic if rates are known. */
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

/* Interpolate at share x of an interval, from values g, changes d and second differences c (rates times length, and squared) at both ends: by a
   polynomial of degree five, or of degree three if the second differences are not known. */
static double vm_interpolated(double x, double g0, double d0, double c0, double g1, double d1, double c1) {
  const double y = 1 - x;
  if (isnan(c0) || isnan(c1)) return y * y * (g0 * (1 + 2 * x) + d0 * x) + x * x * (g1 * (1 + 2 * y) - d1 * y);
  return y * y * y * (g0 * (1 + 3 * x + 6 * x * x) + d0 * x * (1 + 3 * x) + c0 * x * x / 2) +
         x * x * x * (g1 * (1 + 3 * y + 6 * y * y) - d1 * y * (1 + 3 * y) + c1 * y * y / 2);
}

static double vm_smaller(double a, double b) { return a < b ? a : b; }

/* Least of Bernstein's coefficients of vm_interpolated, a lower bound of its values. */
static double vm_lower_bound(double g0, double d0, double c0, double g1, double d1, double c1) {
  const double least = vm_smaller(g0, g1);
  if (isnan(c0) || isnan(c1)) return vm_smaller(least, vm_smaller(g0 + d0 / 3, g1 - d1 / 3));
  return vm_smaller(vm_smaller(vm_smaller(least, g0 + d0 / 5), g1 - d1 / 5), vm_smaller(g0 + 0.4 * d0 + c0 / 20, g1 - 0.4 * d1 + c1 / 20));
}

/* Share of a step at which a value that is positive at both ends may be negative: where it is lowest; 0 if it stays positive. */
static double vm_dip(double g0, double d0, double c0, double g1, double d1, double c1) {
  if (isnan(d0) || isnan(d1) || (d0 >= 0 && d1 <= 0 && !(c0 + c1 > 0))) return 0;
  const double least = g0 < g1 ? g0 : g1;
  if (vm_lower_bound(g0, d0, c0, g1, d1, c1) >= VM_DIP * least) return 0; /* as in most steps, it is not low anywhere */
  double lowest = least, share = g0 < g1 ? 0 : 1;
  for (int k = 1; k < VM_PROBED; ++k) {
    const double x = (double)k / VM_PROBED, value = vm_interpolated(x, g0, d0, c0, g1, d1, c1);
    if (value < lowest) { lowest = value; share = x; }
  }
  double low = share - 1.0 / VM_PROBED, high = share + 1.0 / VM_PROBED;
  if (low < 0) low = 0;
  if (high > 1) high = 1;
  for (int k = 0; k < VM_THIRDS; ++k) {
    const double a = low + (high - low) / 3, b = high - (high - low) / 3;
    if (vm_interpolated(a, g0, d0, c0, g1, d1, c1) < vm_interpolated(b, g0, d0, c0, g1, d1, c1)) high = b; else low = a;
  }
  share = (low + high) / 2;
  lowest = vm_interpolated(share, g0, d0, c0, g1, d1, c1);
  return share > VM_EDGE && share < 1 - VM_EDGE && lowest < VM_DIP * least ? share : 0;
}

/* Whether a stated event resets something at the start of a run. */
static int vm_resets_at_start(const vm_run *r, const vm_workspace *m, long long i) {
  return vm_kind(r, i) == VM_EVENT && vm_field(r, i, VM_RESETS) == VM_AT_START_TOO && m->units[VM_UNIT_VALUES * i] <= 0;
}

/* Second rate of a watched value, which is known for gaps only. */
static double vm_second_rate(const vm_run *r, const double *values, long long i) {
  return vm_kind(r, i) == VM_CONTACT && *vm_mode(r, i, VM_CLOSED) == 0 ? values[VM_UNIT_VALUES * i + VM_GAP_ACCELERATION] : NAN;
}

/* Note the result of an attempt to end a step at the event that is sought; *length is that of the next attempt, or 0 if this one suffices. */
static void vm_narrow(vm_run *r, double h, double g, double rate, double rounding, double *length) {
  const double instant = VM_INSTANT * r->duration;
  *length = 0;
  if (fabs(g) <= fabs(rate) * instant || fabs(g) <= rounding) return;
  if (g > 0) {
    if (isnan(rate) && r->sought_short > 0) r->value_long *= 0.5; /* otherwise one end of the interval would not move */
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

/* The unit whose mode ends first within the attempted step of length h, VM_NONE, or VM_SHORTER if two events may be hidden in the step; *length is
   then that of the next attempt, or 0 if the step ends at the event. */
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
    } else if (i != r->sought && (g > vm_blur(r, m->units, i) || g_next > vm_blur(r, m->units_next, i))) {
      const double c = h * h * vm_second_rate(r, m->units, i), c_next = h * h * vm_second_rate(r, m->units_next, i);
      const double share = vm_dip(g > 0 ? g : 0, h * rate, c, g_next, h * rate_next, c_next);
      if (share > 0 && share * h < *length) *length = share * h;
    }
  }
  if (first < 0 && r->sought >= 0 && r->sought_long >= h) first = r->sought; /* the attempt was too short, or ended at the event */
  if (first < 0) return *length < h ? VM_SHORTER : VM_NONE;
  if (first != r->sought) {
    r->sought = first; r->attempts = 0;
    const double g = vm_watched(r, m->units, first, &rate);
    r->sought_short = 0; r->value_short = g > 0 ? g : 0; r->rate_short = rate;
    r->sought_long = VM_NEVER;
  }
  const double g_next = vm_watched(r, m->units_next, first, &rate_next);
  const double rounding = isnan(rate_next) ? 0 : VM_ROUNDED * vm_blur(r, m->units_next, first);
  vm_narrow(r, h, g_next, rate_next, rounding, length);
  return first;
}


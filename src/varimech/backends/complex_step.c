/* Complex-step runs: a parameter gets a tiny imaginary perturbation, and the imaginary parts of the results, divided by it, are derivatives.

   Functions are lists of scalar instructions, read from CasADi's; this source is the same for every program. Where a function is not analytic
   (absolute values, comparisons, …), the real parts select a branch, which is continued analytically. complex_step.py calls it. */

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#define VM_EXPORT __declspec(dllexport)
#else
#define VM_EXPORT __attribute__((visibility("default")))
#endif

typedef struct { double re, im; } vm_z;

typedef struct { int operation, to, a, b; } vm_instruction; /* as in bytecode.c */
typedef struct { const vm_instruction *code; long long count; } vm_code;
typedef struct { vm_code predict, iterate, finish; } vm_chain;                   /* count = 0 if absent */

typedef struct {
  vm_chain step, start, rates, passage;
  vm_code integrands, finals;
  long long coordinates, states, unknowns, multipliers, objectives, parameters, penalties, places; /* sizes; places: size of the work vector */
  long long passage_size, passage_modes, mode_place; /* as in chain.c */
  long long stages;                           /* of an explicit scheme; 0 for implicit steps */
  const double *a, *b, *c;                    /* its coefficients */
  double short_step;                          /* as in chain.c */
  const double *passages, *passage_rows;      /* as in chain.c */
  const double *ends, *lengths;               /* of all steps: their ends, from 0 on; their lengths */
  long long steps, done, last;                /* in total, completed, and to complete in this call */
  long long max_iterations, extra_iterations;
  const double *guess, *penalty;
  vm_z *values;                               /* of all parameters; modes change */
  vm_z *state, *integral, *outcome;           /* in and out; outcome: objectives at the end */
} vm_complex_run;

enum { VM_DONE, VM_NO_MEMORY, VM_NO_CONVERGENCE };

static double vm_constant(const vm_instruction *i) {
  double x;
  memcpy(&x, &i->a, sizeof x);
  return x;
}

static vm_z vm_real(double x) { return (vm_z){x, 0}; }
static vm_z vm_add(vm_z a, vm_z b) { return (vm_z){a.re + b.re, a.im + b.im}; }
static vm_z vm_sub(vm_z a, vm_z b) { return (vm_z){a.re - b.re, a.im - b.im}; }
static vm_z vm_times(double w, vm_z a) { return (vm_z){w * a.re, w * a.im}; }
static vm_z vm_mul(vm_z a, vm_z b) { return (vm_z){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

static vm_z vm_div(vm_z a, vm_z b) { /* assumes that imaginary parts are smaller than real parts */
  const double ratio = b.im / b.re, by = b.re + b.im * ratio;
  return (vm_z){(a.re + a.im * ratio) / by, (a.im - a.re * ratio) / by};
}

static double complex vm_c(vm_z a) {
  double complex c;
  memcpy(&c, &a, sizeof c); /* a sum with I would turn infinity into NaN */
  return c;
}
static vm_z vm_of(double complex c) { return (vm_z){creal(c), cimag(c)}; }

static double vm_signum(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
static vm_z vm_abs(vm_z a) { return vm_times(vm_signum(a.re), a); }

static vm_z vm_whole_power(vm_z a, long long n) {
  vm_z result = vm_real(1);
  for (unsigned long long left = (unsigned long long)(n < 0 ? -n : n); left; left >>= 1, a = vm_mul(a, a))
    if (left & 1) result = vm_mul(result, a);
  return n < 0 ? vm_div(vm_real(1), result) : result;
}

static vm_z vm_power(vm_z a, vm_z b) {
  if (b.im == 0 && b.re == floor(b.re) && fabs(b.re) <= 64) return vm_whole_power(a, (long long)b.re);
  if (a.re == 0 && a.im == 0) return vm_real(pow(0, b.re));
  if (b.im == 0 && b.re == 0.5) return vm_of(csqrt(vm_c(a)));
  /* a^b = |a|^Re b times the remainder of exp(b log a), which is close to 1 */
  const double length = hypot(a.re, a.im), turn = a.re < 0 ? NAN : atan2(a.im, a.re), log_length = log(length);
  const vm_z rest = {-b.im * turn, b.re * turn + b.im * log_length};
  return vm_times(pow(length, b.re), vm_of(cexp(vm_c(rest))));
}

static vm_z vm_atan2(vm_z y, vm_z x) { /* rotated by the angle of the real parts, the remainder is close to 0 */
  const double angle = atan2(y.re, x.re), c = cos(angle), s = sin(angle);
  const vm_z along = vm_add(vm_times(c, x), vm_times(s, y)), across = vm_sub(vm_times(c, y), vm_times(s, x));
  return vm_add(vm_real(angle), vm_of(catan(vm_c(vm_div(across, along)))));
}

static vm_z vm_expm1(vm_z a) {
  const double half = sin(a.im / 2);
  return (vm_z){expm1(a.re) * cos(a.im) - 2 * half * half, exp(a.re) * sin(a.im)};
}

static vm_z vm_apply(long long operation, vm_z a, vm_z b) {
  switch (operation) {
    case VM_OP_ASSIGN: case VM_OP_LIFT: return a;
    case VM_OP_ADD: return vm_add(a, b);
    case VM_OP_SUB: return vm_sub(a, b);
    case VM_OP_MUL: return vm_mul(a, b);
    case VM_OP_DIV: return vm_div(a, b);
    case VM_OP_NEG: return vm_times(-1, a);
    case VM_OP_EXP: return vm_of(cexp(vm_c(a)));
    case VM_OP_LOG: return a.re < 0 ? vm_real(NAN) : vm_of(clog(vm_c(a)));
    case VM_OP_POW: case VM_OP_CONSTPOW: return vm_power(a, b);
    case VM_OP_SQRT: return a.re < 0 ? vm_real(NAN) : vm_of(csqrt(vm_c(a)));
    case VM_OP_SQ: return vm_mul(a, a);
    case VM_OP_TWICE: return vm_times(2, a);
    case VM_OP_SIN: return vm_of(csin(vm_c(a)));
    case VM_OP_COS: return vm_of(ccos(vm_c(a)));
    case VM_OP_TAN: return vm_of(ctan(vm_c(a)));
    case VM_OP_ASIN: return fabs(a.re) > 1 ? vm_real(NAN) : vm_of(casin(vm_c(a)));
    case VM_OP_ACOS: return fabs(a.re) > 1 ? vm_real(NAN) : vm_of(cacos(vm_c(a)));
    case VM_OP_ATAN: return vm_of(catan(vm_c(a)));
    case VM_OP_LT: return vm_real(a.re < b.re);
    case VM_OP_LE: return vm_real(a.re <= b.re);
    case VM_OP_EQ: return vm_real(a.re == b.re);
    case VM_OP_NE: return vm_real(a.re != b.re);
    case VM_OP_NOT: return vm_real(a.re == 0);
    case VM_OP_AND: return vm_real(a.re != 0 && b.re != 0);
    case VM_OP_OR: return vm_real(a.re != 0 || b.re != 0);
    case VM_OP_FLOOR: return vm_real(floor(a.re));
    case VM_OP_CEIL: return vm_real(ceil(a.re));
    case VM_OP_FMOD: return vm_sub(a, vm_times(trunc(a.re / b.re), b));
    case VM_OP_FABS: return vm_abs(a);
    case VM_OP_SIGN: return vm_real(vm_signum(a.re));
    case VM_OP_COPYSIGN: return vm_times(copysign(1, b.re), vm_abs(a));
    case VM_OP_IF_ELSE_ZERO: return a.re != 0 ? b : vm_real(0);
    case VM_OP_FMIN: return a.re <= b.re || isnan(b.re) ? a : b;
    case VM_OP_FMAX: return a.re >= b.re || isnan(b.re) ? a : b;
    case VM_OP_INV: return vm_div(vm_real(1), a);
    case VM_OP_SINH: return vm_of(csinh(vm_c(a)));
    case VM_OP_COSH: return vm_of(ccosh(vm_c(a)));
    case VM_OP_TANH: return vm_of(ctanh(vm_c(a)));
    case VM_OP_ASINH: return vm_of(casinh(vm_c(a)));
    case VM_OP_ACOSH: return a.re < 1 ? vm_real(NAN) : vm_of(cacosh(vm_c(a)));
    case VM_OP_ATANH: return fabs(a.re) > 1 ? vm_real(NAN) : vm_of(catanh(vm_c(a)));
    case VM_OP_ATAN2: return vm_atan2(a, b);
    case VM_OP_LOG1P: return a.re < -1 ? vm_real(NAN) : (vm_z){log1p(a.re), atan2(a.im, 1 + a.re)};
    case VM_OP_EXPM1: return vm_expm1(a);
    case VM_OP_HYPOT: return vm_of(csqrt(vm_c(vm_add(vm_mul(a, a), vm_mul(b, b)))));
    case VM_OP_REMAINDER: return vm_sub(a, vm_times(nearbyint(a.re / b.re), b));
    default: return vm_real(NAN);
  }
}

static void vm_evaluate(const vm_code *f, const vm_z *const *arg, vm_z *const *res, vm_z *w) {
  const vm_instruction *i = f->code, *end = f->code + f->count;
  for (; i < end; ++i) switch (i->operation) {
    case VM_OP_CONST: w[i->to] = vm_real(vm_constant(i)); break;
    case VM_OP_INPUT: w[i->to] = arg[i->a][i->b]; break;
    case VM_OP_OUTPUT: res[i->to][i->b] = w[i->a]; break;
    case VM_OP_ADD: w[i->to] = vm_add(w[i->a], w[i->b]); break;
    case VM_OP_SUB: w[i->to] = vm_sub(w[i->a], w[i->b]); break;
    case VM_OP_MUL: w[i->to] = vm_mul(w[i->a], w[i->b]); break;
    default: w[i->to] = vm_apply(i->operation, w[i->a], w[i->b]);
  }
}

typedef struct { vm_z *w, *x, *y, *x_next, *y_next, *penalty, *guess, *X, *G, *Y, *value, *passed, *row; vm_z ratio, residuals[3]; } vm_workspace;

/* Execute a chain; see chain.c. Imaginary parts converge later than real ones, so some more iterations follow. */
static int vm_solve(const vm_chain *chain, const vm_complex_run *r, vm_workspace *m, const vm_z *state, const vm_z *const *settings, int count, vm_z *result) {
  const vm_z *arg[8] = {state};
  const size_t bytes = (size_t)count * sizeof(vm_z *);
  if (chain->iterate.count) {
    memcpy(arg + 1, settings, bytes);
    vm_evaluate(&chain->predict, arg, (vm_z *[]){m->x, m->y}, m->w);
    double last = 0;
    long long more = -1; /* remaining iterations after convergence */
    for (long long k = 1; more != 0; ++k) {
      arg[1] = m->x; arg[2] = m->y; memcpy(arg + 3, settings, bytes);
      vm_evaluate(&chain->iterate, arg, (vm_z *[]){m->x_next, m->y_next, &m->ratio}, m->w);
      { vm_z *swap = m->x; m->x = m->x_next; m->x_next = swap; }
      { vm_z *swap = m->y; m->y = m->y_next; m->y_next = swap; }
      const double ratio = m->ratio.re;
      if (more > 0) { --more; continue; }
      if (vm_converged(ratio, last, k, r->max_iterations)) more = r->extra_iterations;
      else if (!(ratio <= VM_LARGEST) || k == r->max_iterations) return 0;
      last = ratio;
    }
    arg[1] = m->x; arg[2] = m->y; memcpy(arg + 3, settings, bytes);
  } else memcpy(arg + 1, settings, bytes);
  vm_evaluate(&chain->finish, arg, (vm_z *[]){result, m->residuals}, m->w);
  return 1;
}

static void vm_evaluate_objectives(const vm_code *f, const vm_complex_run *r, vm_workspace *m, const vm_z *state, vm_z time, vm_z *value) {
  vm_evaluate(f, (const vm_z *[]){state, r->values, &time}, (vm_z *[]){value}, m->w);
}

/* Evaluate a chain at a combination of `count` stages, and the integrands there, as stage i. */
static int vm_stage(const vm_chain *chain, const vm_complex_run *r, vm_workspace *m, double time, double h, const double *weights, long long count, long long i) {
  const long long q = r->coordinates, n = r->states;
  const vm_z t = vm_real(time), *const settings[] = {m->penalty, r->values, &t};
  for (long long k = 0; k < 2 * q; ++k) {
    vm_z sum = vm_real(0);
    for (long long j = 0; j < count; ++j) if (weights[j] != 0) sum = vm_add(sum, vm_times(weights[j], m->X[j * n + q + k]));
    m->Y[k] = vm_add(m->X[k], vm_times(h, sum));
  }
  if (!vm_solve(chain, r, m, m->Y, settings, 3, m->X + i * n)) return 0;
  vm_evaluate_objectives(&r->integrands, r, m, m->X + i * n, t, m->G + i * r->objectives);
  return 1;
}

/* Pass an event by the event map of the state; passage.c does the same. */
static int vm_pass_event(vm_complex_run *r, vm_workspace *m, const double *row) {
  const long long n = r->states, o = r->objectives;
  const vm_z begin = vm_real(r->ends[r->done]), end = vm_real(r->ends[r->done + 1]), *const settings[] = {m->penalty, m->row, r->values, &begin};
  for (long long k = 0; k < r->passage_size; ++k) m->row[k] = vm_real(row[k]);
  if (!vm_solve(&r->passage, r, m, m->X, settings, 4, m->passed)) return 0;
  memcpy(m->X, m->passed, (size_t)n * sizeof(vm_z));
  for (long long k = 0; k < o; ++k) r->integral[k] = vm_add(r->integral[k], m->passed[n + k]);
  memcpy(r->values + r->mode_place, m->row + r->passage_modes, (size_t)r->passage_modes * sizeof(vm_z));
  vm_evaluate_objectives(&r->integrands, r, m, m->X, end, m->G);
  ++r->done;
  return 1;
}

/* Take a step from the first stage; its end becomes the first stage. */
static int vm_step(vm_complex_run *r, vm_workspace *m) {
  const long long n = r->states, o = r->objectives, s = r->stages, last = s ? s : 1;
  const double begin = r->ends[r->done], end = r->ends[r->done + 1], h = r->lengths[r->done];
  const vm_chain *rates = r->rates.finish.count ? &r->rates : &r->step;
  if (s) {
    for (long long i = 1; i < s; ++i) if (!vm_stage(rates, r, m, fmin(begin + r->c[i] * h, end), h, r->a + i * s, i, i)) return 0;
    if (!vm_stage(&r->step, r, m, end, h, r->b, s, s)) return 0;
  } else if (r->rates.finish.count && h <= r->short_step) { /* as in chain.c */
    const vm_z time = vm_real(end), *const settings[] = {m->penalty, r->values, &time};
    const long long q = r->coordinates;
    for (long long k = 0; k < q; ++k) {
      m->Y[k] = vm_add(m->X[k], vm_times(h, vm_add(m->X[q + k], vm_times(h / 2, m->X[2 * q + k]))));
      m->Y[q + k] = vm_add(m->X[q + k], vm_times(h, m->X[2 * q + k]));
    }
    if (!vm_solve(&r->rates, r, m, m->Y, settings, 3, m->X + n)) return 0;
    vm_evaluate_objectives(&r->integrands, r, m, m->X + n, time, m->G + o);
  } else {
    const vm_z length = vm_real(h), time = vm_real(end), *const settings[] = {&length, m->penalty, r->values, &time};
    if (!vm_solve(&r->step, r, m, m->X, settings, 4, m->X + n)) return 0;
    vm_evaluate_objectives(&r->integrands, r, m, m->X + n, time, m->G + o);
  }
  for (long long k = 0; k < o; ++k) {
    vm_z sum = vm_real(0);
    for (long long j = 0; j < (s ? s : 2); ++j) sum = vm_add(sum, vm_times(s ? r->b[j] : 0.5, m->G[j * o + k]));
    r->integral[k] = vm_add(r->integral[k], vm_times(h, sum));
  }
  memcpy(m->X, m->X + last * n, (size_t)n * sizeof(vm_z));
  memcpy(m->G, m->G + last * o, (size_t)o * sizeof(vm_z));
  ++r->done;
  return 1;
}

static int vm_go(vm_complex_run *r, vm_workspace *m) {
  const vm_z time = vm_real(r->ends[r->done]), *const settings[] = {m->penalty, r->values, &time};
  for (long long k = 0; k < r->penalties; ++k) m->penalty[k] = vm_real(r->penalty[k]);
  for (long long k = 0; k < r->coordinates; ++k) m->guess[k] = vm_real(r->guess[k]);
  if (r->done) memcpy(m->X, r->state, (size_t)r->states * sizeof(vm_z));
  else if (!vm_solve(&r->start, r, m, m->guess, settings, 3, m->X)) return 0;
  vm_evaluate_objectives(&r->integrands, r, m, m->X, time, m->G);
  while (r->done < r->steps && r->done < r->last) {
    const long long passage = r->passages ? (long long)r->passages[r->done + 1] : 0;
    if (!(passage ? vm_pass_event(r, m, r->passage_rows + (passage - 1) * r->passage_size) : vm_step(r, m))) return 0;
  }
  memcpy(r->state, m->X, (size_t)r->states * sizeof(vm_z));
  vm_evaluate_objectives(&r->finals, r, m, m->X, vm_real(r->ends[r->done]), m->value);
  for (long long k = 0; k < r->objectives; ++k) r->outcome[k] = vm_add(r->integral[k], m->value[k]);
  return 1;
}

VM_EXPORT int vm_run_complex(vm_complex_run *r) {
  const long long n = r->states, o = r->objectives, stages = r->stages ? r->stages + 1 : 2, u = r->unknowns, l = r->multipliers;
  vm_z *p = calloc((size_t)(r->places + 2 * (u + l) + r->penalties + 3 * r->coordinates + stages * (n + o) + o + n + o + r->passage_size + 1), sizeof(vm_z)), *memory = p;
  if (!memory) return VM_NO_MEMORY;
  vm_workspace storage = {.w = p}, *m = &storage; p += r->places;
  m->x = p; p += u; m->x_next = p; p += u; m->y = p; p += l; m->y_next = p; p += l;
  m->penalty = p; p += r->penalties; m->guess = p; p += r->coordinates; m->Y = p; p += 2 * r->coordinates;
  m->X = p; p += stages * n; m->G = p; p += stages * o; m->value = p; p += o; m->passed = p; p += n + o; m->row = p;
  const int good = vm_go(r, m);
  free(memory);
  return good ? VM_DONE : VM_NO_CONVERGENCE;
}

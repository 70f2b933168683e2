/* Plans: functions of large models as a list of operations on vectors (see stages/plan.py). This source is the same for every model.

   A plan is data except for its kernels, so one library serves models of any size with the same kinds of elements. */

#ifndef __CUDACC_RTC__ /* provides these functions itself */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#endif

#ifdef VM_PLANS /* a GPU with plans: its compiler would copy and clear byte by byte data of unknown alignment */
static inline void vm_copy_numbers(void *to, const void *from, size_t bytes) {
  for (size_t i = 0; i < bytes / sizeof(double); ++i) ((double *)to)[i] = ((const double *)from)[i];
}
static inline void vm_clear_numbers(void *to, int zero, size_t bytes) {
  for (size_t i = 0; i < bytes / sizeof(double); ++i) ((double *)to)[i] = zero;
}
#define memcpy vm_copy_numbers
#define memset vm_clear_numbers
#endif

typedef struct vm_kernel vm_kernel;
typedef struct vm_bytecode vm_bytecode;

typedef struct {
  const long long *code;      /* operations; each begins with its number and its length */
  const int *const *tables;   /* indices */
  const double *constants;
  long long arguments, results; /* arguments = -1 for a function without results, which does nothing */
  const vm_bytecode *bytecode;        /* of a function that is not a plan, if it is interpreted; else NULL */
  const vm_kernel *kernels;   /* of all plans, if they are interpreted */
} vm_plan;

/* working storage of generated functions and plans */
typedef struct {
  const double **arg;
  double **res;
  long long *iw;
  double *rw;
  double **bases;
} vm_scratch;

enum { VM_END, VM_ZERO, VM_MAP, VM_FACTOR, VM_SOLVE };

typedef struct { long long base, offset, table; } vm_port;

/* a kernel over `count` elements, and `width` columns for a kernel of one column: see `Kernels` in plan_tables.py */
typedef void (*vm_map)(long long count, long long width, const vm_port *ports, double *const *bases, const int *const *tables, double *w);
#ifdef VM_PLANS /* a GPU would have to reserve memory for functions that are called by address */
static void vm_call_map(long long map, long long count, long long width, const vm_port *ports, double *const *bases, const int *const *tables, double *w);
#endif
static inline void vm_largest(double *largest, double x) { /* NaN persists */
  if (!(fabs(x) <= *largest) && *largest == *largest) *largest = fabs(x);
}

#ifdef VM_MACHINE /* kernels are bytecode: see bytecode.c */
enum { VM_SET, VM_GAIN, VM_LARGEST_OF }; /* modes: see stages/plan.py */

typedef struct { int rows, same, direct, adjacent, mode; } vm_shape; /* of a port; direct: used in place, without a table */

struct vm_kernel {
  vm_bytecode bytecode;
  long long inputs, outputs, shared, places; /* shared: inputs that columns share; -1 for a kernel of plain values */
  const vm_shape *shapes;
};

/* y ← x, and y ← y + x, of a few numbers; most often 1 or 8 */
static inline void vm_copy(double *y, const double *x, long long lanes) {
  if (lanes == 1) *y = *x;
  else if (lanes == 8) memcpy(y, x, 8 * sizeof *x);
  else for (int c = 0; c < lanes; ++c) y[c] = x[c];
}
static inline void vm_increase(double *restrict y, const double *restrict x, long long lanes) {
  if (lanes == 1) *y += *x;
  else if (lanes == 8) for (int c = 0; c < 8; ++c) y[c] += x[c];
  else for (int c = 0; c < lanes; ++c) y[c] += x[c];
}

#define VM_ROW(r) (width * (table ? table[r] : s.same ? (r) : e * s.rows + (r)))

/* Execute the loops that `Kernels` writes. `w` holds the places of the bytecode, followed by gathered values. */
static void vm_loop(const vm_kernel *kernel, long long count, long long width, const vm_port *ports, double *const *bases, const int *const *tables,
                    double *w) {
  const long long inputs = kernel->inputs, all = inputs + kernel->outputs, lanes = kernel->bytecode.lanes;
  double *used[all];
  for (long long e = 0; e < count; ++e) for (long long first = 0; first < width; first += lanes) {
    double *buffer = w + kernel->places;
    for (long long k = 0; k < all; ++k) {
      const vm_shape s = kernel->shapes[k];
      double *base = bases[ports[k].base] + ports[k].offset + (k < kernel->shared ? 0 : first);
      if (s.direct) { used[k] = base + (s.same ? 0 : e * s.rows); continue; }
      const int *table = ports[k].table < 0 ? 0 : tables[ports[k].table] + e * s.rows;
      if (s.adjacent) { used[k] = base + table[0]; continue; }
      used[k] = buffer;
      buffer += s.rows * lanes;
      if (k < inputs)
        for (int r = 0; r < s.rows; ++r) vm_copy(used[k] + r * lanes, base + VM_ROW(r), lanes);
    }
    vm_interpret(&kernel->bytecode, (const double *const *)used, used + inputs, w);
    for (long long k = inputs; k < all; ++k) {
      const vm_shape s = kernel->shapes[k];
      double *base = bases[ports[k].base] + ports[k].offset + first;
      if (s.direct || s.adjacent) continue;
      const int *table = ports[k].table < 0 ? 0 : tables[ports[k].table] + e * s.rows;
      for (int r = 0; r < s.rows; ++r) {
        const double *x = used[k] + r * lanes;
        if (s.mode == VM_LARGEST_OF) vm_largest(base, *x);
        else if (s.mode == VM_GAIN) vm_increase(base + VM_ROW(r), x, lanes);
        else vm_copy(base + VM_ROW(r), x, lanes);
      }
    }
  }
}
#endif

/* c − a b, rounded once where the processor can */
static inline double vm_minus(double c, double a, double b) {
#ifdef VM_PLANS
  return fma(-a, b, c);
#elif defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return __builtin_fma(-a, b, c);
#else
  return c - a * b;
#endif
}

/* A = L U without pivoting, row by row: a finished row is subtracted from all rows below that have an entry in its column. `values` holds
   the diagonal, the rows of U and the rows of L one after the other; for a symmetric A those of L need not be given. Afterwards the diagonal
   is that of U, inverted, and that of L is one. For entry p of U `below` is its mirror in L; `targets` lists the entries that the products
   update, in order. */
static void vm_factor(int n, int symmetric, const int *u_start, const int *below, const int *targets, double *values) {
  double *d = values, *u = d + n, *l = u + u_start[n];
  for (int k = 0; k < n; ++k) {
    const double inverse = 1 / d[k];
    const int first = u_start[k], m = u_start[k + 1] - first;
    const double *row = u + first;
    d[k] = inverse;
    for (int a = 0; a < m; ++a) {
      const double factor = (symmetric ? row[a] : l[below[first + a]]) * inverse;
      l[below[first + a]] = factor;
      for (int b = symmetric ? a : 0; b < m; ++b, ++targets) values[*targets] = vm_minus(values[*targets], factor, row[b]);
    }
  }
}

static void vm_backsolve(long long n, long long width, const int *u_start, const int *u_col, const int *l_start, const int *l_col, const double *u,
                         const double *l, const double *d, double *x) {
  if (width == 1) {
    for (int i = 0; i < n; ++i) {
      double sum = x[i];
      for (int p = l_start[i]; p < l_start[i + 1]; ++p) sum = vm_minus(sum, l[p], x[l_col[p]]);
      x[i] = sum;
    }
    for (int i = (int)n - 1; i >= 0; --i) {
      double sum = x[i];
      for (int p = u_start[i]; p < u_start[i + 1]; ++p) sum = vm_minus(sum, u[p], x[u_col[p]]);
      x[i] = sum * d[i];
    }
    return;
  }
  for (int i = 0; i < n; ++i)
    for (int p = l_start[i]; p < l_start[i + 1]; ++p)
      for (long long c = 0; c < width; ++c) x[i * width + c] = vm_minus(x[i * width + c], l[p], x[l_col[p] * width + c]);
  for (int i = (int)n - 1; i >= 0; --i) {
    for (int p = u_start[i]; p < u_start[i + 1]; ++p)
      for (long long c = 0; c < width; ++c) x[i * width + c] = vm_minus(x[i * width + c], u[p], x[u_col[p] * width + c]);
    for (long long c = 0; c < width; ++c) x[i * width + c] *= d[i];
  }
}

/* Solve the transposed system. */
static void vm_backsolve_transposed(long long n, long long width, const int *u_start, const int *u_col, const int *l_start, const int *l_col,
                                    const double *u, const double *l, const double *d, double *x) {
  for (int i = 0; i < n; ++i) {
    for (long long c = 0; c < width; ++c) x[i * width + c] *= d[i];
    for (int p = u_start[i]; p < u_start[i + 1]; ++p)
      for (long long c = 0; c < width; ++c) x[u_col[p] * width + c] = vm_minus(x[u_col[p] * width + c], u[p], x[i * width + c]);
  }
  for (int i = (int)n - 1; i >= 0; --i)
    for (int p = l_start[i]; p < l_start[i + 1]; ++p)
      for (long long c = 0; c < width; ++c) x[l_col[p] * width + c] = vm_minus(x[l_col[p] * width + c], l[p], x[i * width + c]);
}

/* Execute a plan with the arguments and results in b. */
static void vm_execute(const vm_plan *plan, const vm_map *maps, const vm_scratch *b, double *workspace) {
  double **bases = b->bases;
  bases[0] = workspace;
  bases[1] = (double *)plan->constants;
  for (long long k = 0; k < plan->arguments; ++k) bases[2 + k] = (double *)b->arg[k];
  for (long long k = 0; k < plan->results; ++k) bases[2 + plan->arguments + k] = b->res[k];
  for (const long long *op = plan->code; *op != VM_END; op += op[1]) {
    const long long *a = op + 2;
    const int *const *t = plan->tables;
    if (*op == VM_ZERO) memset(bases[a[0]] + a[1], 0, (size_t)a[2] * sizeof(double));
#ifdef VM_MACHINE
    else if (*op == VM_MAP) vm_loop(plan->kernels + a[0], a[1], a[2], (const vm_port *)(a + 3), bases, t, b->rw);
#elif defined(VM_PLANS)
    else if (*op == VM_MAP) vm_call_map(a[0], a[1], a[2], (const vm_port *)(a + 3), bases, t, b->rw);
#else
    else if (*op == VM_MAP) maps[a[0]](a[1], a[2], (const vm_port *)(a + 3), bases, t, b->rw);
#endif
    else if (*op == VM_FACTOR)
      vm_factor((int)a[0], (int)a[1], t[a[2]], t[a[2] + 4], t[a[2] + 5], workspace + a[3]);
    else if (a[7])
      vm_backsolve_transposed(a[0], a[1], t[a[2]], t[a[2] + 1], t[a[2] + 2], t[a[2] + 3], workspace + a[3], workspace + a[4], workspace + a[5], workspace + a[6]);
    else
      vm_backsolve(a[0], a[1], t[a[2]], t[a[2] + 1], t[a[2] + 2], t[a[2] + 3], workspace + a[3], workspace + a[4], workspace + a[5], workspace + a[6]);
  }
}

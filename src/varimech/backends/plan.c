/* Plans: functions of large models as a list of operations on vectors (see stages/plan.py), the same text for every model.

   Before it stand the generated kernels. A plan is data, so that one library serves models of any size made of the same kinds of elements. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef int (*vm_function)(const double **, double **, long long *, double *, int);

typedef struct {
  const long long *code;      /* operations; each begins with its number and its length */
  const int *const *tables;   /* indices */
  const double *constants;
  long long arguments, results;
} vm_plan;

/* working storage of generated functions and plans */
typedef struct {
  const double **arg;
  double **res;
  long long *iw;
  double *rw;
  double **bases;
} vm_bench;

enum { VM_END, VM_ZERO, VM_MAP, VM_FACTOR, VM_SOLVE };
enum { VM_SET, VM_ADD, VM_LARGEST };                       /* what a port of a result does */
enum { VM_ONE_AFTER_ANOTHER = -1, VM_SAME_FOR_ALL = -2 };  /* instead of a table */

typedef struct { long long base, offset, table, rows, width, mode; } vm_port;

static void vm_gather(const vm_port *p, const double *from, const int *rows, double *to) {
  if (p->width == 1) {
    for (long long r = 0; r < p->rows; ++r) to[r] = from[rows[r]];
    return;
  }
  for (long long r = 0; r < p->rows; ++r)
    for (long long c = 0; c < p->width; ++c) *to++ = from[rows[r] * p->width + c];
}

static void vm_scatter(const vm_port *p, const double *from, const int *rows, double *to) {
  if (p->mode == VM_LARGEST) { /* not a number stays so */
    for (long long k = 0; k < p->rows * p->width; ++k)
      if (!(fabs(from[k]) <= *to) && *to == *to) *to = fabs(from[k]);
  } else if (p->mode == VM_ADD) {
    if (p->width == 1) {
      for (long long r = 0; r < p->rows; ++r) to[rows[r]] += from[r];
      return;
    }
    for (long long r = 0; r < p->rows; ++r)
      for (long long c = 0; c < p->width; ++c) to[rows[r] * p->width + c] += *from++;
  } else {
    for (long long r = 0; r < p->rows; ++r)
      for (long long c = 0; c < p->width; ++c) to[rows[r] * p->width + c] = *from++;
  }
}

/* kernel, elements, ports of arguments, ports of results, offset of a buffer, ports … */
static void vm_map(vm_function kernel, const long long *op, const vm_plan *plan, const vm_bench *b) {
  const long long count = op[1], inputs = op[2], outputs = op[3];
  const vm_port *in = (const vm_port *)(op + 5), *out = in + inputs;
  double *buffer = b->bases[0] + op[4];
  for (long long k = 0; k < inputs; ++k) {
    b->arg[k] = in[k].table >= 0 ? buffer : b->bases[in[k].base] + in[k].offset;
    if (in[k].table >= 0) buffer += in[k].rows * in[k].width;
  }
  for (long long k = 0; k < outputs; ++k) {
    const int direct = out[k].table == VM_ONE_AFTER_ANOTHER && out[k].mode == VM_SET;
    b->res[k] = direct ? b->bases[out[k].base] + out[k].offset : buffer;
    if (!direct) buffer += out[k].rows * out[k].width;
  }
  for (long long e = 0; e < count; ++e) {
    for (long long k = 0; k < inputs; ++k)
      if (in[k].table >= 0)
        vm_gather(in + k, b->bases[in[k].base] + in[k].offset, plan->tables[in[k].table] + e * in[k].rows, (double *)b->arg[k]);
    kernel(b->arg, b->res, b->iw, b->rw, 0);
    for (long long k = 0; k < inputs; ++k)
      if (in[k].table == VM_ONE_AFTER_ANOTHER) b->arg[k] += in[k].rows * in[k].width;
    for (long long k = 0; k < outputs; ++k) {
      if (out[k].table == VM_ONE_AFTER_ANOTHER && out[k].mode == VM_SET) b->res[k] += out[k].rows * out[k].width;
      else vm_scatter(out + k, b->res[k], out[k].table < 0 ? 0 : plan->tables[out[k].table] + e * out[k].rows, b->bases[out[k].base] + out[k].offset);
    }
  }
}

/* A = L U by rows, without pivoting. Upper rows u (without diagonal), lower rows l, diagonal d; where A is symmetric, l need not be given.
   Afterwards: u of U, l of L (whose diagonal is one), d the inverse diagonal of U. `above` is where (k, i) stands in u for (i, k) in l. */
static void vm_factor(long long n, int symmetric, const int *u_start, const int *u_col, const int *l_start, const int *l_col, const int *above,
                      double *u, double *l, double *d, double *row) {
  for (int i = 0; i < n; ++i) {
    row[i] = d[i];
    for (int p = u_start[i]; p < u_start[i + 1]; ++p) row[u_col[p]] = u[p];
    if (!symmetric) for (int p = l_start[i]; p < l_start[i + 1]; ++p) row[l_col[p]] = l[p];
    for (int p = l_start[i]; p < l_start[i + 1]; ++p) {
      const int k = l_col[p];
      const double factor = (symmetric ? u[above[p]] : row[k]) * d[k];
      l[p] = factor;
      for (int s = symmetric ? above[p] : u_start[k]; s < u_start[k + 1]; ++s) row[u_col[s]] -= factor * u[s];
    }
    d[i] = 1 / row[i];
    for (int p = u_start[i]; p < u_start[i + 1]; ++p) u[p] = row[u_col[p]];
  }
}

static void vm_backsolve(long long n, long long width, const int *u_start, const int *u_col, const int *l_start, const int *l_col, const double *u,
                         const double *l, const double *d, double *x) {
  if (width == 1) {
    for (int i = 0; i < n; ++i) {
      double sum = x[i];
      for (int p = l_start[i]; p < l_start[i + 1]; ++p) sum -= l[p] * x[l_col[p]];
      x[i] = sum;
    }
    for (int i = (int)n - 1; i >= 0; --i) {
      double sum = x[i];
      for (int p = u_start[i]; p < u_start[i + 1]; ++p) sum -= u[p] * x[u_col[p]];
      x[i] = sum * d[i];
    }
    return;
  }
  for (int i = 0; i < n; ++i)
    for (int p = l_start[i]; p < l_start[i + 1]; ++p)
      for (long long c = 0; c < width; ++c) x[i * width + c] -= l[p] * x[l_col[p] * width + c];
  for (int i = (int)n - 1; i >= 0; --i) {
    for (int p = u_start[i]; p < u_start[i + 1]; ++p)
      for (long long c = 0; c < width; ++c) x[i * width + c] -= u[p] * x[u_col[p] * width + c];
    for (long long c = 0; c < width; ++c) x[i * width + c] *= d[i];
  }
}

/* Carries out a plan; its arguments and results stand in b, its workspace is `workspace`. */
static void vm_execute(const vm_plan *plan, const vm_function *kernels, const vm_bench *b, double *workspace) {
  double **bases = b->bases;
  bases[0] = workspace;
  bases[1] = (double *)plan->constants;
  for (long long k = 0; k < plan->arguments; ++k) bases[2 + k] = (double *)b->arg[k];
  for (long long k = 0; k < plan->results; ++k) bases[2 + plan->arguments + k] = b->res[k];
  for (const long long *op = plan->code; *op != VM_END; op += op[1]) {
    const long long *a = op + 2;
    const int *const *t = plan->tables;
    if (*op == VM_ZERO) memset(bases[a[0]] + a[1], 0, (size_t)a[2] * sizeof(double));
    else if (*op == VM_MAP) vm_map(kernels[a[0]], a, plan, b);
    else if (*op == VM_FACTOR)
      vm_factor(a[0], (int)a[1], t[a[2]], t[a[2] + 1], t[a[2] + 2], t[a[2] + 3], t[a[2] + 4], workspace + a[3], workspace + a[4], workspace + a[5], workspace + a[6]);
    else
      vm_backsolve(a[0], a[1], t[a[2]], t[a[2] + 1], t[a[2] + 2], t[a[2] + 3], workspace + a[3], workspace + a[4], workspace + a[5], workspace + a[6]);
  }
}

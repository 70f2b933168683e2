/* Plans for vectors of samples: the operations of plan.c in the same order on vectors, in which each lane has one number. Nothing is pivoted, so
   all lanes take the same path. Constants of a plan are numbers, the same for all lanes. */

/* c − a b, rounded once where vm_minus rounds once */
static inline vm_vector vm_minus_lanes(vm_vector c, vm_vector a, vm_vector b) {
#if defined(__FMA__) && VM_WIDTH == 8 && !defined(__clang__) /* Clang vectorises the loop below */
  return (vm_vector)__builtin_ia32_vfmaddpd512_mask(-a, b, c, -1, 4);
#elif defined(__FMA__) && VM_WIDTH == 4 && !defined(__clang__)
  return (vm_vector)__builtin_ia32_vfmaddpd256(-a, b, c);
#else
  for (int k = 0; k < VM_WIDTH; ++k) c[k] = vm_minus(c[k], a[k], b[k]);
  return c;
#endif
}

/* See vm_factor. */
static void vm_factor_lanes(int n, int symmetric, const int *u_start, const int *below, const int *targets, vm_vector *values) {
  vm_vector *d = values, *u = d + n, *l = u + u_start[n];
  for (int k = 0; k < n; ++k) {
    const vm_vector inverse = 1. / d[k];
    const int first = u_start[k], m = u_start[k + 1] - first;
    const vm_vector *row = u + first;
    d[k] = inverse;
    for (int a = 0; a < m; ++a) {
      const vm_vector factor = (symmetric ? row[a] : l[below[first + a]]) * inverse;
      l[below[first + a]] = factor;
      for (int b = symmetric ? a : 0; b < m; ++b, ++targets) values[*targets] = vm_minus_lanes(values[*targets], factor, row[b]);
    }
  }
}

/* See vm_backsolve; of `width` numbers of a row, `columns` are used. */
static void vm_backsolve_lanes(int n, long long width, long long columns, const int *u_start, const int *u_col, const int *l_start, const int *l_col,
                               const vm_vector *u, const vm_vector *l, const vm_vector *d, vm_vector *x) {
  for (long long c = 0; c < columns; ++c) {
    vm_vector *y = x + c;
    for (int i = 0; i < n; ++i) {
      vm_vector sum = y[i * width];
      for (int p = l_start[i]; p < l_start[i + 1]; ++p) sum = vm_minus_lanes(sum, l[p], y[l_col[p] * width]);
      y[i * width] = sum;
    }
    for (int i = n - 1; i >= 0; --i) {
      vm_vector sum = y[i * width];
      for (int p = u_start[i]; p < u_start[i + 1]; ++p) sum = vm_minus_lanes(sum, u[p], y[u_col[p] * width]);
      y[i * width] = sum * d[i];
    }
  }
}

/* Data of a map for all elements: its kernel, and the places of its ports. */
typedef struct {
  const vm_kernel *kernel;
  long long width; /* length of a row */
  const vm_port *ports;
  vm_vector *const *bases;
  const double *constants;
  const int *const *tables;
} vm_lane_map;

enum { VM_CONSTANTS = 1 }; /* base of the constants */

/* Index, within its base, of row r of a port for an element and a column. */
static inline long long vm_place(const vm_lane_map *map, long long k, long long e, long long r, long long column) {
  const vm_shape s = map->kernel->shapes[k];
  const vm_port port = map->ports[k];
  const long long row = port.table >= 0 ? map->tables[port.table][e * s.rows + r] : s.same ? r : e * s.rows + r;
  return port.offset + (map->kernel->shared >= 0 && k >= map->kernel->shared ? row * map->width + column : row);
}

/* Execute a kernel for one element and one column; `buffer` holds gathered values. */
static void vm_element_of_lanes(const vm_lane_map *map, long long e, long long column, vm_vector *w, vm_vector *buffer) {
  const vm_kernel *kernel = map->kernel;
  const long long inputs = kernel->inputs, all = inputs + kernel->outputs;
  vm_vector *used[all];
  for (long long k = 0; k < all; ++k) {
    const vm_shape s = kernel->shapes[k];
    const vm_port port = map->ports[k];
    if ((s.direct || s.adjacent) && port.base != VM_CONSTANTS) { used[k] = map->bases[port.base] + vm_place(map, k, e, 0, 0); continue; }
    used[k] = buffer;
    buffer += s.rows;
    for (int row = 0; k < inputs && row < s.rows; ++row) {
      const long long place = vm_place(map, k, e, row, column);
      used[k][row] = port.base == VM_CONSTANTS ? vm_all(map->constants[place]) : map->bases[port.base][place];
    }
  }
  vm_interpret_lanes(&kernel->bytecode, (const vm_vector *const *)used, used + inputs, w, 0, 0);
  for (long long k = inputs; k < all; ++k) {
    const vm_shape s = kernel->shapes[k];
    vm_vector *base = map->bases[map->ports[k].base];
    if (s.direct || s.adjacent) continue;
    for (int row = 0; row < s.rows; ++row) {
      if (s.mode == VM_LARGEST_OF) vm_largest_of_lanes(base + map->ports[k].offset, used[k][row]);
      else if (s.mode == VM_GAIN) base[vm_place(map, k, e, row, column)] += used[k][row];
      else base[vm_place(map, k, e, row, column)] = used[k][row];
    }
  }
}

/* Execute a plan with arguments and results that are vectors. */
static void vm_execute_lanes(const vm_plan *plan, const vm_run *r, const double *const *arg, double *const *res, vm_vector *workspace, vm_vector *w) {
  vm_vector *bases[2 + plan->arguments + plan->results];
  bases[0] = workspace;
  bases[VM_CONSTANTS] = 0;
  for (long long k = 0; k < plan->arguments; ++k) bases[2 + k] = (vm_vector *)arg[k];
  for (long long k = 0; k < plan->results; ++k) bases[2 + plan->arguments + k] = (vm_vector *)res[k];
  for (const long long *op = plan->code; *op != VM_END; op += op[1]) {
    const long long *a = op + 2;
    const int *const *t = plan->tables;
    if (*op == VM_ZERO) memset(bases[a[0]] + a[1], 0, (size_t)a[2] * sizeof(vm_vector));
    else if (*op == VM_MAP) {
      const vm_kernel *kernel = plan->kernels + a[0];
      const long long columns = kernel->shared < 0 ? 1 : r->parameters;
      const vm_lane_map map = {kernel, a[2], (const vm_port *)(a + 3), bases, plan->constants, t};
      if (r->lane_maps) r->lane_maps((int)a[0], a[1], a[2], columns, map.ports, (double *const *)bases, plan->constants, t, (double *)w);
      else for (long long e = 0; e < a[1]; ++e)
        for (long long c = 0; c < columns; ++c) vm_element_of_lanes(&map, e, c, w, w + kernel->places);
    } else if (*op == VM_FACTOR)
      vm_factor_lanes((int)a[0], (int)a[1], t[a[2]], t[a[2] + 4], t[a[2] + 5], workspace + a[3]);
    else
      vm_backsolve_lanes((int)a[0], a[1], a[1] == 1 ? 1 : r->parameters, t[a[2]], t[a[2] + 1], t[a[2] + 2], t[a[2] + 3], workspace + a[3], workspace + a[4],
                         workspace + a[5], workspace + a[6]);
  }
}

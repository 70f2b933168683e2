/* Bytecode without repetitions: equal instructions of equal operands are executed once, copies and unused results not at all, and the places of
   values that are not read any more are reused. Results stay the same to the last bit. */

#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#define VM_EXPORT __declspec(dllexport)
#else
#define VM_EXPORT __attribute__((visibility("default")))
#endif

typedef struct { int operation, to, a, b; } vm_instruction; /* see bytecode.c */

static int vm_has_operands(int operation) { return operation != VM_OP_INPUT && operation != VM_OP_CONST; }
static int vm_commutes(int operation) { return operation == VM_OP_ADD || operation == VM_OP_MUL; }

static unsigned long long vm_hash(const vm_instruction *i) {
  unsigned long long h = (unsigned)i->operation;
  h = h * 0x9E3779B97F4A7C15ULL + (unsigned)i->a;
  h = h * 0x9E3779B97F4A7C15ULL + (unsigned)i->b;
  return h ^ h >> 29;
}

/* Number the values; return how many instructions, on these values, remain in `values`. Outputs keep their destination. */
static int vm_number_values(const vm_instruction *code, int count, int *numbers, int places, int *table, unsigned long long slots, vm_instruction *values) {
  int used = 0;
  for (int k = 0; k < count; ++k) {
    vm_instruction i = code[k];
    if (i.operation == VM_OP_OUTPUT) {
      i.a = numbers[i.a];
      values[used++] = i;
      continue;
    }
    if (i.operation == VM_OP_ASSIGN || i.operation == VM_OP_LIFT) {
      numbers[i.to] = numbers[i.a];
      continue;
    }
    const int to = i.to;
    if (vm_has_operands(i.operation)) {
      i.a = numbers[i.a];
      i.b = i.b >= 0 && i.b < places ? numbers[i.b] : i.a; /* operations of one operand may have any b */
    }
    vm_instruction key = i;
    if (vm_commutes(i.operation) && i.a > i.b) { key.a = i.b; key.b = i.a; }
    unsigned long long slot = vm_hash(&key) & (slots - 1);
    int known = -1;
    for (; table[slot] >= 0; slot = (slot + 1) & (slots - 1)) {
      const vm_instruction *v = values + table[slot];
      const int turned = vm_commutes(v->operation) && v->a > v->b;
      if (v->operation == key.operation && (turned ? v->b : v->a) == key.a && (turned ? v->a : v->b) == key.b) {
        known = table[slot];
        break;
      }
    }
    if (known < 0) {
      table[slot] = known = used;
      values[used++] = i;
    }
    numbers[to] = known;
  }
  return used;
}

/* Writes at most `count` instructions to `out`, with at most `places` places; returns their number, or -1 without memory. */
VM_EXPORT int vm_simplify(const vm_instruction *code, int count, int places, vm_instruction *out) {
  unsigned long long slots = 16;
  while (slots < 2ULL * (unsigned)count) slots *= 2;
  vm_instruction *values = malloc(((size_t)count + 1) * sizeof *values);
  int *table = malloc(slots * sizeof *table), *numbers = calloc((size_t)places + 1, sizeof *numbers);
  int *last = malloc(((size_t)count + 1) * sizeof *last), *place = malloc(((size_t)count + 1) * sizeof *place), *unused = malloc(((size_t)count + 1) * sizeof *unused);
  int written = -1;
  if (values && table && numbers && last && place && unused) {
    memset(table, -1, slots * sizeof *table);
    const int used = vm_number_values(code, count, numbers, places, table, slots, values);
    for (int k = 0; k < used; ++k) last[k] = -1; /* not read */
    for (int k = used - 1; k >= 0; --k) {
      const vm_instruction *v = values + k;
      const int output = v->operation == VM_OP_OUTPUT;
      if ((!output && last[k] < 0) || !vm_has_operands(v->operation)) continue;
      if (last[v->a] < 0) last[v->a] = k;
      if (!output && last[v->b] < 0) last[v->b] = k;
    }
    int free_places = 0, all = 0;
    written = 0;
    for (int k = 0; k < used; ++k) {
      vm_instruction v = values[k];
      const int output = v.operation == VM_OP_OUTPUT;
      if (!output && last[k] < 0) continue;
      if (vm_has_operands(v.operation)) {
        const int a = v.a, b = output ? a : v.b;
        v.a = place[a];
        if (!output) v.b = place[b];
        if (last[a] == k) unused[free_places++] = place[a];
        if (b != a && last[b] == k) unused[free_places++] = place[b];
      }
      if (!output) v.to = place[k] = free_places ? unused[--free_places] : all++;
      out[written++] = v;
    }
  }
  free(values); free(table); free(numbers); free(last); free(place); free(unused);
  return written;
}

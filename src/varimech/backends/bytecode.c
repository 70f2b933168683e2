/* Functions as data: bytecode is the list of scalar instructions of a function, as CasADi stores them (read by bytecode.py). This source is the
   same for every program, so one library executes any program without a compiler; results equal those of generated code to the last bit.

   The operations are CasADi's, by the numbers that bytecode.py defines as VM_OP_…. */

#include <math.h>
#include <string.h>

typedef struct { int operation, to, a, b; } vm_instruction; /* a and b: places; for inputs and outputs a number and an entry; for constants a double */

typedef struct vm_bytecode {
  const vm_instruction *code;
  long long count;
  long long shared, blocks, lanes; /* of a column function: see columns.py; lanes = 1 for any other function */
} vm_bytecode;

static double vm_constant(const vm_instruction *i) {
  double x;
  memcpy(&x, &i->a, sizeof x);
  return x;
}

/* operations that are neither moves nor basic arithmetic */
static double vm_operation(int operation, double a, double b) {
  switch (operation) {
    case VM_OP_EXP: return exp(a);
    case VM_OP_LOG: return log(a);
    case VM_OP_POW: case VM_OP_CONSTPOW: return pow(a, b);
    case VM_OP_SIN: return sin(a);
    case VM_OP_COS: return cos(a);
    case VM_OP_TAN: return tan(a);
    case VM_OP_ASIN: return asin(a);
    case VM_OP_ACOS: return acos(a);
    case VM_OP_ATAN: return atan(a);
    case VM_OP_LT: return a < b;
    case VM_OP_LE: return a <= b;
    case VM_OP_EQ: return a == b;
    case VM_OP_NE: return a != b;
    case VM_OP_NOT: return !a;
    case VM_OP_AND: return a && b;
    case VM_OP_OR: return a || b;
    case VM_OP_FLOOR: return floor(a);
    case VM_OP_CEIL: return ceil(a);
    case VM_OP_FMOD: return fmod(a, b);
    case VM_OP_FABS: return fabs(a);
    case VM_OP_SIGN: return a < 0 ? -1 : a > 0 ? 1 : a;
    case VM_OP_COPYSIGN: return copysign(a, b);
    case VM_OP_IF_ELSE_ZERO: return a ? b : 0;
    case VM_OP_ERF: return erf(a);
    case VM_OP_FMIN: return fmin(a, b);
    case VM_OP_FMAX: return fmax(a, b);
    case VM_OP_INV: return 1. / a;
    case VM_OP_SINH: return sinh(a);
    case VM_OP_COSH: return cosh(a);
    case VM_OP_TANH: return tanh(a);
    case VM_OP_ASINH: return asinh(a);
    case VM_OP_ACOSH: return acosh(a);
    case VM_OP_ATANH: return atanh(a);
    case VM_OP_ATAN2: return atan2(a, b);
    case VM_OP_LOG1P: return log1p(a);
    case VM_OP_EXPM1: return expm1(a);
    case VM_OP_HYPOT: return hypot(a, b);
    case VM_OP_REMAINDER: return remainder(a, b);
    default: return NAN; /* bytecode.py rejects functions with other operations */
  }
}

static void vm_interpret_scalars(const vm_bytecode *t, const double *const *arg, double *const *res, double *w) {
  for (const vm_instruction *i = t->code, *end = i + t->count; i < end; ++i) switch (i->operation) {
    case VM_OP_INPUT: w[i->to] = arg[i->a][i->b]; break;
    case VM_OP_OUTPUT: res[i->to][i->b] = w[i->a]; break;
    case VM_OP_CONST: w[i->to] = vm_constant(i); break;
    case VM_OP_ASSIGN: case VM_OP_LIFT: w[i->to] = w[i->a]; break;
    case VM_OP_ADD: w[i->to] = w[i->a] + w[i->b]; break;
    case VM_OP_SUB: w[i->to] = w[i->a] - w[i->b]; break;
    case VM_OP_MUL: w[i->to] = w[i->a] * w[i->b]; break;
    case VM_OP_DIV: w[i->to] = w[i->a] / w[i->b]; break;
    case VM_OP_NEG: w[i->to] = -w[i->a]; break;
    case VM_OP_SQ: w[i->to] = w[i->a] * w[i->a]; break;
    case VM_OP_TWICE: w[i->to] = 2. * w[i->a]; break;
    case VM_OP_SQRT: w[i->to] = sqrt(w[i->a]); break;
    default: w[i->to] = vm_operation(i->operation, w[i->a], w[i->b]);
  }
}

/* Interpret column functions, one block of LANES columns after the other. */
#define VM_INTERPRET_COLUMNS(LANES) \
  static void vm_interpret_##LANES##_columns(const vm_bytecode *t, const double *const *arg, double *const *res, double *work) { \
    typedef double vector __attribute__((vector_size(8 * LANES), aligned(8))); \
    const vector zero = {0}; \
    vector *w = (vector *)work; \
    for (long long block = 0; block < t->blocks; ++block) \
      for (const vm_instruction *i = t->code, *end = i + t->count; i < end; ++i) switch (i->operation) { \
        case VM_OP_INPUT: \
          w[i->to] = i->a < t->shared ? zero + arg[i->a][i->b] : ((const vector *)arg[i->a])[i->b * t->blocks + block]; \
          break; \
        case VM_OP_OUTPUT: ((vector *)res[i->to])[i->b * t->blocks + block] = w[i->a]; break; \
        case VM_OP_CONST: w[i->to] = zero + vm_constant(i); break; \
        case VM_OP_ASSIGN: case VM_OP_LIFT: w[i->to] = w[i->a]; break; \
        case VM_OP_ADD: w[i->to] = w[i->a] + w[i->b]; break; \
        case VM_OP_SUB: w[i->to] = w[i->a] - w[i->b]; break; \
        case VM_OP_MUL: w[i->to] = w[i->a] * w[i->b]; break; \
        case VM_OP_DIV: w[i->to] = w[i->a] / w[i->b]; break; \
        case VM_OP_NEG: w[i->to] = -w[i->a]; break; \
        case VM_OP_SQ: w[i->to] = w[i->a] * w[i->a]; break; \
        case VM_OP_TWICE: w[i->to] = 2. * w[i->a]; break; \
        default: \
          for (int k = 0; k < LANES; ++k) \
            w[i->to][k] = i->operation == VM_OP_SQRT ? sqrt(w[i->a][k]) : vm_operation(i->operation, w[i->a][k], w[i->b][k]); \
      } \
  }
VM_INTERPRET_COLUMNS(2)
VM_INTERPRET_COLUMNS(4)
VM_INTERPRET_COLUMNS(8)

/* `w` has as many numbers as the bytecode has places, times its lanes. */
static void vm_interpret(const vm_bytecode *t, const double *const *arg, double *const *res, double *w) {
  if (t->lanes == 8) vm_interpret_8_columns(t, arg, res, w);
  else if (t->lanes == 4) vm_interpret_4_columns(t, arg, res, w);
  else if (t->lanes == 2) vm_interpret_2_columns(t, arg, res, w);
  else vm_interpret_scalars(t, arg, res, w);
}

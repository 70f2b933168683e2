/* Quotients without branches. A GPU's own division uses the same arithmetic for most numbers, and branches for tiny and huge ones, during which
   its thread executes no other instruction. Here these cases are selected: denominators below 2.2e-308 count as zero, those beyond 4.5e307 as
   infinite. Reciprocals of a denominator that several quotients share are computed once. */

/* 1/b to 20 bits. */
static double vm_rough_reciprocal(double b) {
  double r;
#ifdef __CUDACC__
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(b));
#else /* the same for tests */
  unsigned long long bits;
  r = 1 / (fabs(b) < 2.2250738585072014e-308 ? copysign(0.0, b) : b);
  if (fabs(r) < 2.2250738585072014e-308) r = copysign(0.0, b);
  memcpy(&bits, &r, sizeof(bits));
  bits &= 0xffffffff00000000ULL;
  memcpy(&r, &bits, sizeof(bits));
#endif
  return r;
}

/* 1/b by two Newton iterations. */
static double vm_reciprocal(double b) {
  const double rough = vm_rough_reciprocal(b), better = fma(rough, fma(-b, rough, 1.0), rough), best = fma(better, fma(-b, better, 1.0), better);
  return best == best ? best : rough; /* b is zero or infinite */
}

/* Whether x is neither zero nor infinite, by its exponent: integer comparisons do not wait for units of doubles. */
static int vm_is_normal(double x) {
  unsigned long long bits;
  memcpy(&bits, &x, sizeof(bits));
  return ((unsigned)(bits >> 32) & 0x7fffffffu) - 0x00100000u < 0x7fe00000u;
}

/* a/b, usually rounded correctly. */
static double vm_fast_quotient(double a, double b) {
  const double r = vm_reciprocal(b), q = a * r, refined = fma(fma(-b, q, a), r, q);
  return vm_is_normal(q) ? refined : q;
}

#ifdef __CUDACC__
#define VM_QUOTIENT(a, b) vm_fast_quotient(a, b)
#else /* the bits of the processor */
#define VM_QUOTIENT(a, b) ((a) / (b))
#endif

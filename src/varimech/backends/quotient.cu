/* Quotients without branches. A GPU's own division is the same arithmetic for most numbers, and branches for tiny and huge ones; no other
   instruction of its thread is executed beside it then. Here these are selected: denominators below 2.2e-308 are zero, those beyond 4.5e307
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

/* a/b, as a rule rounded correctly: two Newton iterations for 1/b, one for the quotient. */
static double vm_fast_quotient(double a, double b) {
  const double rough = vm_rough_reciprocal(b), better = fma(rough, fma(-b, rough, 1.0), rough), r = fma(better, fma(-b, better, 1.0), better);
  const double q = a * r, refined = fma(fma(-b, q, a), r, q);
  return q != 0 && refined == refined ? refined : a * rough; /* a or b is zero, infinite or not a number */
}

#ifdef __CUDACC__
#define VM_QUOTIENT(a, b) vm_fast_quotient(a, b)
#else /* the bits of the processor */
#define VM_QUOTIENT(a, b) ((a) / (b))
#endif

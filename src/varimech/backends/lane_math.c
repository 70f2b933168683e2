/* Vectors of samples, and the functions of them that a processor does not have.

   Sines and cosines are computed for all lanes at once: the argument is reduced by a multiple k of π/2, |k| ≤ 2²⁰, to r + e in [−π/4, π/4], in
   three parts of π/2 of which the first two have 33 bits, so that their multiples are exact; then

     sin r = r + r³ P(r²),     cos r = 1 − r²/2 + r⁴ Q(r²)

   with polynomials that interpolate at Chebyshev points (errors 2e-17 and 1e-18). Results are accurate to one unit in the last place; those of a C
   library, which is used for lanes with larger arguments, to 0.6 units. So lanes of models with sines differ from single runs by rounding, and all
   other models have the same bits. The polynomials use no instruction that only some processors have: every width gives the same bits. */

#include <math.h>

typedef double vm_vector __attribute__((vector_size(8 * VM_WIDTH)));
typedef long long vm_mask __attribute__((vector_size(8 * VM_WIDTH)));

static inline vm_vector vm_all(double x) { return x - (vm_vector){0}; }
static inline vm_vector vm_ones(vm_mask which) { return (vm_vector)(which & (vm_mask)vm_all(1.)); }
static inline vm_vector vm_pick(vm_mask which, vm_vector a, vm_vector b) { return (vm_vector)((which & (vm_mask)a) | (~which & (vm_mask)b)); }
static inline vm_vector vm_magnitudes(vm_vector x) { return (vm_vector)((vm_mask)x & 0x7fffffffffffffffLL); }
/* as in the C library, signs of zeros included */
static inline vm_vector vm_fmin(vm_vector a, vm_vector b) { return vm_pick((a < b) | (b != b), a, b); }
static inline vm_vector vm_fmax(vm_vector a, vm_vector b) { return vm_pick((a > b) | (b != b), a, b); }
static inline vm_vector vm_sqrt(vm_vector a) {
#if VM_WIDTH == 8 && !defined(__clang__) /* Clang vectorises the loop below */
  return (vm_vector)__builtin_ia32_sqrtpd512_mask(a, vm_all(0.), -1, 4);
#elif VM_WIDTH == 4 && !defined(__clang__)
  return (vm_vector)__builtin_ia32_sqrtpd256(a);
#else
  for (int k = 0; k < VM_WIDTH; ++k) a[k] = sqrt(a[k]);
  return a;
#endif
}

static inline void vm_largest_of_lanes(vm_vector *largest, vm_vector x) { /* NaN persists */
  const vm_vector size = vm_magnitudes(x);
  *largest = vm_pick(~(size <= *largest) & (*largest == *largest), size, *largest);
}

#define VM_MOST_TURNS 1.6e6 /* argument up to which k has 20 bits */
#define VM_SHIFT 6755399441055744. /* 1.5 · 2⁵²: a sum with it is rounded to an integer, which is in its last bits */

/* Sine and cosine of numbers up to VM_MOST_TURNS. */
static inline void vm_sines(vm_vector x, vm_vector *sine, vm_vector *cosine) {
  const vm_vector shifted = x * 0.6366197723675814 + VM_SHIFT, k = shifted - VM_SHIFT;
  const vm_mask quadrant = (vm_mask)shifted;
  const vm_vector first = x - k * 1.5707963267341256, part = -k * 6.077100506303966e-11, sum = first + part, back = sum - first;
  const vm_vector rest = (first - (sum - back)) + (part - back) - k * 2.0222662487959506e-21, r = sum + rest, e = (sum - r) + rest, z = r * r;
  const vm_vector P = -0.16666666666666666 + z * (0.008333333333330946 + z * (-0.0001984126983675497 + z * (2.755731610068303e-06 +
                      z * (-2.5051131455427946e-08 + z * 1.591810123027412e-10))));
  const vm_vector Q = 0.041666666666666664 + z * (-0.0013888888888887395 + z * (2.4801587298763433e-05 + z * (-2.7557317270560326e-07 +
                      z * (2.0876146024689747e-09 + z * -1.1382614868556325e-11))));
  const vm_vector half = 0.5 * z, whole = 1. - half;
  const vm_vector s = r + (r * z * P + e * whole), c = whole + (((1. - whole) - half) + (z * z * Q - r * e));
  const vm_mask odd = -(quadrant & 1), negative_s = (quadrant & 2) << 62, negative_c = ((quadrant + 1) & 2) << 62;
  *sine = (vm_vector)((vm_mask)vm_pick(odd, c, s) ^ negative_s);
  *cosine = (vm_vector)((vm_mask)vm_pick(odd, s, c) ^ negative_c);
}

static inline void vm_sincos(vm_vector x, vm_vector *sine, vm_vector *cosine) {
  const vm_mask far = ~(vm_magnitudes(x) <= VM_MOST_TURNS);
  vm_sines(x, sine, cosine);
  for (int k = 0; k < VM_WIDTH; ++k) if (__builtin_expect(far[k] != 0, 0)) { (*sine)[k] = sin(x[k]); (*cosine)[k] = cos(x[k]); }
}
static inline vm_vector vm_sin(vm_vector x) { vm_vector s, c; vm_sincos(x, &s, &c); return s; }
static inline vm_vector vm_cos(vm_vector x) { vm_vector s, c; vm_sincos(x, &s, &c); return c; }

/* Other functions of the C library, lane by lane. */
#define VM_UNARY(f) static vm_vector vm_##f(vm_vector a) { for (int k = 0; k < VM_WIDTH; ++k) a[k] = f(a[k]); return a; }
#define VM_BINARY(f) static vm_vector vm_##f(vm_vector a, vm_vector b) { for (int k = 0; k < VM_WIDTH; ++k) a[k] = f(a[k], b[k]); return a; }

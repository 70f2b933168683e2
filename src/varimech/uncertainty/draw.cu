/* Uniform numbers on a GPU, identical to those of NumPy: Philox 4×64 with ten rounds (J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, Parallel
   random numbers: as easy as 1, 2, 3, SC11). Block b of a chunk's stream is a function of the chunk's key and of b + 1 alone, so every thread
   computes its own numbers. Points of Sobol sequences are computed by the Gray code of their indices. */

typedef unsigned long long vm_word;

/* Random numbers of chunks, `width` in each row. For each chunk: keys, two words of its stream; begins, the row of the stream that it starts with;
   firsts, its first row in `points`. */
typedef struct { const vm_word *keys; const long long *begins, *firsts; double *points; long long chunks, width; } vm_random_job;

/* Index of the chunk that contains row `row` of `points`: the last chunk that starts at or before it. */
static long long vm_chunk_of(const long long *firsts, long long chunks, long long row) {
  long long low = 0, high = chunks;
  while (high - low > 1) {
    const long long middle = (low + high) / 2;
    if (firsts[middle] <= row) low = middle; else high = middle;
  }
  return low;
}

static vm_word vm_philox(const vm_word *key, vm_word block, int word) {
  vm_word c0 = block, c1 = 0, c2 = 0, c3 = 0, k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; ++round) {
    const vm_word a = 0xD2E7470EE14C6C93ULL, b = 0xCA5A826395121157ULL;
    const vm_word high0 = __umul64hi(a, c0), low0 = a * c0, high1 = __umul64hi(b, c2), low1 = b * c2;
    c0 = high1 ^ c1 ^ k0; c1 = low1; c2 = high0 ^ c3 ^ k1; c3 = low0;
    k0 += 0x9E3779B97F4A7C15ULL; k1 += 0xBB67AE8584CAA73BULL;
  }
  return word == 0 ? c0 : word == 1 ? c1 : word == 2 ? c2 : c3;
}

extern "C" __global__ void vm_draw_random(const vm_random_job *job, long long count) {
  const long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= count) return;
  const long long chunk = vm_chunk_of(job->firsts, job->chunks, row), first = (row - job->firsts[chunk] + job->begins[chunk]) * job->width;
  for (long long j = 0; j < job->width; ++j) {
    const vm_word n = (vm_word)(first + j);
    job->points[row * job->width + j] = (double)(vm_philox(job->keys + 2 * chunk, n / 4 + 1, (int)(n % 4)) >> 11) * (1.0 / 9007199254740992.0);
  }
}

/* numbers: index of the first point of each chunk within its sequence; directions: (chunk, width, bits); shifts: (chunk, width). */
typedef struct { const vm_word *directions, *shifts; const long long *numbers, *firsts; double *points; long long chunks, width, bits; } vm_sobol_job;

extern "C" __global__ void vm_draw_sobol(const vm_sobol_job *job, long long count) {
  const long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= count) return;
  const long long chunk = vm_chunk_of(job->firsts, job->chunks, row), number = row - job->firsts[chunk] + job->numbers[chunk];
  const vm_word gray = (vm_word)(number ^ (number >> 1));
  double scale = 1;
  for (long long k = 0; k < job->bits; ++k) scale /= 2;
  for (long long j = 0; j < job->width; ++j) {
    const vm_word *directions = job->directions + (chunk * job->width + j) * job->bits;
    vm_word x = job->shifts[chunk * job->width + j];
    for (long long k = 0; k < job->bits; ++k) if (gray >> k & 1) x ^= directions[k];
    job->points[row * job->width + j] = (double)x * scale + scale / 2;
  }
}

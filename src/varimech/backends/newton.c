/* Newton's stopping rule: newton.py states it and its constants. */

/* Whether iteration k (from 1) of at most `most` is the last one; `last` is the previous ratio, 0 at first. */
static int vm_converged(double ratio, double last, long long k, long long most) {
  return ratio <= 1 || ratio * ratio * ratio <= VM_NEGLIGIBLE * last * last || (ratio <= VM_NOISE && ((k > 2 && ratio >= last) || k == most));
}

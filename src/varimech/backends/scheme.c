/* Coefficients of an explicit integrator; see runge_kutta.py */
typedef struct {
  long long stages, extra, degree;
  const double *a, *b, *c, *error, *second_error, *more, *more_c, *dense; /* matrices by rows; second_error may be NULL */
  double error_order;
} vm_scheme;

/* Entry points of a library of generated functions and of plans, for the machine. */

#ifdef _WIN32
#define VM_EXPORT __declspec(dllexport)
#else
#define VM_EXPORT __attribute__((visibility("default")))
#endif

typedef int (*vm_function)(const double **arg, double **res, long long *iw, double *w, int memory);
VM_EXPORT const vm_function vm_functions[] = {VM_FUNCTIONS}; /* by number */
VM_EXPORT void vm_execute_plan(const vm_plan *plan, const vm_scratch *scratch, double *workspace) { vm_execute(plan, vm_maps, scratch, workspace); }

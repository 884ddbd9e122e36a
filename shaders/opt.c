/* opt.c: the order of the optimiser's passes, and what they saved. */
#include "opt.h"

enum status opt_run(struct asl_code *code, const struct asl_lower_options *opt, struct error *err)
{
    (void)code;
    (void)opt;
    (void)err;
    return STATUS_OK;
}

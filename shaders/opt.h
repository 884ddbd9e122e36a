/* opt.h: the optimiser of the IR. */
#ifndef ASL_OPT_H
#define ASL_OPT_H

#include "ir_build.h"

/* Optimises in place, as the options say; counts what there was before and after. */
enum status opt_run(struct asl_code *code, const struct asl_lower_options *opt, struct error *err);

#endif

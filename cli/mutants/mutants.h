/* SPDX-License-Identifier: Apache-2.0 */
/* conform --self-test --mutants: what the list notices of single-place edits of the kernel. */
#ifndef ISOPHOTE_CLI_MUTANTS_H
#define ISOPHOTE_CLI_MUTANTS_H

#include "cli.h"
#include "conformance.h"

struct mutants_options {
    uint32_t count;
    uint64_t seed;
    const struct option_list *files; /* only edits of these: "asl/noise.h"; empty: of all */
    uint32_t searches; /* scenes, and grids of shaders, that a living one is asked; 0: none */
    bool until_caught; /* else every case runs on every mutant */
    bool json;
    const char *journal; /* path; NULL: nothing is kept */
    bool resume;
};
/* `o`: list, levels, filter, budgets and jobs as the user gave them; devices and what is told are
 * set here. Prints, and returns the exit status. What becomes known is in the journal at once. */
int mutants_judge(const struct conform_options *o, const struct mutants_options *m);

#endif

/* What is written of the rows of the commands: manual pages, completion, the reference's page. */
#ifndef ISOPHOTE_CLI_MANUAL_H
#define ISOPHOTE_CLI_MANUAL_H

#include "cli.h"

/* A manual page of section 1, as roff; c NULL: that of isophote itself. */
void manual_page(const struct command *c, struct text *out);
void manual_markdown(struct text *out); /* docs/reference/options.md */

/* What a shell reads to complete command lines, and where an installation has it, below its folder
 * of data. Ends with a name that is NULL. */
extern const struct completion {
    const char *shell, *path;
    void (*print)(struct text *out);
} completions[];

#endif

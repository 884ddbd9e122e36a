/* SPDX-License-Identifier: Apache-2.0 */
/* What this process is, as parts of the identity of its results. */
#include "cli.h"

#include "commit.h" /* cmake/commit.cmake */

static struct arena arena; /* until the process ends */
static const struct identity *environment;

void identity_begin(void) { environment = identity_environment(&arena, NULL); }

const struct identity *identity_of_environment(struct error *err)
{
    if (!environment)
        environment = identity_environment(&arena, err);
    return environment;
}

const struct identity *identity_of_program(struct error *err)
{
    static const struct identity *known;
    char build[33];
    if (known)
        return known;
    input_file_hash(program_path(), build);
    struct identity *id = identity_new(&arena, "program");
    identity_add(id, "version", ISOPHOTE_VERSION);
    identity_add(id, "commit", ISOPHOTE_COMMIT);
    identity_add(id, "dirty", ISOPHOTE_DIRTY ? "yes" : "no");
    identity_add(id, "build", build);
    identity_add(id, "kernel", kernel_source_hash);
    identity_add(id, "protocol", ISOPHOTE_PROTOCOL);
    known = identity_close(id, err);
    return known;
}

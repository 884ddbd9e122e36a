/* SPDX-License-Identifier: Apache-2.0 */
/* What a device's compiler made, kept on disk (base.h's cache_read and cache_write): what it said of
 * resources, then the binary. */
#ifndef ISOPHOTE_KEPT_H
#define ISOPHOTE_KEPT_H

#include "base.h"

/* What a compiler says of registers and memory; kept with the binary, because it says it only once.
 */
struct kept_resources {
    uint32_t registers, stack_bytes, spill_bytes;
};

/* False when there is nothing of use at `path`. The data lives in the arena. */
bool kept_read(struct arena *a, const char *path, const char key[33], const void **data,
               size_t *size, struct kept_resources *resources);
/* Failures cost the next start a compilation, no more. */
void kept_write(const char *path, const char key[33], const void *data, size_t size,
                const struct kept_resources *resources);

/* From ptxas' verbose text, which NVIDIA's compilers put into their logs: the largest of all
 * entries. */
struct kept_resources resources_read(const char *log);

#endif

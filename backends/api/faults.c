/* SPDX-License-Identifier: Apache-2.0 */
/* What can be compiled of the kernel: its entries, the list of mistakes; and the folder of compiled
 * kernels. */
#include "backend_api.h"

#include <string.h>

static const struct fault faults[] = {
#define FAULT(macro, name, text) {name, text},
#include "device/faults.def"
#undef FAULT
};
static const char *const defines[] = {
#define FAULT(macro, name, text) "-DK_FAULT_" #macro,
#include "device/faults.def"
#undef FAULT
};

const struct kernel_entry_info kernel_entries[ENTRY_COUNT] = {
    [ENTRY_RENDER] = {"k_render", PART_RENDER, .whole = true},
    [ENTRY_TRACE] = {"k_trace", PART_TRACE, .whole = true},
    [ENTRY_ARITHMETIC] = {"k_arithmetic", PART_RENDER, .whole = true, .staged = true,
                          .piece = PIECE_ENDS},
    [ENTRY_PROBE] = {"k_probe", PART_PROBE, .whole = true},
    [ENTRY_PASSES] = {"k_passes", PART_PASSES, .whole = true},
    [ENTRY_HIT] = {"k_hit", PART_HIT, .whole = true},
    [ENTRY_START] = {"k_start_all", PART_RENDER, .staged = true, .piece = PIECE_ENDS},
    [ENTRY_FLY] = {"k_fly_all", PART_RENDER, .staged = true, .piece = PIECE_FLY},
    [ENTRY_SORT] = {"k_sort_all", PART_RENDER, .staged = true, .piece = PIECE_ENDS},
    [ENTRY_OCCLUDE] = {"k_occlude_all", PART_RENDER, .staged = true, .piece = PIECE_SHADE},
    [ENTRY_SHADE] = {"k_shade_all", PART_RENDER, .staged = true, .piece = PIECE_SHADE},
    [ENTRY_SHADOW] = {"k_shadow_all", PART_RENDER, .staged = true, .piece = PIECE_SHADOW},
    [ENTRY_FILM] = {"k_film_all", PART_RENDER, .staged = true, .piece = PIECE_ENDS},
};

const struct fault *faults_list(size_t *count)
{
    *count = sizeof faults / sizeof *faults;
    return faults;
}

const char *fault_define(const char *name)
{
    for (size_t i = 0; name && i < sizeof faults / sizeof *faults; i++)
        if (strcmp(faults[i].name, name) == 0)
            return defines[i];
    return "";
}

enum status kernel_cache_path(const char *key_hex, const char *suffix, char *buf, size_t size,
                              struct error *err)
{
    char dir[3072];
    enum status st = cache_dir("kernels", dir, sizeof dir, err);
    if (st)
        return st;
    int n = snprintf(buf, size, "%s/%s%s", dir, key_hex, suffix);
    if (n < 0 || (size_t)n >= size)
        return error_msg(err, STATUS_LIMIT, "the cache folder's name is too long: %s", dir);
    return STATUS_OK;
}

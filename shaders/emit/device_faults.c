/* SPDX-License-Identifier: Apache-2.0 */
/* device_faults.c: the device library with a mistake in it. */
#include "ir/offers.h"

#include <string.h>

static const struct {
    struct asl_fault shown;
    const char *from, *to;
} faults[] = {
#define DEVICE_FAULT(name, text, found_by, from, to) {{name, text, found_by}, from, to},
#include "device_faults.def"
#undef DEVICE_FAULT
};
enum { FAULTS = sizeof faults / sizeof *faults };

const struct asl_fault *asl_device_fault_at(size_t index)
{
    return index < FAULTS ? &faults[index].shown : NULL;
}

enum status asl_device_source_broken(const char *fault, struct text *out, struct error *err)
{
    size_t f = 0, changed = 0;
    while (f < FAULTS && strcmp(faults[f].shown.name, fault) != 0)
        f++;
    if (f == FAULTS)
        return error_msg(err, STATUS_MISSING, "the device library has no mistake '%s'", fault);
    const char *at = asl_device_source;
    for (const char *next; (next = strstr(at, faults[f].from)) != NULL; changed++) {
        text_append(out, at, (size_t)(next - at));
        text_puts(out, faults[f].to);
        at = next + strlen(faults[f].from);
    }
    text_puts(out, at);
    if (!changed)
        return error_msg(err, STATUS_INTERNAL,
                         "the device library does not hold the text of mistake '%s'", fault);
    return out->failed ? error_msg(err, STATUS_MEMORY, "out of memory") : STATUS_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* texture_pairs.c: the pairs of texture() and environment() (docs/reference/asl.md, Textures). */
#include "asl.h"

#include <string.h>

static const struct asl_texture_word wraps[] = {
    {"black", ASL_WRAP_BLACK},   {"clamp", ASL_WRAP_CLAMP},       {"default", ASL_WRAP_BLACK},
    {"mirror", ASL_WRAP_MIRROR}, {"periodic", ASL_WRAP_PERIODIC}, {NULL, ASL_WRAP_BLACK}};
static const struct asl_texture_word interps[] = {
    {"bicubic", ASL_FILTER_CUBIC},    {"bilinear", ASL_FILTER_LINEAR},
    {"closest", ASL_FILTER_CLOSEST},  {"cubic", ASL_FILTER_CUBIC},
    {"linear", ASL_FILTER_LINEAR},    {"nearest", ASL_FILTER_CLOSEST},
    {"smartcubic", ASL_FILTER_SMART}, {NULL, ASL_FILTER_SMART}};

static const struct asl_texture_option options[] = {
    {.key = "wrap", .base = ASL_STRING, .words = wraps, .wraps = true, .flat = true},
    {.key = "swrap", .base = ASL_STRING, .words = wraps, .wraps = true, .flat = true},
    {.key = "twrap", .base = ASL_STRING, .words = wraps, .wraps = true, .flat = true},
    {.key = "interp", .base = ASL_STRING, .words = interps},
    {.key = "width", .base = ASL_FLOAT},
    {.key = "swidth", .base = ASL_FLOAT},
    {.key = "twidth", .base = ASL_FLOAT},
    {.key = "blur", .base = ASL_FLOAT},
    {.key = "sblur", .base = ASL_FLOAT},
    {.key = "tblur", .base = ASL_FLOAT},
    {.key = "fill", .base = ASL_FLOAT},
    {.key = "anisotropic", .base = ASL_INT},
    {.key = "firstchannel", .base = ASL_INT},
    {.key = "subimage", .base = ASL_INT},
    {.key = "missingcolor", .base = ASL_COLOR},
    {.key = "missingalpha", .base = ASL_FLOAT},
    {.key = "alpha", .base = ASL_FLOAT, .written = true},
    {.key = "errormessage", .base = ASL_STRING, .written = true},
    {.key = "rwrap", .base = ASL_STRING, .idle = true},
    {.key = "rwidth", .base = ASL_FLOAT, .idle = true},
    {.key = "rblur", .base = ASL_FLOAT, .idle = true},
    {.key = "time", .base = ASL_FLOAT, .idle = true},
    {.key = "", .idle = true}}; /* OSL passes over it */

/* Look-ups do this for each pair. */
static inline bool same(const char *a, const char *b) { return a[0] == b[0] && strcmp(a, b) == 0; }

const struct asl_texture_option *asl_texture_option(const char *key)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (same(options[i].key, key))
            return &options[i];
    return NULL;
}

bool asl_texture_takes(const struct asl_texture_option *o, struct asl_type t)
{
    return asl_is(t, o->base) || (o->base == ASL_FLOAT && !o->written && asl_is(t, ASL_INT)) ||
           (o->base == ASL_COLOR && asl_is_triple(t)) ||
           (strcmp(o->key, "subimage") == 0 && asl_is(t, ASL_STRING));
}

const struct asl_texture_word *asl_texture_word(const struct asl_texture_option *o,
                                                const char *name)
{
    const struct asl_texture_word *w = o->words;
    while (w->name && !same(w->name, name))
        w++;
    return w;
}

enum asl_pair_fault asl_pair_fault(enum asl_builtin_id id, const struct asl_texture_option *o,
                                   struct asl_type t, bool written, const char *value)
{
    if (!o)
        return ASL_PAIR_NO_OPTION;
    if (o->idle || (o->flat && id == BI_ENVIRONMENT))
        return ASL_PAIR_FITS;
    if (!asl_texture_takes(o, t))
        return ASL_PAIR_TYPE;
    if (o->written && !written)
        return ASL_PAIR_UNWRITTEN;
    if (!value || o->written || !o->words)
        return ASL_PAIR_FITS;
    return asl_texture_word(o, value)->name ? ASL_PAIR_FITS : ASL_PAIR_VALUE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What a program is compiled from and for. */
#include "backend_api.h"

#include <string.h>

/* ---- names ---------------------------------------------------------------------------------- */

/* NAME_name and NAME_find of backends.h. */
#define NAMES(type, list)                                                                          \
    static const char *const type##_names[] = {list(LIST_TEXT)};                                   \
    enum { type##_count = sizeof type##_names / sizeof *type##_names };                            \
    const char *type##_name(enum type x) { return type##_names[x]; }
// NOLINTBEGIN(bugprone-macro-parentheses): a type's tag
#define FINDS(type)                                                                                \
    bool type##_find(const char *name, enum type *out)                                             \
    {                                                                                              \
        int i = name_index(name, type##_names, type##_count);                                      \
        if (i >= 0)                                                                                \
            *out = (enum type)i;                                                                   \
        return i >= 0;                                                                             \
    }
// NOLINTEND(bugprone-macro-parentheses)
NAMES(math_mode, MATH_MODE_LIST)
NAMES(bvh_kind, BVH_KIND_LIST)
NAMES(exec_model, EXEC_MODEL_LIST)
NAMES(code_path, CODE_PATH_LIST)
NAMES(cache_preference, CACHE_LIST)
FINDS(math_mode)
FINDS(bvh_kind)
FINDS(exec_model)
FINDS(code_path)
FINDS(cache_preference)

/* ---- programs ------------------------------------------------------------------------------- */

unsigned bvh_define(enum bvh_kind tree)
{
    static const unsigned defines[BVH_COUNT] = {
        [BVH_BINARY] = 2, [BVH_WIDE8] = 8, [BVH_COMPRESSED8] = 80, [BVH_LINEAR] = 1};
    return defines[tree];
}

struct program_request program_request_make(enum math_mode mode)
{
    struct program_request r = {
        .mode = mode, .features = K_FEATURES_EXACT, .source = kernel_source};
    snprintf(r.source_hash, sizeof r.source_hash, "%s", kernel_source_hash);
    return r;
}

struct program_request program_request_of_part(const struct program_request *all,
                                               enum program_part part)
{
    struct program_request r = *all;
    r.part = part;
    r.staged = all->staged && part == PART_RENDER;
    if (r.abreast && part != PART_RENDER) { /* one program for all such scenes */
        r.abreast = false;
        r.features |= K_FEATURES_EXACT;
    }
    if ((part == PART_PROBE || part == PART_HIT) && r.features & K_FEATURES_OF_TEXT) {
        const struct program_request bare = program_request_make(r.mode);
        r.features = (r.features & ~K_FEATURES_OF_TEXT) | K_FEATURES_EXACT;
        r.source = bare.source;
        memcpy(r.source_hash, bare.source_hash, sizeof r.source_hash);
        r.shaders = NULL;
    }
    if (part == PART_HIT)
        r.features = K_FEATURE_ALL & ~K_FEATURES_OF_TEXT;
    if (part == PART_PROBE)
        r.tree = BVH_AUTO; /* it looks at none */
    return r;
}

/* What flights and shadow rays look at. What cutouts are made of counts where there are any. */
static uint32_t ray_features(uint32_t features)
{
    const uint32_t of_rays =
                       K_FEATURE_INSTANCES | K_FEATURE_CUTOUTS | K_FEATURE_MEDIA | K_FEATURE_ROUND,
                   of_cutouts = K_FEATURE_TEXTURES | K_FEATURE_TEXELS16 | K_FEATURE_LOBES |
                                K_FEATURE_SHADERS;
    return of_rays | (features & K_FEATURE_CUTOUTS ? of_cutouts : 0);
}

struct program_request program_request_of_piece(const struct program_request *all,
                                                enum program_piece piece)
{
    const struct program_request bare = program_request_make(all->mode);
    struct program_request r = *all;
    r.piece = piece;
    if (piece == PIECE_SHADE && !(r.features & K_FEATURE_RAYS)) { /* it looks at no tree */
        r.tree = BVH_AUTO;
        r.features &= ~K_FEATURE_CUTOUTS;
        if (!(r.features & K_FEATURE_SHADERS)) /* which ask for neighbours' rays */
            r.features &= ~K_FEATURE_CAMERAS;
    }
    if (piece == PIECE_WHOLE || piece == PIECE_SHADE)
        return r;
    if (piece == PIECE_ENDS)
        r.features &= K_FEATURE_CAMERAS | K_FEATURE_INSTANCES | K_FEATURE_MEDIA | K_FEATURE_SHADERS;
    else if (piece == PIECE_FLY)
        r.features &= ray_features(r.features) | K_FEATURES_OF_TEXT;
    else
        r.features &= ray_features(r.features);
    r.source = bare.source;
    memcpy(r.source_hash, bare.source_hash, sizeof r.source_hash);
    r.shaders = NULL;
    if (piece == PIECE_ENDS)
        r.tree = BVH_AUTO; /* it looks at none */
    return r;
}

static bool text_equal(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool program_request_equal(const struct program_request *a, const struct program_request *b)
{
    return a->mode == b->mode && text_equal(a->fault, b->fault) && a->count_rays == b->count_rays &&
           a->staged == b->staged && a->piece == b->piece && a->abreast == b->abreast &&
           a->few_samples == b->few_samples && a->registers == b->registers &&
           a->cache == b->cache && a->code == b->code && a->tree == b->tree &&
           a->features == b->features && strcmp(a->source_hash, b->source_hash) == 0;
}

enum status program_defines(const struct program_request *r, char *buf, size_t size,
                            struct error *err)
{
    const char *fault = fault_define(r->fault);
    char piece[24] = "";
    if (r->piece != PIECE_WHOLE)
        snprintf(piece, sizeof piece, " -DK_PIECE=%d", (int)r->piece);
    int n = snprintf(buf, size, "-DK_MODE=%d -DK_BVH=%u -DK_PART=%d -DK_FEATURES=0x%xu%s%s%s%s%s",
                     (int)r->mode, bvh_define(r->tree), (int)r->part, (unsigned)r->features,
                     r->count_rays && r->part == PART_RENDER ? " -DK_COUNT_RAYS" : "",
                     r->staged ? " -DK_STAGED" : "", piece, fault[0] ? " " : "", fault);
    if (n < 0 || (size_t)n >= size)
        return error_msg(err, STATUS_LIMIT, "the kernel's definitions are too long");
    return STATUS_OK;
}

const char *const shade_float_flags[3] = {
    [MODE_STRICT] = "", [MODE_DEVICE] = " contract", [MODE_FAST] = " contract nsz arcp"};

enum status program_shaders(const struct program_request *r, struct text *out, struct error *err)
{
    const char *at = r->shaders, *mark;
    for (; (mark = strstr(at, SHADE_FLAGS_MARK)) != NULL; at = mark + strlen(SHADE_FLAGS_MARK)) {
        text_append(out, at, (size_t)(mark - at));
        text_puts(out, shade_float_flags[r->mode]);
    }
    text_puts(out, at);
    return out->failed ? error_msg(err, STATUS_MEMORY, "out of memory for a scene's shaders")
                       : STATUS_OK;
}

bool kernel_entry_in(const struct program_request *r, enum kernel_entry entry)
{
    const struct kernel_entry_info *e = &kernel_entries[entry];
    return e->part == r->part && (r->staged ? e->staged : e->whole) &&
           (r->piece == PIECE_WHOLE || r->piece == e->piece);
}

void kernel_entries_of(const struct program_request *r, const char *names[ENTRY_COUNT + 1])
{
    size_t n = 0;
    for (int i = 0; i < ENTRY_COUNT; i++)
        if (kernel_entry_in(r, (enum kernel_entry)i))
            names[n++] = kernel_entries[i].name;
    names[n] = NULL;
}

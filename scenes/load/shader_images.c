/* SPDX-License-Identifier: Apache-2.0 */
/* The images that shaders name. All strings that a group can show to texture() before it runs are
 * tried as files, once; what a shader makes up while it runs is no image. So the set is known
 * before a picture starts, and can be part of a scene's hash. */
#include "cache/offers.h"
#include "shaders.h"

#include <string.h>
#include <unistd.h>

struct gathering {
    struct arena *arena;
    const char *beside;
    struct shader_images *out;
    struct error *err;
    bool wanted; /* the group calls a function that looks at images */
    bool all;    /* and may ask for a subimage of a file */
    enum status status;
};

static void note_call(void *ctx, const char *builtin, struct src_pos at)
{
    struct gathering *g = ctx;
    (void)at;
    if (strcmp(builtin, "texture") == 0 || strcmp(builtin, "environment") == 0 ||
        strcmp(builtin, "gettextureinfo") == 0)
        g->wanted = true;
}

/* Any string may become the name of a pair. */
static void note_string(void *ctx, const char *text)
{
    struct gathering *g = ctx;
    g->all = g->all || strcmp(text, "subimage") == 0;
}

static struct shader_image *find(const struct shader_images *s, const char *name)
{
    struct shader_image *i = s->first;
    while (i && strcmp(i->name, name) != 0)
        i = i->next;
    return i;
}

const struct asl_image *shader_images_find(const struct shader_images *s, const char *name)
{
    const struct shader_image *i = find(s, name);
    return i ? &i->image : NULL;
}

struct shader_image_fault {
    const char *name, *why;
    struct shader_image_fault *next;
};

static const char *find_fault(const struct shader_images *s, const char *name)
{
    for (const struct shader_image_fault *f = s->faults; f; f = f->next)
        if (strcmp(f->name, name) == 0)
            return f->why;
    return NULL;
}

const char *shader_images_fault(const struct shader_images *s, const char *name)
{
    const char *why = find_fault(s, name);
    return why ? why : "its name stands neither in the shaders' text nor in a parameter";
}

static enum status add_fault(struct gathering *g, const char *name, const char *why)
{
    struct shader_image_fault *f = ARENA_NEW(g->arena, struct shader_image_fault);
    if (!f || !(f->name = arena_strdup(g->arena, name)) || !(f->why = arena_strdup(g->arena, why)))
        return error_msg(g->err, STATUS_MEMORY, "out of memory for image %s", name);
    f->next = g->out->faults;
    g->out->faults = f;
    return STATUS_OK;
}

static void no_memory(struct gathering *g, const char *name)
{
    g->status = error_msg(g->err, STATUS_MEMORY, "out of memory for image %s", name);
}

/* A further one of that name, at the end of the list; NULL when memory is short. */
static struct shader_image *add_name(struct gathering *g, const char *name)
{
    struct shader_image *i = ARENA_NEW(g->arena, struct shader_image), **tail = &g->out->first;
    if (!i || !(i->name = arena_strdup(g->arena, name))) {
        no_memory(g, name);
        return NULL;
    }
    while (*tail)
        tail = &(*tail)->next;
    *tail = i;
    return i;
}

/* The levels of a subimage as shaders see them. */
static void build(struct gathering *g, const char *name, const struct image_levels *file,
                  struct asl_image *out)
{
    struct asl_image_level levels[IMAGE_LEVELS_MAX];
    for (uint32_t l = 0; l < file->count; l++) {
        const struct image *im = &file->level[l];
        levels[l] = (struct asl_image_level){im->width, im->height, image_linear(g->arena, im)};
        if (!levels[l].texels) {
            no_memory(g, name);
            return;
        }
    }
    if (file->count)
        g->status = asl_image_of_levels(g->arena, file->level[0].channels, levels, file->count, out,
                                        g->err);
    out->given_count -= file->count ? file->made : 0;
    out->subimage_name = file->name;
}

/* "PATH: what", behind what is said of the file already. */
static void warn(struct gathering *g, struct shader_image *i, const char *path, const char *what)
{
    const char *before = i->warning ? i->warning : "", *comma = i->warning ? "; " : "";
    if (what[0] && !(i->warning = arena_printf(g->arena, "%s%s%s: %s", before, comma, path, what)))
        no_memory(g, i->name);
}

static void build_more(struct gathering *g, struct shader_image *to, const char *path,
                       const struct image_file *file)
{
    struct asl_image *more = ARENA_ARRAY(g->arena, struct asl_image, file->count - 1);
    if (!more)
        no_memory(g, to->name);
    for (uint32_t i = 0; more && i + 1 < file->count && g->status == STATUS_OK; i++) {
        const struct image_levels *l = &file->more[i];
        char what[300];
        build(g, to->name, l, &more[i]);
        (void)snprintf(what, sizeof what, "subimage %u: %s", i + 1, l->ended);
        warn(g, to, path, l->ended[0] ? what : "");
    }
    to->image.more = more;
}

void shader_images_note_whole(struct shader_images *s, const char *path)
{
    s->first_whole = s->whole++ ? s->first_whole : path;
}

/* On demand where that is wanted and possible. */
static enum status read_file(struct gathering *g, const char *path, bool all,
                             struct image_file *out, struct error *why)
{
    if (g->out->cache) {
        const enum status st = cache_file(g->arena, g->out->cache, path, all, out, why);
        if (st != STATUS_UNSUPPORTED)
            return st;
    }
    const enum status st = image_read_file(g->arena, path, COLOR_SHADER, all, out, why);
    if (st == STATUS_OK && g->out->cache)
        shader_images_note_whole(g->out, path);
    return st;
}

/* The image in a file; NULL when it is none, and why. */
static struct shader_image *try_file(struct gathering *g, const char *name, struct error *why)
{
    struct image_file file;
    struct asl_image built = {0};
    const char *path = path_beside(g->arena, g->beside, name);
    if (!path)
        no_memory(g, name);
    if (!path || read_file(g, path, g->all, &file, why) != STATUS_OK)
        return NULL;
    build(g, name, &file.first, &built);
    built.subimage_count = file.count;
    struct shader_image *added = g->status == STATUS_OK ? add_name(g, name) : NULL;
    if (!added)
        return NULL;
    added->image = built;
    warn(g, added, path, file.first.ended);
    if (file.more)
        build_more(g, added, path, &file);
    if (g->all)
        warn(g, added, path, file.ended);
    return added;
}

/* The subimages of an image that was read without them. */
static void complete(struct gathering *g, struct shader_image *i)
{
    struct image_file file;
    struct error why = {0};
    const char *path = path_beside(g->arena, g->beside, i->name);
    if (!g->all || i->image.more || i->image.subimage_count < 2 || i->image.tiles)
        return;
    if (!path)
        no_memory(g, i->name);
    else if (read_file(g, path, true, &file, &why) != STATUS_OK)
        warn(g, i, path, why.msg);
    else if (file.count == i->image.subimage_count)
        build_more(g, i, path, &file);
}

/* One of a set; NULL when there is no such file, and, when the file is no image, why. */
static const struct asl_image *try_tile(struct gathering *g, const char *name, struct error *why)
{
    struct shader_image *known = find(g->out, name);
    const char *path = known ? NULL : path_beside(g->arena, g->beside, name);
    if (!known && !path)
        no_memory(g, name);
    if (known)
        complete(g, known);
    else if (path && input_file_there(path))
        known = try_file(g, name, why);
    return known ? &known->image : NULL;
}

/* A name with <UDIM> is all the images with 1001 ... 1100 in its place. set: what is known of them
 * already, or NULL. */
static void try_set(struct gathering *g, const char *name, const char *mark,
                    struct shader_image *set, struct error *why)
{
    const struct asl_image **tiles = ARENA_ARRAY(g->arena, const struct asl_image *, ASL_TILES);
    const struct asl_image *first = NULL;
    const char *rest = mark + strlen("<UDIM>");
    uint32_t most = 1;
    if (!tiles) {
        no_memory(g, name);
        return;
    }
    for (int i = 0; i < ASL_TILES && g->status == STATUS_OK && !why->msg[0]; i++) {
        const char *one =
            arena_printf(g->arena, "%.*s%d%s", (int)(mark - name), name, 1001 + i, rest);
        if (!one)
            no_memory(g, name);
        else
            tiles[i] = try_tile(g, one, why);
        first = first ? first : tiles[i];
        if (tiles[i] && tiles[i]->subimage_count > most)
            most = tiles[i]->subimage_count;
    }
    if (g->status != STATUS_OK || why->msg[0])
        return;
    if (first && !set)
        set = add_name(g, name);
    if (first && set) {
        set->image = *first;
        set->image.tiles = tiles;
        set->image.more = NULL;
        set->image.subimage_count = most;
    }
    if (!first)
        (void)error_msg(why, STATUS_MISSING,
                        "no file has a number 1001 to 1100 in place of <UDIM>");
}

static void try_string(void *ctx, const char *text)
{
    struct gathering *g = ctx;
    struct error why = {0};
    if (g->status != STATUS_OK || !*text || strlen(text) > 1024 || find_fault(g->out, text))
        return;
    struct shader_image *known = find(g->out, text);
    const char *mark = strstr(text, "<UDIM>");
    if (known && !mark)
        complete(g, known);
    else if (mark && (!known || g->all))
        try_set(g, text, mark, known, &why);
    else if (!known)
        (void)try_file(g, text, &why);
    if (g->status == STATUS_OK && why.msg[0])
        g->status = add_fault(g, text, why.msg);
}

enum status shader_images_load(struct arena *a, const char *beside, const struct asl_group *group,
                               struct shader_images *out, struct error *err)
{
    struct gathering g = {.arena = a, .beside = beside, .out = out, .err = err};
    struct asl_survey calls = {.ctx = &g, .call = note_call};
    struct asl_survey strings = {.ctx = &g, .string = try_string};
    struct asl_survey options = {.ctx = &g, .string = note_string};
    enum status s = asl_group_survey(group, &calls, err);
    if (s == STATUS_OK && g.wanted)
        s = asl_group_survey(group, &options, err);
    if (s == STATUS_OK && g.wanted)
        s = asl_group_survey(group, &strings, err);
    return s == STATUS_OK ? g.status : s;
}

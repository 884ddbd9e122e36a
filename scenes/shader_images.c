/* The images that shaders name. All strings that a group can show to texture() before it runs are
 * tried as files, once; what a shader makes up while it runs is no image. So the set is known
 * before a picture starts, and can be part of a scene's hash. */
#include "image_format.h"
#include "shaders.h"

#include <string.h>

struct gathering {
    struct arena *arena;
    const char *beside;
    struct shader_images *out;
    struct error *err;
    bool wanted; /* the group calls a function that looks at images */
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

const struct asl_image *shader_images_find(const struct shader_images *s, const char *name)
{
    for (const struct shader_image *i = s->first; i; i = i->next)
        if (strcmp(i->name, name) == 0)
            return &i->image;
    return NULL;
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

static enum status add_image(struct gathering *g, const char *name, const struct image *image)
{
    struct shader_image *i = ARENA_NEW(g->arena, struct shader_image);
    const float *texels = image_linear(g->arena, image);
    if (!i || !texels || !(i->name = arena_strdup(g->arena, name)))
        return error_msg(g->err, STATUS_MEMORY, "out of memory for image %s", name);
    enum status s = asl_image_build(g->arena, image->width, image->height, image->channels, texels,
                                    &i->image, g->err);
    if (s != STATUS_OK)
        return s;
    struct shader_image **tail = &g->out->first;
    while (*tail)
        tail = &(*tail)->next;
    *tail = i;
    return STATUS_OK;
}

static void try_string(void *ctx, const char *text)
{
    struct gathering *g = ctx;
    struct image image;
    struct error why = {0};
    if (g->status != STATUS_OK || !*text || strlen(text) > 1024 ||
        shader_images_find(g->out, text) || find_fault(g->out, text))
        return;
    const char *path = path_beside(g->arena, g->beside, text);
    if (!path)
        g->status = error_msg(g->err, STATUS_MEMORY, "out of memory for image %s", text);
    else if (image_read_as(g->arena, path, COLOR_SHADER, &image, &why) == STATUS_OK)
        g->status = add_image(g, text, &image);
    else
        g->status = add_fault(g, text, why.msg);
}

enum status shader_images_load(struct arena *a, const char *beside, const struct asl_group *group,
                               struct shader_images *out, struct error *err)
{
    struct gathering g = {.arena = a, .beside = beside, .out = out, .err = err};
    struct asl_survey calls = {.ctx = &g, .call = note_call};
    struct asl_survey strings = {.ctx = &g, .string = try_string};
    enum status s = asl_group_survey(group, &calls, err);
    if (s == STATUS_OK && g.wanted)
        s = asl_group_survey(group, &strings, err);
    return s == STATUS_OK ? g.status : s;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The file: sections behind each other in base's sealed form, under the key of the identity.
 *
 *     identity   all that the bits depend on, as JSON
 *     shape      struct shape
 *     said       what shaders said so far
 *     film       a device's sums
 *     passes, values.N, sums, materials
 *                struct passes_shape; whole rows of pass N; the strip under way
 *     pixels, more.N
 *                of the reference: struct reference_state
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "render_checkpoint.h"

#include <assert.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[8] = {'I', 'S', 'O', 'C', 'K', 'P', 'T', '\n'};

struct shape {
    uint32_t width, height;
    int32_t exponent;
    uint32_t round, pixel_size, unused;
};
struct passes_shape {
    uint32_t bits, rows, strip_samples, spp;
};

/* ---- sections ------------------------------------------------------------------------------- */

struct section {
    char name[16];
    uint64_t size;
};
static_assert(sizeof(struct section) == 24, "layout of a file");

enum { SECTIONS_MAX = 8 + 2 * PASS_COUNT };
struct sections {
    struct section heads[SECTIONS_MAX];
    struct file_piece pieces[3 * SECTIONS_MAX];
    size_t count;
};

static void section_add(struct sections *s, const char *name, const void *data, size_t size)
{
    static const char zeros[8];
    if (!size)
        return;
    assert(s->count < SECTIONS_MAX);
    struct section *head = &s->heads[s->count];
    *head = (struct section){.size = size};
    snprintf(head->name, sizeof head->name, "%s", name);
    struct file_piece *p = s->pieces + 3 * s->count++;
    p[0] = (struct file_piece){head, sizeof *head};
    p[1] = (struct file_piece){data, size};
    p[2] = (struct file_piece){zeros, (0 - size) & 7};
}

/* NULL: there is none, or of another size than expected (0: any). */
static const void *section_find(const char *data, size_t size, const char *name, size_t expected,
                                size_t *found)
{
    for (size_t at = 0; size - at >= sizeof(struct section);) {
        struct section head;
        memcpy(&head, data + at, sizeof head);
        at += sizeof head;
        const uint64_t padded = (head.size + 7) & ~UINT64_C(7);
        if (padded < head.size || padded > size - at)
            return NULL;
        if (strncmp(head.name, name, sizeof head.name) == 0) {
            if (found)
                *found = (size_t)head.size;
            return !expected || head.size == expected ? data + at : NULL;
        }
        at += (size_t)padded;
    }
    return NULL;
}

static const char *numbered(char name[16], const char *of, int number)
{
    snprintf(name, 16, "%s.%d", of, number);
    return name;
}

/* ---- writing -------------------------------------------------------------------------------- */

static void note(const char *text)
{
    progress_end();
    if (note_say)
        note_say(text);
}

static void note_failure(bool *said, const char *what, const struct error *err)
{
    char text[1400];
    snprintf(text, sizeof text, "%s: %s; the render goes on", what, err->msg);
    if (!*said)
        note(text);
    *said = true;
}

/* When that much has passed since what began at `start`, and so many times the seconds it took. */
static double next_time(double start, double interval_s, double times)
{
    const double now = clock_s();
    return now + fmax(fmax(interval_s, 0.02), times * (now - start));
}
/* A tenth of the time goes into checkpoints at most, half of it into pictures, which are asked for. */
enum { SAVE_TIMES = 9, UPDATE_TIMES = 1 };

static void save(struct checkpoint *c, const struct sections *own, double share, bool stopping)
{
    const double start = clock_s();
    if (!c->path || (!stopping && start < c->next_save))
        return;
    /* Who forgot --resume and stops at once finds what there was. */
    if (stopping && c->other && !c->written)
        return;
    struct sections s = {0};
    struct arena a = {0};
    struct text said = {0};
    struct error err = {0};
    const char *identity = identity_text(&a, c->identity);
    if (c->texts)
        text_puts(&said, c->texts);
    if (c->said)
        c->said(c->ctx, &said);
    if (identity && !said.failed) {
        section_add(&s, "identity", identity, strlen(identity));
        section_add(&s, "said", said.data, said.len);
        for (size_t i = 0; i < own->count; i++) /* the heads go with them */
            section_add(&s, own->heads[i].name, own->pieces[3 * i + 1].data,
                        own->pieces[3 * i + 1].size);
        /* Whoever stops it does not wait for a disk. */
        (void)sealed_write(c->path, magic, c->identity->key, s.pieces, 3 * s.count, !stopping,
                           &err);
    } else {
        error_msg(&err, STATUS_MEMORY, "out of memory");
    }
    if (err.code) {
        note_failure(&c->said_save, "no checkpoint", &err);
    } else {
        c->written = true;
        c->share = share;
    }
    text_free(&said);
    arena_free(&a);
    if (stopping)
        checkpoint_say(c); /* who stops it may do so for good before the picture is written */
    c->next_save = next_time(start, c->interval_s, SAVE_TIMES);
}

/* The picture so far, made by `fill` from `from`, if it is time for one. */
static void update(struct checkpoint *c, void (*fill)(const void *from, float *rgb),
                   const void *from, double share, bool stopping)
{
    const double start = clock_s();
    struct error err = {0};
    if (c->update_s <= 0 || (!stopping && start < c->next_update))
        return;
    float *rgb = malloc(3 * sizeof *rgb * c->width * c->height);
    if (!rgb)
        error_msg(&err, STATUS_MEMORY, "out of memory");
    else
        fill(from, rgb);
    if (!rgb || c->picture(c->ctx, rgb, share * c->spp, &err) != STATUS_OK)
        note_failure(&c->said_update, "no picture so far", &err);
    free(rgb);
    c->next_update = next_time(start, c->update_s, UPDATE_TIMES);
}

static void film_fill(const void *from, float *rgb) { film_rgb(from, rgb); }
static void state_fill(const void *from, float *rgb) { reference_state_rgb(from, rgb); }

bool checkpoint_due(void *ctx)
{
    const struct checkpoint *c = ctx;
    const double now = clock_s();
    return (c->path && now >= c->next_save) || (c->update_s > 0 && now >= c->next_update);
}

static void nothing_yet(struct checkpoint *c)
{
    c->next_save = next_time(clock_s(), c->interval_s, 0);
    c->next_update = next_time(clock_s(), c->update_s, 0);
}

static size_t pixels_of(const struct checkpoint *c) { return (size_t)c->width * c->height; }

static double share_of(const struct checkpoint *c, uint64_t samples)
{
    return (double)samples / ((double)pixels_of(c) * c->spp);
}

static void film_sections(const struct checkpoint *c, const struct film *f, struct shape *shape,
                          struct sections *s)
{
    *shape = (struct shape){.width = c->width, .height = c->height, .exponent = c->exponent};
    section_add(s, "shape", shape, sizeof *shape);
    section_add(s, "film", f->sums, pixels_of(c) * 4 * sizeof *f->sums);
}

void checkpoint_film(void *ctx, const struct film *so_far, bool stopping)
{
    struct checkpoint *c = ctx;
    struct sections s = {0};
    struct shape shape;
    uint64_t samples = 0;
    if (film_check_part(so_far, c->spp, &samples, NULL) != STATUS_OK || samples == 0) {
        nothing_yet(c); /* or the render will end with that finding */
        return;
    }
    film_sections(c, so_far, &shape, &s);
    save(c, &s, share_of(c, samples), stopping);
    update(c, film_fill, so_far, share_of(c, samples), stopping);
}

void checkpoint_passes(void *ctx, const struct passes_state *so_far, bool stopping)
{
    struct checkpoint *c = ctx;
    struct sections s = {0};
    struct shape shape;
    char name[16];
    const struct passes_shape passes = {so_far->bits, so_far->rows, so_far->strip_samples, c->spp};
    film_sections(c, c->film, &shape, &s);
    section_add(&s, "passes", &passes, sizeof passes);
    for (int i = 0; i < PASS_COUNT; i++)
        if (so_far->values.values[i])
            section_add(&s, numbered(name, "values", i), so_far->values.values[i],
                        sizeof(float) * pass_infos[i].channels * so_far->rows * c->width);
    section_add(&s, "sums", so_far->sums, so_far->sum_count * sizeof *so_far->sums);
    section_add(&s, "materials", so_far->materials,
                so_far->material_count * sizeof *so_far->materials);
    save(c, &s, 1, stopping);
    c->next_update = INFINITY; /* no pass shows in it */
}

void checkpoint_state(void *ctx, const struct reference_state *so_far, bool stopping)
{
    struct checkpoint *c = ctx;
    struct sections s = {0};
    char name[16];
    uint64_t samples = 0;
    const struct shape shape = {.width = c->width,
                                .height = c->height,
                                .round = so_far->round,
                                .pixel_size = (uint32_t)so_far->pixel_size};
    if (reference_state_check(so_far, c->spp, &samples, NULL) != STATUS_OK || samples == 0) {
        nothing_yet(c);
        return;
    }
    section_add(&s, "shape", &shape, sizeof shape);
    section_add(&s, "pixels", so_far->pixels, pixels_of(c) * so_far->pixel_size);
    for (int i = 0; i < PASS_COUNT; i++)
        if (so_far->more[i])
            section_add(&s, numbered(name, "more", i), so_far->more[i],
                        sizeof(double) * pass_infos[i].channels * pixels_of(c));
    save(c, &s, share_of(c, samples), stopping);
    update(c, state_fill, so_far, share_of(c, samples), stopping);
}

/* ---- reading -------------------------------------------------------------------------------- */

static enum status key_check(struct checkpoint *c, const char *data, size_t size, const char *key,
                             struct error *err)
{
    size_t length;
    const char *text = section_find(data, size, "identity", 0, &length);
    const struct json *nested;
    const struct identity *before;
    struct text t = {0};
    if (strcmp(key, c->identity->key) == 0)
        return STATUS_OK;
    if (!text)
        return error_msg(err, STATUS_TYPE, "%s is of another render", c->path);
    TRY(json_parse(&c->arena, c->path, text, length, &nested, err));
    TRY(identity_back(&c->arena, c->path, "checkpoint", nested, &before, err));
    identity_difference(before, c->identity, &t);
    error_msg(err, STATUS_TYPE, "%s is of another render: %s", c->path, t.data ? t.data : "");
    text_free(&t);
    return STATUS_TYPE;
}

static enum status damaged(const struct checkpoint *c, struct error *err)
{
    return error_msg(err, STATUS_PARSE, "%s is damaged", c->path);
}

/* Passes of other samples than this render's are of no use: they are made again. */
static enum status passes_take(struct checkpoint *c, const char *data, size_t size,
                               struct error *err)
{
    struct passes_shape shape;
    struct passes_state p = {.values = {.width = c->width, .height = c->height}};
    char name[16];
    const void *found = section_find(data, size, "passes", sizeof shape, NULL);
    if (!found)
        return STATUS_OK;
    memcpy(&shape, found, sizeof shape);
    if (shape.rows > c->height || shape.strip_samples > shape.spp)
        return damaged(c, err);
    p.bits = shape.bits;
    p.rows = shape.rows;
    p.strip_samples = shape.strip_samples;
    for (int i = 0; i < PASS_COUNT && p.rows; i++) {
        size_t bytes = sizeof(float) * pass_infos[i].channels * p.rows * c->width;
        float *rows = NULL;
        if (!(p.bits & 1u << i))
            continue;
        found = section_find(data, size, numbered(name, "values", i), bytes, NULL);
        if (!found)
            return damaged(c, err);
        rows = ARENA_ARRAY(&c->arena, float, bytes / sizeof *rows);
        if (!rows)
            return error_msg(err, STATUS_MEMORY, "out of memory for %s", c->path);
        memcpy(rows, found, bytes);
        p.values.values[i] = rows;
    }
    if (p.strip_samples) {
        size_t sums = 0, materials = 0;
        p.sums = section_find(data, size, "sums", 0, &sums);
        p.materials = section_find(data, size, "materials", 0, &materials);
        p.sum_count = sums / sizeof *p.sums;
        p.material_count = materials / sizeof *p.materials;
        if (!p.sums || !p.materials)
            return damaged(c, err);
    }
    if (shape.spp == c->spp)
        c->passes = p;
    return STATUS_OK;
}

static enum status film_take(struct checkpoint *c, const char *data, size_t size, struct error *err)
{
    struct error why = {0};
    const size_t bytes = pixels_of(c) * 4 * sizeof *c->sums;
    const struct film film = {.width = c->width,
                              .height = c->height,
                              .exponent = c->exponent,
                              .sums = (int64_t *)section_find(data, size, "film", bytes, NULL)};
    if (!film.sums)
        return damaged(c, err);
    enum status s = film_check_part(&film, c->spp, &c->samples, &why);
    if (s != STATUS_OK)
        return error_msg(err, s == STATUS_RANGE ? s : STATUS_PARSE, "%s: %.400s", c->path, why.msg);
    c->sums = film.sums;
    return passes_take(c, data, size, err);
}

static enum status state_take(struct checkpoint *c, const char *data, size_t size,
                              const struct shape *shape, struct error *err)
{
    struct error why = {0};
    char name[16];
    struct reference_state r = {.width = c->width,
                                .height = c->height,
                                .round = shape->round,
                                .pixel_size = shape->pixel_size};
    r.pixels = section_find(data, size, "pixels", pixels_of(c) * r.pixel_size, NULL);
    if (!r.pixels)
        return damaged(c, err);
    for (int i = 0; i < PASS_COUNT; i++)
        r.more[i] = section_find(data, size, numbered(name, "more", i),
                                 sizeof(double) * pass_infos[i].channels * pixels_of(c), NULL);
    enum status s = reference_state_check(&r, c->spp, &c->samples, &why);
    if (s != STATUS_OK)
        return error_msg(err, s == STATUS_RANGE ? s : STATUS_PARSE, "%s: %.400s", c->path, why.msg);
    c->state = r;
    return STATUS_OK;
}

static enum status take_up(struct checkpoint *c, struct error *err)
{
    const void *data;
    size_t size, length;
    char key[33];
    struct shape shape;
    TRY(sealed_read(&c->arena, c->path, magic, key, &data, &size, err));
    TRY(key_check(c, data, size, key, err));
    const void *found = section_find(data, size, "shape", sizeof shape, NULL);
    if (!found)
        return damaged(c, err);
    memcpy(&shape, found, sizeof shape);
    if (shape.width != c->width || shape.height != c->height)
        return damaged(c, err);
    if (section_find(data, size, "film", 0, NULL))
        TRY(shape.exponent == c->exponent ? film_take(c, data, size, err) : damaged(c, err));
    else
        TRY(state_take(c, data, size, &shape, err));
    const char *texts = section_find(data, size, "said", 0, &length);
    if (texts)
        c->texts = arena_strndup(&c->arena, texts, length);
    c->resumed = true;
    c->share = share_of(c, c->samples);
    return STATUS_OK;
}

/* Does a checkpoint stand there, whole or not? */
static bool is_there(const char *path)
{
    char head[sizeof magic];
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool there = fd >= 0 && file_read_at(fd, head, sizeof head, 0) == sizeof head &&
                 memcmp(head, magic, sizeof magic) == 0;
    if (fd >= 0)
        close(fd);
    return there;
}

enum status checkpoint_open(struct checkpoint *c, bool resume, struct error *err)
{
    char text[4400];
    enum status s = STATUS_OK;
    if (c->path && resume) {
        s = take_up(c, err);
        if (s == STATUS_MISSING) {
            snprintf(text, sizeof text, "there is no %s: the render starts from the beginning",
                     c->path);
            note(text);
            s = STATUS_OK;
        }
    } else if (c->path && is_there(c->path)) {
        c->other = true;
        snprintf(text, sizeof text,
                 "%s is of a render that was not finished, and will be replaced; --resume goes on "
                 "with it",
                 c->path);
        note(text);
    }
    c->next_save = clock_s() + c->interval_s;
    c->next_update = clock_s() + c->update_s;
    return s;
}

/* ---- the end -------------------------------------------------------------------------------- */

void checkpoint_remove(struct checkpoint *c)
{
    if (c->path && is_there(c->path))
        (void)unlink(c->path);
    c->written = c->resumed = false;
}

void *checkpoint_set_aside(struct checkpoint *c, size_t *size)
{
    struct stat st;
    if (!c->path || !is_there(c->path))
        return NULL;
    int fd = open(c->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    *size = fd >= 0 && fstat(fd, &st) == 0 ? (size_t)st.st_size : 0;
    void *bytes = *size ? malloc(*size) : NULL;
    bool whole = bytes && file_read_at(fd, bytes, *size, 0) == (int64_t)*size;
    if (fd >= 0)
        close(fd);
    if (whole && unlink(c->path) == 0)
        return bytes;
    free(bytes);
    return NULL;
}

void checkpoint_put_back(struct checkpoint *c, void *bytes, size_t size)
{
    struct error err = {0};
    if (!bytes)
        return;
    if (file_write(c->path, bytes, size, &err) == STATUS_OK)
        (void)chmod(c->path, 0600);
    else
        note_failure(&c->said_save, "no checkpoint", &err);
    free(bytes);
}

void checkpoint_say(struct checkpoint *c)
{
    struct text t = {0};
    const char *command = command_line_text();
    if (!c->path || !(c->written || c->resumed) || c->said_kept)
        return;
    c->said_kept = true;
    text_printf(&t, "%.3g%% of the samples are kept in %s; to go on: ", 100 * c->share, c->path);
    if (strstr(command, " -- "))
        text_puts(&t, "the same command with --resume");
    else
        text_printf(&t, "%s%s", command, strstr(command, " --resume") ? "" : " --resume");
    if (!t.failed)
        note(t.data);
    text_free(&t);
}

void checkpoint_close(struct checkpoint *c) { arena_free(&c->arena); }

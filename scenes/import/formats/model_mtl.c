/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "model_mtl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *word;
    enum mtl_map_kind kind;
} map_words[] = {
    {"map_Kd", MTL_KD},   {"map_Ks", MTL_KS},     {"map_Ke", MTL_KE},     {"map_Ns", MTL_NS},
    {"map_d", MTL_D},     {"map_opacity", MTL_D}, {"bump", MTL_BUMP},     {"map_bump", MTL_BUMP},
    {"norm", MTL_NORM},   {"map_Kn", MTL_NORM},   {"map_norm", MTL_NORM}, {"map_emissive", MTL_KE},
    {"map_Pr", MTL_PR},   {"map_Pm", MTL_PM},     {"map_Ps", MTL_PS},     {"map_Pc", MTL_PC},
    {"map_Pcr", MTL_PCR}, {"map_Ka", MTL_KA},     {"map_disp", MTL_DISP}, {"disp", MTL_DISP},
    {"refl", MTL_REFL},   {"map_refl", MTL_REFL}};

/* The material whose lines are being read. */
static struct mtl *own_mtl(struct source *s, struct mtl **list, const char *name)
{
    struct mtl *m = *list;
    if (m && strcmp(m->name, name) == 0)
        return m;
    m = source_alloc(s, 1, sizeof *m);
    snprintf(m->name, sizeof m->name, "%s", name);
    m->next = *list;
    return *list = m;
}

const struct mtl *mtl_find(const struct mtl *list, const char *name)
{
    while (list && strcmp(list->name, name) != 0)
        list = list->next;
    return list;
}

/* Three numbers, or one for all; spectra are none. */
static void take_filter(struct mtl *m, const char *text)
{
    for (int c = 0; c < 3; c++) {
        char *end;
        double x = strtod(text, &end);
        if (end == text && c == 0)
            return;
        m->filter[c] = end == text ? m->filter[0] : source_clamp(x, 0, 1);
        text = end;
    }
    m->filters = true;
}

static size_t word_length(const char *at) { return strcspn(at, " \t"); }

static bool is_word(const char *at, const char *word)
{
    return word_length(at) == strlen(word) && strncasecmp(at, word, strlen(word)) == 0;
}

static const char *after_word(const char *at)
{
    at += word_length(at);
    return at + strspn(at, " \t");
}

/* Up to `most` numbers; how many there are. A file's name may begin with one, so that it must end
 * with the word. */
static int take_numbers(const char **at, int most, double *out)
{
    for (int n = 0; n < most; n++) {
        char *end;
        double x = strtod(*at, &end);
        if (end == *at || end != *at + word_length(*at) || !isfinite(x))
            return n;
        out[n] = source_clamp(x, -1e5, 1e5);
        *at = after_word(*at);
    }
    return most;
}

/* One option of a map; false where the file's name begins. */
static bool take_option(struct source *s, struct mtl *m, const char **at, struct mtl_map *map)
{
    static const char *const others[] = {"-blendu", "-blendv", "-cc",        "-texres",
                                         "-boost",  "-type",   "-colorspace"};
    const char *option = *at;
    double x[3];
    if (is_word(option, "-s") || is_word(option, "-o") || is_word(option, "-t")) {
        *at = after_word(option);
        int n = take_numbers(at, 3, x);
        for (int c = 0; c < 2 && c < n; c++)
            if (option[1] == 's' || option[1] == 'S')
                map->scale[c] = x[c];
            else if (option[1] == 'o' || option[1] == 'O')
                map->offset[c] = x[c];
        if ((option[1] == 't' || option[1] == 'T') && n > 0 && (x[0] != 0 || (n > 1 && x[1] != 0)))
            source_note(s, "turbulence of maps (material \"%.100s\")", m->name);
    } else if (is_word(option, "-mm")) {
        *at = after_word(option);
        if (take_numbers(at, 2, x) == 2 && (x[0] != 0 || x[1] != 1))
            source_note(s, "the base and gain of maps (material \"%.100s\")", m->name);
    } else if (is_word(option, "-bm")) {
        *at = after_word(option);
        take_numbers(at, 1, &map->multiplier);
    } else if (is_word(option, "-clamp")) {
        *at = after_word(option);
        map->clamp = is_word(*at, "on");
        *at = after_word(*at);
    } else if (is_word(option, "-imfchan")) {
        *at = after_word(option);
        map->channel[0] = strchr("rgb", (*at)[0]) ? (*at)[0] : (*at)[0] == 'm' ? 'a' : 'r';
        *at = after_word(*at);
    } else {
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            if (is_word(option, others[i])) {
                *at = after_word(after_word(option));
                return true;
            }
        return false;
    }
    return true;
}

/* at: behind the word, up to the end of the line. */
static void take_map(struct source *s, struct mtl *m, const char *at, struct mtl_map *map)
{
    *map = (struct mtl_map){.scale = {1, 1}, .multiplier = 1};
    while (take_option(s, m, &at, map))
        ;
    size_t n = strlen(at);
    while (n && strchr(" \t\r", at[n - 1]))
        n--;
    if (n > 1 && at[0] == '"' && at[n - 1] == '"')
        at++, n -= 2;
    if (n >= sizeof map->file)
        source_refuse(s, STATUS_LIMIT, "%s names a texture with a path of %zu bytes", s->path, n);
    memcpy(map->file, at, n);
}

static void take_anisotropy(struct mtl *m, const char *at, bool turned)
{
    char *end;
    double value = strtod(at, &end);
    if (end != at && isfinite(value))
        *(turned ? &m->rotation : &m->strength) = value;
}

/* One line without its end; true if Assimp shall not see it. */
static bool take_line(struct source *s, const char *line, char *name, bool blender,
                      struct mtl **list)
{
    const char *at = line + strspn(line, " \t");
    const char *rest = after_word(at);
    if (is_word(at, "newmtl")) {
        snprintf(name, 256, "%s", rest);
        for (size_t n = strlen(name); n && strchr(" \t\r", name[n - 1]); n--)
            name[n - 1] = '\0';
        own_mtl(s, list, name)->blender = blender;
        return false;
    }
    bool turned = is_word(at, "anisor");
    if (turned || is_word(at, "aniso")) {
        take_anisotropy(own_mtl(s, list, name), rest, turned);
        return true;
    }
    if (is_word(at, "illum"))
        own_mtl(s, list, name)->illum = (int)source_clamp(strtod(rest, NULL), 0, 99);
    else if (is_word(at, "Tf"))
        take_filter(own_mtl(s, list, name), rest);
    for (size_t i = 0; i < sizeof map_words / sizeof *map_words; i++)
        if (is_word(at, map_words[i].word)) {
            struct mtl *m = own_mtl(s, list, name);
            take_map(s, m, rest, &m->maps[map_words[i].kind]);
            return true;
        }
    return false;
}

void mtl_read(struct source *s, char *text, struct mtl **list)
{
    char name[256] = "";
    bool blender = strncmp(text, "# Blender", 9) == 0;
    for (char *line = text, *next; *line; line = next) {
        size_t n = strcspn(line, "\r\n");
        char end = line[n];
        line[n] = '\0';
        if (take_line(s, line, name, blender, list))
            line[strspn(line, " \t")] = '#';
        line[n] = end;
        next = line + n + (end != '\0');
    }
}

/* One line without its end. */
static void mend_line(struct source *s, struct text *t, const char *line)
{
    static const char *const colors[] = {"Ka", "Kd", "Ks", "Ke", "Tf"};
    const char *at = line + strspn(line, " \t"), *rest = after_word(at), *more = rest;
    bool color = false;
    double x[3];
    for (size_t i = 0; i < sizeof colors / sizeof *colors; i++)
        color = color || is_word(at, colors[i]);
    bool other = color && (is_word(rest, "xyz") || is_word(rest, "spectral"));
    bool halo = is_word(at, "d") && is_word(rest, "-halo");
    if (other)
        source_note(s, "colours of MTL as spectra or as CIE's X, Y and Z");
    if (halo)
        source_note(s, "opacity of MTL that goes by the angle (d -halo)");
    if (other)
        text_puts(t, "#");
    if (color && take_numbers(&more, 3, x) == 1)
        text_printf(t, "%.*s %.9g %.9g %.9g", (int)word_length(at), at, x[0], x[0], x[0]);
    else if (halo)
        text_printf(t, "d %s", after_word(rest));
    else
        text_puts(t, line);
}

void mtl_mend(struct source *s, char **data, size_t *size)
{
    struct text t = {0};
    for (char *line = *data, *next; *line; line = next) {
        size_t n = strcspn(line, "\r\n");
        char end = line[n];
        line[n] = '\0';
        mend_line(s, &t, line);
        line[n] = end;
        next = line + n + (end != '\0');
        text_append(&t, line + n, (size_t)(next - line) - n);
    }
    source_text(s, &t, data, size);
}

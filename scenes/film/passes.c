/* SPDX-License-Identifier: Apache-2.0 */
/* Passes of a picture (docs/reference/protocol.md section 29): their names, memory and file. */
#include "scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct pass_info pass_infos[PASS_COUNT] = {
    [PASS_BEAUTY] = {"beauty", 3, {"R", "G", "B"}},
    [PASS_DIRECT] = {"direct", 3, {"direct.R", "direct.G", "direct.B"}},
    [PASS_INDIRECT] = {"indirect", 3, {"indirect.R", "indirect.G", "indirect.B"}},
    [PASS_VARIANCE] = {"variance", 3, {"variance.R", "variance.G", "variance.B"}},
    [PASS_ALBEDO] = {"albedo", 3, {"albedo.R", "albedo.G", "albedo.B"}},
    [PASS_NORMAL] = {"normal", 3, {"N.X", "N.Y", "N.Z"}},
    [PASS_TANGENT] = {"tangent", 3, {"tangent.X", "tangent.Y", "tangent.Z"}},
    [PASS_BITANGENT] = {"bitangent", 3, {"bitangent.X", "bitangent.Y", "bitangent.Z"}},
    [PASS_DEPTH] = {"depth", 1, {"Z"}},
    [PASS_POSITION] = {"position", 3, {"P.X", "P.Y", "P.Z"}},
    [PASS_UV] = {"uv", 2, {"uv.U", "uv.V"}},
    [PASS_AO] = {"ao", 1, {"ao"}},
    [PASS_MATERIAL] = {"material", 1, {"materialID"}},
    [PASS_SHADER] = {"shader", 1, {"shaderID"}},
    [PASS_SAMPLES] = {"samples", 1, {"samples"}},
    [PASS_DENOISED] = {"denoised", 3, {"denoised.R", "denoised.G", "denoised.B"}},
};

static enum status pass_unknown(const char *word, struct error *err)
{
    char names[256] = "";
    size_t used = 0;
    for (int i = 0; i < PASS_COUNT; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s ", pass_infos[i].name);
    return error_msg(err, STATUS_ARG, "no pass \"%s\"; expected \"all\" or some of: %s", word,
                     names);
}

enum status passes_parse(const char *list, unsigned *bits, struct error *err)
{
    unsigned found = 0;
    for (const char *at = list; *at;) {
        size_t n = strcspn(at, ",");
        char word[32];
        int i = 0;
        snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), at);
        while (i < PASS_COUNT && strcmp(pass_infos[i].name, word) != 0)
            i++;
        if (strcmp(word, "all") == 0)
            found |= PASSES_ALL;
        else if (i < PASS_COUNT)
            found |= 1u << i;
        else
            return pass_unknown(word, err);
        at += n + (at[n] == ',');
    }
    if (!found)
        return pass_unknown(list, err);
    *bits = found;
    return STATUS_OK;
}

enum status passes_init(struct passes *p, uint32_t width, uint32_t height, unsigned bits,
                        struct error *err)
{
    struct passes made = {.width = width, .height = height};
    const size_t pixels = (size_t)width * height;
    size_t channels = 0;
    for (int i = 0; i < PASS_COUNT; i++)
        channels += bits & 1u << i ? pass_infos[i].channels : 0;
    TRY(memory_plan(pixels * channels * sizeof(float), err, "the passes of a %ux%u picture", width,
                    height));
    for (int i = 0; i < PASS_COUNT; i++) {
        if (!(bits & 1u << i))
            continue;
        made.values[i] = calloc(pixels ? pixels : 1, pass_infos[i].channels * sizeof(float));
        if (!made.values[i]) {
            passes_free(&made);
            return error_msg(err, STATUS_MEMORY, "out of memory for the passes of a %ux%u picture",
                             width, height);
        }
    }
    *p = made;
    return STATUS_OK;
}

void passes_free(struct passes *p)
{
    for (int i = 0; i < PASS_COUNT; i++)
        free(p->values[i]);
    *p = (struct passes){0};
}

enum status passes_write_exr(const struct passes *p, const char *path,
                             const char *const *attributes, struct error *err)
{
    struct image_channel channels[3 * PASS_COUNT];
    size_t count = 0;
    for (int i = 0; i < PASS_COUNT; i++)
        for (unsigned c = 0; p->values[i] && c < pass_infos[i].channels; c++)
            channels[count++] = (struct image_channel){pass_infos[i].layers[c], p->values[i] + c,
                                                       pass_infos[i].channels};
    return image_write_exr(path, p->width, p->height, channels, count, attributes, err);
}

uint32_t *scene_shader_ids(const struct scene *s)
{
    uint32_t *ids = calloc(s->material_count ? s->material_count : 1, sizeof *ids), next = 0;
    for (size_t i = 0; ids && i < s->material_count; i++) {
        const struct shading *own = s->materials[i].shading;
        for (size_t k = 0; own && k < i && ids[i] == 0; k++)
            if (s->materials[k].shading && strcmp(s->materials[k].shading->hash, own->hash) == 0)
                ids[i] = ids[k];
        if (own && ids[i] == 0)
            ids[i] = ++next;
    }
    return ids;
}

int passes_position_exponent(const struct scene *s)
{
    double largest = 0;
    int k = 0;
    for (int i = 0; i < 3; i++) {
        const double from = s->frame_origin[i];
        largest = fmax(largest, fabs(s->camera.origin[i] + from));
        if (s->bounds_min[i] <= s->bounds_max[i])
            largest =
                fmax(largest, fmax(fabs(s->bounds_min[i] + from), fabs(s->bounds_max[i] + from)));
    }
    if (largest > 0)
        frexp(largest, &k);
    return 43 - (k < -40 ? -40 : k);
}

float passes_ao_distance(const struct scene *s)
{
    double longest = 0;
    if (s->ao_distance > 0)
        return s->ao_distance;
    for (int i = 0; i < 3; i++)
        longest = fmax(longest, s->bounds_max[i] - s->bounds_min[i]);
    return longest > 0 ? (float)(longest / 8) : 1;
}

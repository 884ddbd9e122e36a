/* SPDX-License-Identifier: Apache-2.0 */
/* What materials of all types share about their surface: its sides, its normals, its inside. */
#include "scene_loader.h"

enum status load_normal_map(struct loader *l, const struct json *v, struct normal_map *out)
{
    static const char *const keys[] = {"texture", "scale", NULL};
    struct document *d = &l->d;
    const struct json *name;
    struct normal_map n = {.present = true, .scale = 1};
    TRY(read_object(d, v, keys));
    TRY(read_required(d, v, "texture", "the name of a texture", &name));
    TRY(find_texture(l, name, &n.texture));
    TRY(field_float(d, v, "scale", -100, 100, &n.scale));
    if (l->textures[n.texture].image.srgb)
        return json_error(d->err, d->file, name, STATUS_TYPE,
                          "the texels of \"%.60s\" are sRGB colours, expected data: "
                          "\"color_space\": \"linear\" in the texture",
                          l->textures[n.texture].name);
    *out = n;
    return STATUS_OK;
}

enum status load_surface(struct loader *l, const struct json *v, struct material *m)
{
    static const char *const sides[] = {"double", "single", NULL};
    struct document *d = &l->d;
    const struct json *map = json_get(v, "normal_map"), *medium = json_get(v, "medium");
    int side = 0;
    TRY(field_choice(d, v, "sides", sides, &side));
    m->single_sided = side == 1;
    if (m->single_sided && m->emission_two_sided)
        return json_error(d->err, d->file, json_get(v, "sides"), STATUS_TYPE,
                          "a surface of a single side emits on that side only, expected no "
                          "\"emission_two_sided\"");
    if (medium && m->single_sided)
        return json_error(d->err, d->file, medium, STATUS_TYPE,
                          "rays leave a medium from behind its surface, expected \"sides\": "
                          "\"double\"");
    if (medium && m->alpha_mode == ALPHA_MASK)
        return json_error(d->err, d->file, medium, STATUS_TYPE,
                          "rays enter a medium unseen where its surface is cut out, expected no "
                          "\"alpha_mode\": \"mask\"");
    if (medium && m->layers.thin)
        return json_error(d->err, d->file, medium, STATUS_TYPE,
                          "what is thin has no inside, expected no \"thin\"");
    if (map)
        TRY(load_normal_map(l, map, &m->normal_map));
    /* a model's own media wait for `isophote import`, which asks whether its meshes are closed */
    return medium && !l->bringing ? load_medium(l, medium, &m->medium) : STATUS_OK;
}

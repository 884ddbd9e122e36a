/* SPDX-License-Identifier: Apache-2.0 */
/* What a scene needs of the kernel beyond what its parts have asked for as they were laid out:
 * K_FEATURES_EXACT, from the materials, their shaders and the environment. The kernel is compiled
 * without the rest, so what is in doubt counts as needed. */
#include "layout_buffers.h"

#include <string.h>

/* ---- shaders -------------------------------------------------------------------------------- */

uint32_t closure_features(const char *name)
{
    static const struct {
        const char *name;
        uint32_t features;
    } rows[] = {
#define CLOSURE(name, features) {name, features},
#include "device/surface/closures.def"
#undef CLOSURE
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].features;
    return K_FEATURES_EXACT;
}

/* ---- materials ------------------------------------------------------------------------------ */

/* May it be anything but 0? A textured 0 is 0 (scalar_layout). */
static bool may_count(const struct material *m, const struct scalar_input *in, enum drive_input d)
{
    return in->value != 0 || (m->shading && m->shading->drive[d]);
}

static bool is_coloured(const struct color_input *c)
{
    return c->value[0] != 0 || c->value[1] != 0 || c->value[2] != 0;
}

/* Section 28's lobes of `principled`. */
static uint32_t principled_features(const struct material *m)
{
    uint32_t more = 0;
    if (may_count(m, &m->clearcoat, DRIVE_CLEARCOAT))
        more |= K_FEATURE_COAT;
    if (may_count(m, &m->sheen, DRIVE_SHEEN))
        more |= K_FEATURE_VELVET;
    if (may_count(m, &m->transmission, DRIVE_TRANSMISSION))
        more |= K_FEATURE_REFRACT;
    bool beyond = more || m->layers.present ||
                  may_count(m, &m->specular_tint, DRIVE_SPECULAR_TINT) ||
                  may_count(m, &m->subsurface, DRIVE_SUBSURFACE) ||
                  may_count(m, &m->anisotropy, DRIVE_ANISOTROPY);
    if (m->layers.present && is_coloured(&m->layers.fuzz))
        more |= K_FEATURE_SHEEN;
    return K_FEATURE_PRINCIPLED | more | (beyond ? K_FEATURE_BURLEY | K_FEATURE_REFLECT : 0);
}

static uint32_t material_features(const struct material *m)
{
    uint32_t listed = material_is_list(m) ? K_FEATURE_LISTED : 0;
    if (m->shading && !m->shading->has_base)
        return 0;
    switch (m->type) {
    case MATERIAL_DIFFUSE:
    case MATERIAL_MIRROR:
        return listed;
    case MATERIAL_ROUGH_CONDUCTOR:
        return listed | K_FEATURE_CONDUCTOR |
               (may_count(m, &m->anisotropy, DRIVE_ANISOTROPY) ? K_FEATURE_REFLECT : 0);
    case MATERIAL_DIELECTRIC:
        return listed | K_FEATURE_DIELECTRIC;
    case MATERIAL_PRINCIPLED:
        return listed | principled_features(m);
    case MATERIAL_OREN_NAYAR:
        return listed | K_FEATURE_OREN_NAYAR;
    case MATERIAL_ROUGH_DIELECTRIC:
        return listed | K_FEATURE_REFLECT | K_FEATURE_REFRACT;
    case MATERIAL_THIN_DIELECTRIC:
        return listed | K_FEATURE_REFLECT;
    case MATERIAL_SHEEN:
        return listed | K_FEATURE_SHEEN;
    default:
        return listed | K_FEATURES_EXACT;
    }
}

void layout_features(struct layout *l, const struct scene *s)
{
    for (size_t i = 0; i < s->material_count; i++)
        l->features |= material_features(&s->materials[i]);
    l->features |= l->shaders.features;
    if (s->texture_count)
        l->features |= K_FEATURE_TEXTURES;
    if (s->sphere_count || s->disk_count)
        l->features |= K_FEATURE_ROUND;
    if (l->launch.env_type == 2)
        l->features |= K_FEATURE_ENV_MAPS;
}

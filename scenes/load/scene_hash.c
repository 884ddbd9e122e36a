/* SPDX-License-Identifier: Apache-2.0 */
/* The hash of what a picture depends on. Every field is added by itself: padding bytes never are.
 */
#include "scene_loader.h"

#include <string.h>

static void add_u64(struct hash *h, uint64_t v) { hash_add(h, &v, sizeof v); }

static void add_image(struct hash *h, const struct texture_cache *c, const struct image *i)
{
    add_u64(h, i->width);
    add_u64(h, i->height);
    add_u64(h, i->channels);
    add_u64(h, (uint64_t)i->format);
    add_u64(h, i->srgb);
    size_t size = (size_t)i->width * i->height * i->channels * texel_size(i->format);
    add_u64(h, size);
    if (size && !cache_add_to_hash(c, i->texels, h))
        hash_add(h, i->texels, size);
}

static void add_camera(struct hash *h, const struct camera *c)
{
    hash_add(h, c->origin, sizeof c->origin);
    hash_add(h, c->right, sizeof c->right);
    hash_add(h, c->up, sizeof c->up);
    hash_add(h, c->forward, sizeof c->forward);
    hash_add(h, &c->tan_half_fov, sizeof c->tan_half_fov);
    add_u64(h, (uint64_t)c->fov_axis);
    hash_add(h, &c->lens_radius, sizeof c->lens_radius);
    hash_add(h, &c->focus_distance, sizeof c->focus_distance);
    const double anamorphic = c->anamorphic > 0 ? c->anamorphic : 1;
    if (c->type == CAMERA_PERSPECTIVE && c->blades == 0 && anamorphic == 1)
        return; /* scenes that have none of it keep their hashes */
    add_u64(h, (uint64_t)c->type);
    add_u64(h, c->blades);
    hash_add(h, &c->blade_rotation, sizeof c->blade_rotation);
    hash_add(h, &anamorphic, sizeof anamorphic);
}

/* How samples become pixels: nothing for what is the default. */
static void add_film(struct hash *h, const struct scene *s)
{
    if (!scene_default_filter(s)) {
        hash_add(h, "filter", 6);
        add_u64(h, (uint64_t)s->filter);
        hash_add(h, &s->filter_radius, sizeof s->filter_radius);
    }
    if (s->clamp > 0) {
        hash_add(h, "clamp", 5);
        hash_add(h, &s->clamp, sizeof s->clamp);
    }
    if (s->ao_distance > 0) {
        hash_add(h, "ao", 2);
        hash_add(h, &s->ao_distance, sizeof s->ao_distance);
    }
}

static void add_texture(struct hash *h, const struct texture_cache *c, const struct texture *t)
{
    add_image(h, c, &t->image);
    add_u64(h, (uint64_t)t->wrap_u);
    add_u64(h, (uint64_t)t->wrap_v);
    add_u64(h, (uint64_t)t->filter);
    hash_add(h, t->scale, sizeof t->scale);
    hash_add(h, t->offset, sizeof t->offset);
    if (t->turn[0] != 0 || t->turn[1] != 0)
        hash_add(h, t->turn, sizeof t->turn);
}

static void add_scalar(struct hash *h, const struct scalar_input *s)
{
    hash_add(h, &s->value, sizeof s->value);
    add_u64(h, (uint64_t)(int64_t)s->texture);
    add_u64(h, s->channel);
}

/* Do the inputs count that only lists of lobes have? */
static bool has_list_inputs(const struct material *m)
{
    bool driven = false;
    for (int i = DRIVE_SPECULAR_TINT; m->shading && i <= DRIVE_SUBSURFACE; i++)
        driven = driven || m->shading->drive[i];
    return driven || material_inputs_are_list(m);
}

static void add_color(struct hash *h, const struct color_input *c)
{
    hash_add(h, c->value, sizeof c->value);
    add_u64(h, (uint64_t)(int64_t)c->texture);
}

static void add_layers(struct hash *h, const struct material_layers *y)
{
    hash_add(h, "layers", 6);
    add_u64(h, y->thin);
    add_color(h, &y->specular_color);
    add_color(h, &y->fuzz);
#define ADD(name) add_scalar(h, &y->name);
    MATERIAL_LAYER_SCALARS(ADD)
#undef ADD
    if (y->coat_normal_map.present) {
        add_u64(h, y->coat_normal_map.texture);
        hash_add(h, &y->coat_normal_map.scale, sizeof y->coat_normal_map.scale);
    }
}

static void add_material(struct hash *h, const struct material *m)
{
    add_u64(h, (uint64_t)m->type);
    hash_add(h, m->base.value, sizeof m->base.value);
    add_u64(h, (uint64_t)(int64_t)m->base.texture);
    add_scalar(h, &m->roughness);
    add_scalar(h, &m->metallic);
    hash_add(h, &m->specular.value, sizeof m->specular.value);
    hash_add(h, m->eta, sizeof m->eta);
    hash_add(h, m->k, sizeof m->k);
    hash_add(h, &m->ior.value, sizeof m->ior.value);
    hash_add(h, m->emission, sizeof m->emission);
    add_u64(h, m->emission_two_sided);
    /* what is as it always was adds nothing: hashes stay what they were */
    if (has_list_inputs(m)) {
        add_scalar(h, &m->specular);
        add_scalar(h, &m->ior);
#define ADD(name) add_scalar(h, &m->name);
        MATERIAL_HASHED_SCALARS(ADD)
#undef ADD
        add_u64(h, (uint64_t)m->alpha_mode);
        if (m->subsurface.value != 0) {
            hash_add(h, "subsurface", 10);
            add_scalar(h, &m->subsurface);
        }
    }
    if (m->alpha_mode == ALPHA_MASK) {
        add_scalar(h, &m->opacity);
        hash_add(h, &m->alpha_cutoff, sizeof m->alpha_cutoff);
    }
    if (m->single_sided || m->interface)
        add_u64(h, 0x51DE5U + m->single_sided + 2U * m->interface);
    if (m->normal_map.present) {
        add_u64(h, m->normal_map.texture);
        hash_add(h, &m->normal_map.scale, sizeof m->normal_map.scale);
    }
    if (m->medium.present) {
        hash_add(h, &m->medium.density, sizeof m->medium.density);
        hash_add(h, m->medium.albedo, sizeof m->medium.albedo);
        hash_add(h, &m->medium.g, sizeof m->medium.g);
        if (m->medium.absorption[0] + m->medium.absorption[1] + m->medium.absorption[2] > 0)
            hash_add(h, m->medium.absorption, sizeof m->medium.absorption);
    }
    if (m->layers.present)
        add_layers(h, &m->layers);
    if (m->shading) {
        hash_add(h, m->shading->hash, sizeof m->shading->hash);
        hash_add(h, &m->shading->emission_bound, sizeof m->shading->emission_bound);
        add_u64(h, m->shading->has_base);
    }
    if (m->emission_texture)
        add_u64(h, m->emission_texture);
}

/* Adds nothing for a scene that uses none of it: hashes made before are still good. */
static void add_lights(struct hash *h, const struct scene *s)
{
    for (size_t i = 0; i < s->light_count; i++) {
        const struct light *l = &s->lights[i];
        add_u64(h, (uint64_t)l->type);
        hash_add(h, l->position, sizeof l->position);
        hash_add(h, l->direction, sizeof l->direction);
        hash_add(h, l->intensity, sizeof l->intensity);
        hash_add(h, &l->angle, sizeof l->angle);
        hash_add(h, &l->inner_angle, sizeof l->inner_angle);
    }
    if (s->light_choice != LIGHT_CHOICE_POWER)
        hash_add(h, "light_choice", sizeof "light_choice");
    if (s->mis != MIS_POWER)
        hash_add(h, "mis", sizeof "mis");
}

/* Of an image of shaders. */
static void add_levels(struct hash *h, const struct texture_cache *c, const struct asl_image *image)
{
    for (uint32_t k = 0; k < image->given_count; k++) {
        const struct asl_image_level *l = &image->levels[k];
        add_u64(h, l->width);
        add_u64(h, l->height);
        if (!cache_add_to_hash(c, l->texels, h))
            hash_add(h, l->texels, (size_t)l->width * l->height * image->channels * sizeof(float));
    }
}

void hash_scene(struct scene *s)
{
    struct hash *h = hash_open();
    add_camera(h, &s->camera);
    add_film(h, s);
    add_u64(h, (uint64_t)s->environment.type);
    hash_add(h, s->environment.radiance, sizeof s->environment.radiance);
    add_image(h, s->cache, &s->environment.map);
    hash_add(h, s->environment.to_local, sizeof s->environment.to_local);
    add_u64(h, s->texture_count);
    for (size_t i = 0; i < s->texture_count; i++)
        add_texture(h, s->cache, &s->textures[i]);
    for (const struct shader_image *i = s->shader_images.first; i; i = i->next) {
        hash_add(h, i->name, strlen(i->name) + 1);
        add_levels(h, s->cache, &i->image);
        for (uint32_t k = 0; i->image.more && k + 1 < i->image.subimage_count; k++) {
            const char *name = i->image.more[k].subimage_name;
            hash_add(h, name, strlen(name) + 1);
            add_levels(h, s->cache, &i->image.more[k]);
        }
    }
    add_u64(h, s->material_count);
    for (size_t i = 0; i < s->material_count; i++)
        add_material(h, &s->materials[i]);
    add_u64(h, s->vertex_count);
    hash_add(h, s->P, s->vertex_count * sizeof *s->P);
    if (s->N)
        hash_add(h, s->N, s->vertex_count * sizeof *s->N);
    if (s->UV)
        hash_add(h, s->UV, s->vertex_count * sizeof *s->UV);
    if (s->colors)
        hash_add(h, s->colors, s->vertex_count * sizeof *s->colors);
    add_u64(h, s->triangle_count);
    hash_add(h, s->triangles, s->triangle_count * sizeof *s->triangles);
    hash_add(h, s->triangle_flags, s->triangle_count);
    add_u64(h, s->sphere_count);
    hash_add(h, s->spheres, s->sphere_count * sizeof *s->spheres);
    add_u64(h, s->disk_count);
    hash_add(h, s->disks, s->disk_count * sizeof *s->disks);
    hash_add(h, s->primitive_material, scene_primitive_count(s) * sizeof *s->primitive_material);
    if (s->instance_count > 0) {
        size_t own = scene_primitive_count(s);
        add_u64(h, s->prototype_triangle_count);
        hash_add(h, s->triangles + s->triangle_count,
                 s->prototype_triangle_count * sizeof *s->triangles);
        hash_add(h, s->triangle_flags + s->triangle_count, s->prototype_triangle_count);
        hash_add(h, s->primitive_material + own,
                 s->prototype_triangle_count * sizeof *s->primitive_material);
        add_u64(h, s->instance_count);
        for (size_t i = 0; i < s->instance_count; i++) {
            const struct instance *n = &s->instances[i];
            add_u64(h, s->prototypes[n->prototype].first);
            add_u64(h, s->prototypes[n->prototype].count);
            hash_add(h, n->to_world, sizeof n->to_world);
        }
    }
    add_lights(h, s);
    static const double none[3] = {0, 0, 0};
    if (memcmp(s->frame_origin, none, sizeof none) != 0) /* as shaders see it */
        hash_add(h, s->frame_origin, sizeof s->frame_origin);
    hash_close(h, s->hash);
}

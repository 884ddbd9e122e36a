/* SPDX-License-Identifier: Apache-2.0 */
#include "layout_buffers.h"

#include <stdlib.h>
#include <string.h>

static void buffer_free(struct layout *l, enum scene_buffer b)
{
    if (l->viewed >> b & 1U)
        texture_cache_view_close(l->cache, l->buffers.at[b].data);
    else
        free((void *)l->buffers.at[b].data);
    l->viewed &= ~(1U << b);
    l->buffers.at[b].data = NULL;
    l->buffers.at[b].size = 0;
}

enum status layout_take(struct layout *l, enum scene_buffer b, size_t count, size_t size,
                        void **data, struct error *err)
{
    *data = NULL;
    if (count == 0)
        return STATUS_OK;
    if (count > (SIZE_MAX - 63) / size)
        return error_msg(err, STATUS_LIMIT, "a scene buffer of %zu items does not fit in memory",
                         count);
    size_t bytes = (count * size + 63) & ~(size_t)63;
    TRY(memory_plan(bytes, err, "a buffer of the scene"));
    char *p = memory_large(bytes); /* where rays jump about */
    if (!p)
        return error_msg(err, STATUS_MEMORY, "out of memory for a scene buffer of %zu bytes",
                         bytes);
    /* Every caller writes all it asked for; large buffers are not written twice. */
    memset(p + count * size, 0, bytes - count * size);
    buffer_free(l, b);
    l->buffers.at[b].data = p;
    l->buffers.at[b].size = bytes;
    *data = p;
    return STATUS_OK;
}

bool layout_cached(const struct layout *l, const void *texels, uint32_t *word)
{
    uint64_t at;
    if (!texture_cache_place(l->cache, texels, &at))
        return false;
    *word = (uint32_t)(TEXTURE_CACHE_FIRST + at / 4);
    return true;
}

enum status layout_take_words(struct layout *l, enum scene_buffer b, size_t count, void **data,
                              struct error *err)
{
    static_assert(SCENE_BUFFER_COUNT <= 32, "bits");
    const size_t bytes = (count * 4 + 63) & ~(size_t)63;
    if (!l->cache)
        return layout_take(l, b, count, 4, data, err);
    TRY(memory_plan(bytes, err, "a buffer of the scene"));
    TRY(texture_cache_view(l->cache, bytes, data, err));
    buffer_free(l, b);
    l->viewed |= 1U << b;
    l->buffers.at[b].data = *data;
    l->buffers.at[b].size = bytes;
    return STATUS_OK;
}

static enum status words_copy(struct layout *l, enum scene_buffer b, const uint32_t *from,
                              size_t count, struct error *err)
{
    void *to;
    TRY(layout_take_words(l, b, count, &to, err));
    if (to && from)
        memcpy(to, from, count * 4);
    return STATUS_OK;
}

static enum status buffer_copy(struct layout *l, enum scene_buffer b, const void *from,
                               size_t count, size_t size, struct error *err)
{
    void *to;
    enum status st = layout_take(l, b, count, size, &to, err);
    if (st == STATUS_OK && to && from)
        memcpy(to, from, count * size);
    return st;
}

enum status layout_geometry(struct layout *l, const struct scene *s, struct error *err)
{
    enum status st;
    size_t triangles = s->triangle_count + s->prototype_triangle_count;
    static_assert(sizeof(struct sphere) == sizeof(struct k_sphere), "layout");
    if ((st = buffer_copy(l, BUFFER_triangles, s->triangles, triangles, 12, err)) ||
        (st = buffer_copy(l, BUFFER_triangle_flags, s->triangle_flags, triangles, 1, err)) ||
        (st = buffer_copy(l, BUFFER_positions, s->P, triangles ? s->vertex_count : 0, 12, err)) ||
        (st = buffer_copy(l, BUFFER_normals, s->N, s->N ? s->vertex_count : 0, 12, err)) ||
        (st = buffer_copy(l, BUFFER_uvs, s->UV, s->UV ? s->vertex_count : 0, 8, err)) ||
        (st = buffer_copy(l, BUFFER_colors, s->colors, s->colors ? s->vertex_count : 0, 12, err)) ||
        (st = buffer_copy(l, BUFFER_spheres, s->spheres, s->sphere_count, 16, err)) ||
        (st = buffer_copy(l, BUFFER_primitive_materials, s->primitive_material,
                          scene_primitive_count(s) + s->prototype_triangle_count, 4, err)))
        return st;
    for (size_t i = 0; i < triangles; i++)
        l->launch.normals |= s->triangle_flags[i] & TRIANGLE_HAS_NORMALS;
    void *data;
    st = layout_take(l, BUFFER_disks, s->disk_count, sizeof(struct k_disk), &data, err);
    if (st)
        return st;
    struct k_disk *disks = data;
    for (size_t i = 0; disks && i < s->disk_count; i++) {
        disks[i] = (struct k_disk){.radius = s->disks[i].radius};
        memcpy(disks[i].center, s->disks[i].center, 12);
        memcpy(disks[i].normal, s->disks[i].normal, 12);
    }
    if (s->colors)
        l->features |= K_FEATURE_COLORS;
    for (int i = 0; i < 3; i++)
        l->launch.frame_origin[i] = (float)s->frame_origin[i];
    l->launch.triangle_count = (uint32_t)s->triangle_count;
    l->launch.sphere_count = (uint32_t)s->sphere_count;
    l->launch.disk_count = (uint32_t)s->disk_count;
    l->launch.effective_count = (uint32_t)scene_effective_count(s);
    return STATUS_OK;
}

/* A scalar that nobody set is 0 in a zeroed material, and names no texture then. */
static struct k_scalar scalar_layout(const struct scalar_input *in)
{
    return (struct k_scalar){
        .value = in->value, .texture = in->value == 0 ? -1 : in->texture, .channel = in->channel};
}

static void layout_layers(struct layout *l, const struct material_layers *y, struct k_material *out)
{
    if (!y->present)
        return;
    l->features |= K_FEATURE_LAYERS;
    out->layered = 1;
    out->thin = y->thin;
    memcpy(out->specular_color, y->specular_color.value, sizeof out->specular_color);
    memcpy(out->fuzz, y->fuzz.value, sizeof out->fuzz);
    out->specular_color_texture = y->specular_color.texture;
    out->fuzz_texture = y->fuzz.texture;
#define SCALAR(name) out->name = scalar_layout(&y->name);
    MATERIAL_LAYER_SCALARS(SCALAR)
#undef SCALAR
    out->coat_normal_map = y->coat_normal_map.present ? (int32_t)y->coat_normal_map.texture : -1;
    out->coat_normal_scale = y->coat_normal_map.scale;
    if (y->coat_normal_map.present)
        l->features |= K_FEATURE_NORMAL_MAPS;
}

enum status layout_materials(struct layout *l, const struct scene *s, struct error *err)
{
    void *data;
    enum status st =
        layout_take(l, BUFFER_materials, s->material_count, sizeof(struct k_material), &data, err);
    if (st)
        return st;
    struct k_material *out = data;
    static const uint32_t types[MATERIAL_TYPE_COUNT] = {
        [MATERIAL_DIFFUSE] = K_MATERIAL_DIFFUSE,
        [MATERIAL_MIRROR] = K_MATERIAL_MIRROR,
        [MATERIAL_ROUGH_CONDUCTOR] = K_MATERIAL_CONDUCTOR,
        [MATERIAL_DIELECTRIC] = K_MATERIAL_DIELECTRIC,
        [MATERIAL_PRINCIPLED] = K_MATERIAL_PRINCIPLED,
        [MATERIAL_OREN_NAYAR] = K_MATERIAL_OREN_NAYAR,
        [MATERIAL_ROUGH_DIELECTRIC] = K_MATERIAL_ROUGH_DIELECTRIC,
        [MATERIAL_THIN_DIELECTRIC] = K_MATERIAL_THIN_DIELECTRIC,
        [MATERIAL_SHEEN] = K_MATERIAL_SHEEN,
    };
    for (size_t i = 0; out && i < s->material_count; i++) {
        const struct material *m = &s->materials[i];
        out[i] = (struct k_material){
            .type = (material_is_list(m) ? K_MATERIAL_LISTED : 0) + types[m->type],
            .emits = m->emission[0] > 0 || m->emission[1] > 0 || m->emission[2] > 0,
            .two_sided = m->emission_two_sided,
            .base_texture = m->base.texture,
            .roughness = scalar_layout(&m->roughness),
            .metallic = scalar_layout(&m->metallic),
            .specular = scalar_layout(&m->specular),
            .ior = scalar_layout(&m->ior),
#define SCALAR(name) .name = scalar_layout(&m->name),
            MATERIAL_LIST_SCALARS(SCALAR)
#undef SCALAR
        };
        if (m->alpha_mode != ALPHA_BLEND)
            out[i].opacity = (struct k_scalar){.value = 1, .texture = -1};
        if (material_is_list(m))
            l->features |= K_FEATURE_LOBES;
        layout_layers(l, &m->layers, &out[i]);
        memcpy(out[i].base, m->base.value, 12);
        memcpy(out[i].eta, m->eta, 12);
        memcpy(out[i].k, m->k, 12);
        memcpy(out[i].emission, m->emission, 12);
        out[i].emission_texture = m->emission_texture;
    }
    l->material_count = (uint32_t)s->material_count;
    return STATUS_OK;
}

enum status layout_shaders(struct layout *l, const struct scene *s, enum shade_way form,
                           struct error *err)
{
    enum status st = shade_scene_make(s, form, l->cache, &l->shaders, err);
    const struct shade_scene *x = &l->shaders;
    if (st || x->source.len == 0)
        return st;
    struct k_material *materials = (struct k_material *)l->buffers.at[BUFFER_materials].data;
    for (size_t i = 0; i < s->material_count; i++) {
        materials[i].shader = x->materials[i].group;
        materials[i].shader_args = x->materials[i].args;
        materials[i].occlusion_rays = x->materials[i].occlusion_rays;
        materials[i].occlusion_distance = x->materials[i].occlusion_distance;
        if (l->launch.occlusion_rays < x->materials[i].occlusion_rays)
            l->launch.occlusion_rays = x->materials[i].occlusion_rays;
        if (s->materials[i].shading)
            materials[i].surface_area = s->materials[i].shading->surface_area;
    }
    l->features |= K_FEATURE_SHADERS | K_FEATURE_LOBES;
    return words_copy(l, BUFFER_shading, x->words, x->word_count, err);
}

enum status layout_answer(struct layout *l, const uint32_t *tables, bool *asked, struct error *err)
{
    const enum status st = shade_scene_answer(&l->shaders, tables, asked, err);
    return st || !*asked
               ? st
               : words_copy(l, BUFFER_shading, l->shaders.words, l->shaders.word_count, err);
}

static enum status coordinates_check(const struct scene *s, struct error *err)
{
    for (int i = 0; i < 3 && scene_primitive_count(s) > 0; i++)
        if (!(s->bounds_min[i] >= -LAYOUT_COORDINATE_MAX &&
              s->bounds_max[i] <= LAYOUT_COORDINATE_MAX))
            return error_msg(err, STATUS_RANGE,
                             "the scene reaches from %g to %g along axis %d: float32 renderers "
                             "take coordinates up to 2^36",
                             s->bounds_min[i], s->bounds_max[i], i);
    return STATUS_OK;
}

enum status layout_build(const struct scene *s, enum bvh_kind kind, enum shade_way form,
                         bool in_place, struct layout *out, struct error *err)
{
    struct layout l = {0};
    enum status st = coordinates_check(s, err);
    if (st)
        return st;
    if (in_place && s->cache) {
        texture_cache_hold(s->cache);
        l.cache = s->cache;
    }
    if ((st = layout_geometry(&l, s, err)) || (st = layout_tree(&l, s, kind, err)) ||
        (st = layout_materials(&l, s, err)) || (st = layout_shaders(&l, s, form, err)) ||
        (st = layout_surfaces(&l, s, err)) || (st = layout_textures(&l, s, err)) ||
        (st = layout_lights(&l, s, err)) || (st = layout_camera(&l, s, err))) {
        layout_free(&l);
        return st;
    }
    layout_features(&l, s);
    l.bvh_bytes = l.buffers.at[BUFFER_nodes].size + l.buffers.at[BUFFER_leaves].size;
    for (int i = 0; i < SCENE_BUFFER_COUNT; i++)
        l.scene_bytes += l.buffers.at[i].size;
    l.scene_bytes -= l.bvh_bytes;
    *out = l;
    return STATUS_OK;
}

void layout_free_buffers(struct layout *l)
{
    for (int i = 0; i < SCENE_BUFFER_COUNT; i++)
        buffer_free(l, (enum scene_buffer)i);
}

void layout_free(struct layout *l)
{
    if (!l)
        return;
    layout_free_buffers(l);
    shade_scene_free(&l->shaders);
    free(l->images);
    texture_cache_release(l->cache);
    *l = (struct layout){0};
}

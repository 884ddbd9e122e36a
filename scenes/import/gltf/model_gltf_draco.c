/* SPDX-License-Identifier: Apache-2.0 */
/* KHR_draco_mesh_compression: the accessors of packed primitives get their elements before anything
 * else reads them. */
#define _GNU_SOURCE
#include "model_draco.h"
#include "model_gltf.h"

#include <string.h>

static struct gltf_packed *packed_of(struct gltf *g, const struct json *accessor, uint64_t count,
                                     unsigned components)
{
    struct gltf_packed *p = &g->packed[accessor->index];
    p->count = count;
    p->data = source_alloc(g->s, count, components * sizeof(uint32_t));
    return p;
}

static unsigned components_of(struct gltf *g, const struct json *accessor)
{
    const char *type = gltf_text(g, accessor, "type");
    if (!type || (strcmp(type, "SCALAR") != 0 && strncmp(type, "VEC", 3) != 0))
        gltf_bad(g, accessor, "a \"type\" of numbers or vectors");
    return type[0] == 'S' ? 1 : (unsigned)source_clamp(type[3] - '0', 1, 4);
}

static void unpack_indices(struct gltf *g, const struct json *primitive, const struct draco_mesh *m)
{
    const struct json *accessor = gltf_item(g, primitive, "indices", &g->accessors);
    if (!accessor)
        gltf_bad(g, primitive, "\"indices\" of what Draco packs");
    uint64_t n = 3 * draco_mesh_triangles(m);
    struct gltf_packed *p = packed_of(g, accessor, n, 1);
    p->type = GLTF_UINT; /* whatever the accessor says: those of the file would hold them too */
    draco_mesh_indices(m, (uint32_t *)p->data);
}

static void unpack_attributes(struct gltf *g, const struct json *primitive,
                              const struct json *draco, const struct draco_mesh *m)
{
    const struct json *ids = gltf_get(g, draco, "attributes", JSON_OBJECT),
                      *attributes = gltf_get(g, primitive, "attributes", JSON_OBJECT);
    for (const struct json *id = ids ? ids->first : NULL; id; id = id->next) {
        const struct json *accessor = gltf_item(g, attributes, id->key, &g->accessors);
        if (!accessor)
            continue;
        unsigned components = components_of(g, accessor);
        struct gltf_packed *p = packed_of(g, accessor, draco_mesh_vertices(m), components);
        p->type = (int)gltf_size(g, accessor, "componentType", 0);
        if (!draco_mesh_attribute(m, (uint32_t)gltf_size(g, ids, id->key, 0), p->type,
                                  (int)components, p->data))
            gltf_bad(g, id, "an attribute that Draco's data have, of the accessor's type");
    }
}

static void free_held(void *mesh) { draco_mesh_free(mesh); }

static void unpack(struct gltf *g, const struct json *primitive, const struct json *draco)
{
    const struct json *view = gltf_item(g, draco, "bufferView", &g->views);
    if (!view)
        gltf_bad(g, draco, "a \"bufferView\"");
    if (gltf_size(g, primitive, "mode", GLTF_TRIANGLES) != GLTF_TRIANGLES)
        gltf_bad(g, primitive, "triangles (4) as the \"mode\" of what Draco packs");
    struct gltf_bytes b = gltf_view(g, view);
    char why[128] = "";
    struct draco_mesh *m = draco_mesh_read(b.data, b.size, why);
    g->s->held = m;
    g->s->held_free = free_held;
    if (!m)
        source_refuse(g->s, STATUS_PARSE,
                      "cannot read the model %s: Draco's library on buffer view %u: %s", g->s->path,
                      view->index, why);
    unpack_indices(g, primitive, m);
    unpack_attributes(g, primitive, draco, m);
    draco_mesh_free(m);
    g->s->held = NULL;
}

void gltf_unpack_primitives(struct gltf *g)
{
    g->packed = source_alloc(g->s, g->accessors.count, sizeof *g->packed);
    for (uint32_t i = 0; i < g->meshes.count; i++) {
        const struct json *all = gltf_get(g, g->meshes.at[i], "primitives", JSON_ARRAY);
        for (const struct json *v = all ? all->first : NULL; v; v = v->next) {
            const struct json *draco = gltf_extension(g, v, "KHR_draco_mesh_compression"),
                              *P = gltf_item(g, gltf_get(g, v, "attributes", JSON_OBJECT),
                                             "POSITION", &g->accessors);
            /* with a buffer view of its own, the same stands there unpacked */
            if (draco && P && !json_get(P, "bufferView") && !g->packed[P->index].data)
                unpack(g, v, draco);
        }
    }
}

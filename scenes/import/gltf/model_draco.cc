/* SPDX-License-Identifier: Apache-2.0 */
#include "model_draco.h"

#include <cstdio>
#include <draco/compression/decode.h>
#include <exception>
#include <memory>

struct draco_mesh {
    std::unique_ptr<draco::Mesh> mesh;
};

draco_mesh *draco_mesh_read(const void *data, size_t size, char why[128])
{
    try {
        draco::DecoderBuffer buffer;
        draco::Decoder decoder;
        buffer.Init(static_cast<const char *>(data), size);
        auto result = decoder.DecodeMeshFromBuffer(&buffer);
        if (result.ok())
            return new draco_mesh{std::move(result).value()};
        std::snprintf(why, 128, "%s", result.status().error_msg());
    } catch (const std::exception &e) {
        std::snprintf(why, 128, "%s", e.what());
    }
    return nullptr;
}

void draco_mesh_free(draco_mesh *m) { delete m; }
uint64_t draco_mesh_vertices(const draco_mesh *m) { return m->mesh->num_points(); }
uint64_t draco_mesh_triangles(const draco_mesh *m) { return m->mesh->num_faces(); }

void draco_mesh_indices(const draco_mesh *m, uint32_t *out)
{
    uint32_t n = m->mesh->num_points();
    for (uint32_t f = 0; f < m->mesh->num_faces(); f++)
        for (int k = 0; k < 3; k++) {
            uint32_t v = m->mesh->face(draco::FaceIndex(f))[k].value();
            *out++ = v < n ? v : 0;
        }
}

template <typename T>
static bool convert(const draco_mesh *m, const draco::PointAttribute *a, int components, void *out)
{
    T *to = static_cast<T *>(out);
    for (uint32_t i = 0; i < m->mesh->num_points(); i++, to += components) {
        draco::AttributeValueIndex at = a->mapped_index(draco::PointIndex(i));
        if (at.value() >= a->size() || !a->ConvertValue<T>(at, int8_t(components), to))
            return false;
    }
    return true;
}

bool draco_mesh_attribute(const draco_mesh *m, uint32_t id, int type, int components, void *out)
{
    const draco::PointAttribute *a = m->mesh->GetAttributeByUniqueId(id);
    if (!a || a->num_components() != components)
        return false;
    switch (type) {
    case 5120:
        return convert<int8_t>(m, a, components, out);
    case 5121:
        return convert<uint8_t>(m, a, components, out);
    case 5122:
        return convert<int16_t>(m, a, components, out);
    case 5123:
        return convert<uint16_t>(m, a, components, out);
    case 5125:
        return convert<uint32_t>(m, a, components, out);
    case 5126:
        return convert<float>(m, a, components, out);
    default:
        return false;
    }
}

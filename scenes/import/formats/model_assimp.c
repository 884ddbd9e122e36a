/* SPDX-License-Identifier: Apache-2.0 */
/* Every format but glTF 2 through Assimp: the child's reader. */
#define _GNU_SOURCE
#include "formats.h"
#include "geometry/offers.h"
#include "model_3ds.h"
#include "model_assimp_files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <assimp/cfileio.h>
#include <assimp/cimport.h>
#include <assimp/commonMetaData.h>
#include <assimp/config.h>
#include <assimp/material.h>
#include <assimp/metadata.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <assimp/texture.h>

enum { NODE_DEPTH_MAX = 256 };

struct reading {
    struct source *s;
    const struct aiScene *scene;
    uint32_t *number; /* of materials, by Assimp's */
    unsigned *uv_set; /* of materials: which texture coordinates they go by */
    unsigned set;     /* of the material that is being read */
    struct list {     /* lists of meshes by their first mesh: nodes with equal ones share it */
        struct list *next;
        const uint32_t *meshes;
        uint32_t count;
    } * *lists;
    struct placed { /* all nodes */
        const char *name;
        struct transform to_model;
    } * places;
    size_t place_count;
    struct transform *mesh_at; /* of a node that has the mesh */
    bool of_blender;           /* an FBX file that it wrote; MTL says so by itself */
    struct assimp_files files;
    bool fits_3ds; /* the lists of files.smoothing are the meshes */
};

/* ---- meshes --------------------------------------------------------------------------------- */

struct mesh {
    const struct aiMesh *from;
    const struct aiVector3D *uv; /* NULL: it has none */
    const bool *flat;            /* which faces have no normals; NULL: not said */
    bool no_normals;
    uint32_t (*triangles)[3]; /* NULL: its faces are */
    float (*P)[3], (*N)[3];   /* as its bones place it in the model's space; NULL: it has none */
};

/* Points and lines give none. */
static uint64_t face_triangles(const struct aiFace *face)
{
    return face->mNumIndices < 3 ? 0 : face->mNumIndices - 2;
}

static uint64_t mesh_triangles(const struct aiMesh *mesh)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < mesh->mNumFaces; i++)
        n += face_triangles(&mesh->mFaces[i]);
    return n;
}

/* Room for the largest of the mesh's polygons. */
struct polygon_scratch {
    struct polygon_room room;
    float (*P)[3];
    uint32_t (*cut)[3];
};

static void cut_face(struct source *s, const struct aiMesh *mesh, const struct aiFace *face,
                     const struct polygon_scratch *scratch, uint32_t (*out)[3])
{
    uint64_t count = face_triangles(face);
    for (unsigned k = 0; k < face->mNumIndices; k++) {
        if (face->mIndices[k] >= mesh->mNumVertices)
            source_refuse(s, STATUS_PARSE, "%s: a polygon names vertex %u of %u", s->path,
                          face->mIndices[k], mesh->mNumVertices);
        memcpy(scratch->P[k], &mesh->mVertices[face->mIndices[k]], sizeof scratch->P[k]);
    }
    if (count)
        polygon_cut((const float(*)[3])scratch->P, face->mNumIndices, &scratch->room, scratch->cut);
    for (uint64_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            out[i][k] = face->mIndices[scratch->cut[i][k]];
}

/* Assimp's own triangulation lets the ears of an L overlap, whose inner corner lies on a cut. */
static struct mesh *cut_polygons(struct source *s, const struct aiMesh *mesh, uint64_t count)
{
    struct mesh *m = source_alloc(s, 1, sizeof *m);
    struct polygon_scratch scratch;
    unsigned most = 0;
    bool triangles = true;
    m->from = mesh;
    for (unsigned i = 0; i < mesh->mNumFaces; i++) {
        unsigned n = mesh->mFaces[i].mNumIndices;
        most = n > most ? n : most;
        triangles = triangles && n == 3;
    }
    if (triangles)
        return m;
    m->triangles = source_alloc(s, count, sizeof *m->triangles);
    scratch.room.at = source_alloc(s, most, sizeof *scratch.room.at);
    scratch.room.ring = source_alloc(s, most, sizeof *scratch.room.ring);
    scratch.P = source_alloc(s, most, sizeof *scratch.P);
    scratch.cut = source_alloc(s, most, sizeof *scratch.cut);
    uint64_t at = 0;
    for (unsigned i = 0; i < mesh->mNumFaces; i++) {
        cut_face(s, mesh, &mesh->mFaces[i], &scratch, m->triangles + at);
        at += face_triangles(&mesh->mFaces[i]);
    }
    return m;
}

/* The formats of Assimp have vertex colours as pictures have theirs: those that say how are sRGB.
 */
static float linear_color(float encoded)
{
    return (float)source_clamp(srgb_decode(source_clamp((double)encoded, 0, 1)), 0, 1);
}

static bool is_named(const struct source *s, const char *ending)
{
    return path_ends(s->path, ending);
}

/* False where all is white, which many writers say for nothing; and where all is black in OBJ:
 * that is what Assimp gives to vertices without colours beside others that have some. */
static bool has_colors(const struct source *s, const struct aiMesh *mesh)
{
    bool white = true, black = is_named(s, ".obj");
    for (unsigned i = 0; i < mesh->mNumVertices && mesh->mColors[0] && (white || black); i++) {
        const struct aiColor4D *c = &mesh->mColors[0][i];
        white = white && c->r >= 1 && c->g >= 1 && c->b >= 1;
        black = black && c->r <= 0 && c->g <= 0 && c->b <= 0;
    }
    return mesh->mColors[0] && !white && !black;
}

static bool has_colors_above_1(const struct aiMesh *mesh)
{
    for (unsigned i = 0; i < mesh->mNumVertices && mesh->mColors[0]; i++) {
        const struct aiColor4D *c = &mesh->mColors[0][i];
        if (c->r > 1 || c->g > 1 || c->b > 1)
            return true;
    }
    return false;
}

static void mesh_vertex(const struct source_mesh *m, uint64_t i, struct source_vertex *out)
{
    const struct aiMesh *mesh = ((const struct mesh *)m->data)->from;
    const struct mesh *bent = m->data;
    memcpy(out->P, bent->P ? bent->P[i] : &mesh->mVertices[i].x, sizeof out->P);
    if (mesh->mNormals && !(bent->flat && bent->flat[i / 3]))
        memcpy(out->N, bent->N ? bent->N[i] : &mesh->mNormals[i].x, sizeof out->N);
    if (bent->uv)
        memcpy(out->UV, &bent->uv[i], sizeof out->UV);
    if (m->flags & TRIANGLE_HAS_COLORS) {
        const struct aiColor4D *c = &mesh->mColors[0][i];
        out->color[0] = linear_color(c->r);
        out->color[1] = linear_color(c->g);
        out->color[2] = linear_color(c->b);
    }
}

static bool mesh_triangle(const struct source_mesh *m, uint64_t i, uint64_t out[3])
{
    const struct mesh *mesh = m->data;
    const unsigned *v = mesh->triangles ? mesh->triangles[i] : mesh->from->mFaces[i].mIndices;
    for (int k = 0; k < 3; k++)
        out[k] = v[k];
    return true;
}

/* False for what Assimp invents where a file has no materials: it has its default's name, or none
 * at all (glTF's own may have none, but they are metallic). */
static bool is_own_material(const struct aiMaterial *material)
{
    struct aiString name;
    float metallic;
    if (aiGetMaterialString(material, AI_MATKEY_NAME, &name) == AI_SUCCESS)
        return strcmp(name.data, AI_DEFAULT_MATERIAL_NAME) != 0;
    return aiGetMaterialFloat(material, AI_MATKEY_METALLIC_FACTOR, &metallic) == AI_SUCCESS;
}

/* ---- places and bones ----------------------------------------------------------------------- */

static struct transform from_matrix(const struct aiMatrix4x4 *a)
{
    struct transform t = {{{(double)a->a1, (double)a->a2, (double)a->a3, (double)a->a4},
                           {(double)a->b1, (double)a->b2, (double)a->b3, (double)a->b4},
                           {(double)a->c1, (double)a->c2, (double)a->c3, (double)a->c4}}};
    return t;
}

static size_t count_nodes(struct source *s, const struct aiNode *node, int depth)
{
    size_t n = 1;
    if (depth > NODE_DEPTH_MAX)
        source_refuse(s, STATUS_LIMIT, "%s nests its nodes more than %d deep", s->path,
                      NODE_DEPTH_MAX);
    for (unsigned i = 0; i < node->mNumChildren; i++)
        n += count_nodes(s, node->mChildren[i], depth + 1);
    return n;
}

static void place_nodes(struct reading *r, const struct aiNode *node,
                        const struct transform *parent)
{
    struct transform own = from_matrix(&node->mTransformation);
    struct placed *p = &r->places[r->place_count++];
    *p = (struct placed){node->mName.data, transform_after(parent, &own)};
    for (unsigned i = 0; i < node->mNumMeshes; i++) {
        if (node->mMeshes[i] >= r->scene->mNumMeshes)
            source_refuse(r->s, STATUS_PARSE, "%s names a mesh that it does not have", r->s->path);
        r->mesh_at[node->mMeshes[i]] = p->to_model;
    }
    for (unsigned i = 0; i < node->mNumChildren; i++)
        place_nodes(r, node->mChildren[i], &p->to_model);
}

static void read_places(struct reading *r)
{
    r->places = source_alloc(r->s, count_nodes(r->s, r->scene->mRootNode, 0), sizeof *r->places);
    r->mesh_at = source_alloc(r->s, r->scene->mNumMeshes, sizeof *r->mesh_at);
    place_nodes(r, r->scene->mRootNode, &transform_identity);
}

/* NULL: no node has this name. */
static const struct transform *place_of(const struct reading *r, const char *name)
{
    for (size_t i = 0; i < r->place_count; i++)
        if (strcmp(r->places[i].name, name) == 0)
            return &r->places[i].to_model;
    return NULL;
}

/* The sum of what the bones do to each vertex; weight[i] is the sum of its weights. */
static bool sum_bones(struct reading *r, const struct aiMesh *mesh, struct transform *sum,
                      double *weight)
{
    for (unsigned b = 0; b < mesh->mNumBones; b++) {
        const struct aiBone *bone = mesh->mBones[b];
        const struct transform *at = place_of(r, bone->mName.data);
        if (!at)
            return false;
        struct transform bound = from_matrix(&bone->mOffsetMatrix),
                         does = transform_after(at, &bound);
        if (transform_determinant(&bound) == 0) /* of Collada without a bind_shape_matrix */
            return false;
        for (unsigned k = 0; k < bone->mNumWeights; k++) {
            const struct aiVertexWeight *w = &bone->mWeights[k];
            if (w->mVertexId >= mesh->mNumVertices || !(w->mWeight > 0))
                continue;
            weight[w->mVertexId] += (double)w->mWeight;
            for (int c = 0; c < 12; c++)
                sum[w->mVertexId].m[c / 4][c % 4] += (double)w->mWeight * does.m[c / 4][c % 4];
        }
    }
    return true;
}

/* Vertices where the bones of the file's own pose have them; those without one go with the node.
 * False: it cannot be said where. */
static bool bend(struct reading *r, const struct aiMesh *mesh, const struct transform *node,
                 struct mesh *out)
{
    size_t n = mesh->mNumVertices;
    struct arena scratch = {0};
    struct transform *sum = arena_alloc(&scratch, n, sizeof *sum, 0);
    double *weight = arena_alloc(&scratch, n, sizeof *weight, 0);
    float(*P)[3] = source_alloc(r->s, n, sizeof *P), (*N)[3] = source_alloc(r->s, n, sizeof *N);
    bool ok = sum && weight && sum_bones(r, mesh, sum, weight);
    for (size_t i = 0; i < n && ok; i++) {
        double from[3], to[3], m[3][3];
        for (int c = 0; c < 12 && weight[i] > 0; c++)
            sum[i].m[c / 4][c % 4] /= weight[i];
        const struct transform *t = weight[i] > 0 ? &sum[i] : node;
        memcpy(P[i], &mesh->mVertices[i], sizeof P[i]);
        for (int c = 0; c < 3; c++)
            from[c] = (double)P[i][c];
        transform_point(t, from, to);
        for (int c = 0; c < 3; c++) {
            P[i][c] = (float)to[c];
            ok = ok && isfinite(P[i][c]);
        }
        if (!mesh->mNormals)
            continue;
        memcpy(N[i], &mesh->mNormals[i], sizeof N[i]);
        transform_normal_matrix(t, m);
        for (int c = 0; c < 3; c++)
            to[c] =
                m[c][0] * (double)N[i][0] + m[c][1] * (double)N[i][1] + m[c][2] * (double)N[i][2];
        double length = sqrt(to[0] * to[0] + to[1] * to[1] + to[2] * to[2]);
        for (int c = 0; c < 3; c++)
            N[i][c] = length > 0 ? (float)(to[c] / length) : 0;
    }
    arena_free(&scratch);
    if (ok) {
        out->P = P;
        out->N = N;
    }
    return ok;
}

/* Is a mesh for each list, with three vertices for each of its faces? */
static bool fits_3ds(const struct reading *r)
{
    bool fits = r->files.smoothing_count == r->scene->mNumMeshes;
    for (unsigned i = 0; i < r->scene->mNumMeshes && fits; i++) {
        const struct aiMesh *m = r->scene->mMeshes[i];
        fits = m->mNumFaces == r->files.smoothing[i].faces && m->mNumVertices == 3 * m->mNumFaces;
    }
    return fits;
}

/* Of a mesh of 3DS without groups Assimp's normals, which take an edge for round, do not count. */
static void take_smoothing(const struct reading *r, uint32_t mesh, struct mesh *out)
{
    if (!r->fits_3ds)
        return;
    out->no_normals = !r->files.smoothing[mesh].says;
    out->flat = r->files.smoothing[mesh].flat;
}

static void read_meshes(struct reading *r)
{
    struct source *s = r->s;
    r->fits_3ds = fits_3ds(r);
    s->mesh_count = r->scene->mNumMeshes;
    s->meshes = source_alloc(s, s->mesh_count, sizeof *s->meshes);
    for (uint32_t i = 0; i < s->mesh_count; i++) {
        const struct aiMesh *mesh = r->scene->mMeshes[i];
        if (mesh->mMaterialIndex >= r->scene->mNumMaterials)
            source_refuse(s, STATUS_PARSE, "%s names a material that it does not have", s->path);
        uint64_t triangles = mesh_triangles(mesh);
        struct mesh *own = cut_polygons(s, mesh, triangles);
        /* Collada's names of sets may count what other meshes have */
        unsigned set = r->uv_set[mesh->mMaterialIndex];
        own->uv = mesh->mTextureCoords[mesh->mTextureCoords[set] ? set : 0];
        take_smoothing(r, i, own);
        s->meshes[i] = (struct source_mesh){
            .data = own,
            .vertex_count = mesh->mNumVertices,
            .face_count = triangles,
            .triangle_count = triangles,
            .material = r->number[mesh->mMaterialIndex],
            .flags = (uint8_t)((mesh->mNormals && !own->no_normals ? TRIANGLE_HAS_NORMALS : 0U) |
                               (own->uv ? TRIANGLE_HAS_UV : 0U) |
                               (has_colors(s, mesh) ? TRIANGLE_HAS_COLORS : 0U)),
        };
        if (mesh->mPrimitiveTypes & (aiPrimitiveType_POINT | aiPrimitiveType_LINE))
            source_note(s, "points and lines");
        if (has_colors_above_1(mesh))
            source_note(s, "vertex colours above 1: they count as 1");
        if (mesh->mColors[0] && mesh->mColors[1])
            source_note(s, "vertex colours beyond the first set");
        if (mesh->mTextureCoords[0] && mesh->mTextureCoords[1])
            source_note(s, "texture coordinates beyond the first set");
        if (mesh->mNumBones && !bend(r, mesh, &r->mesh_at[i], own))
            source_note(s, "skins: a mesh is shown as it was bound");
        if (mesh->mNumAnimMeshes)
            source_note(s, "morph targets");
    }
}

/* ---- nodes ---------------------------------------------------------------------------------- */

static const uint32_t *shared_list(struct reading *r, const uint32_t *meshes, uint32_t count)
{
    struct list **at = &r->lists[meshes[0]];
    for (struct list *l = *at; l; l = l->next)
        if (l->count == count && memcmp(l->meshes, meshes, count * sizeof *meshes) == 0)
            return l->meshes;
    struct list *l = source_alloc(r->s, 1, sizeof *l);
    *l = (struct list){*at, meshes, count};
    *at = l;
    return l->meshes;
}

/* Those of the node's meshes that bones have placed already, or the others. */
static void add_meshes(struct reading *r, const struct aiNode *node, const struct transform *at,
                       bool bent)
{
    struct source *s = r->s;
    uint32_t *meshes = source_alloc(s, node->mNumMeshes, sizeof *meshes), count = 0;
    for (unsigned i = 0; i < node->mNumMeshes; i++) {
        const struct mesh *m = s->meshes[node->mMeshes[i]].data;
        if ((m->P != NULL) == bent)
            meshes[count++] = node->mMeshes[i];
    }
    if (count)
        source_add_node(s, &(struct source_node){.meshes = shared_list(r, meshes, count),
                                                 .mesh_count = count,
                                                 .name = node->mName.data,
                                                 .to_model = bent ? transform_identity : *at});
}

/* In the order of read_places. */
static void read_node(struct reading *r, const struct aiNode *node, size_t *number)
{
    const struct transform *at = &r->places[(*number)++].to_model;
    add_meshes(r, node, at, false);
    add_meshes(r, node, at, true);
    for (unsigned i = 0; i < node->mNumChildren; i++)
        read_node(r, node->mChildren[i], number);
}

static void read_nodes(struct reading *r)
{
    size_t number = 0;
    r->lists = source_alloc(r->s, r->s->mesh_count, sizeof(struct list *));
    read_node(r, r->scene->mRootNode, &number);
}

/* ---- textures ------------------------------------------------------------------------------- */

static uint32_t wrap_of(enum aiTextureMapMode mode)
{
    switch (mode) {
    case aiTextureMapMode_Mirror:
        return WRAP_MIRROR;
    case aiTextureMapMode_Clamp:
    case aiTextureMapMode_Decal:
        return WRAP_CLAMP;
    default:
        return WRAP_REPEAT;
    }
}

static const struct aiTexture *inner_texture(const struct aiScene *scene, const char *path)
{
    if (path[0] == '*') {
        unsigned long i = strtoul(path + 1, NULL, 10);
        return i < scene->mNumTextures ? scene->mTextures[i] : NULL;
    }
    for (unsigned i = 0; i < scene->mNumTextures; i++)
        if (scene->mTextures[i]->mFilename.length &&
            strcmp(scene->mTextures[i]->mFilename.data, path) == 0)
            return scene->mTextures[i];
    return NULL;
}

/* Assimp turns about the middle; scene files about (0, 0). */
static void read_uv_transform(const struct aiMaterial *from, enum aiTextureType type,
                              struct source_texture *t)
{
    struct aiUVTransform uv;
    if (aiGetMaterialUVTransform(from, AI_MATKEY_UVTRANSFORM(type, 0), &uv) != AI_SUCCESS)
        return;
    double sx = source_float(uv.mScaling.x), sy = source_float(uv.mScaling.y),
           ox = source_float(uv.mTranslation.x), oy = source_float(uv.mTranslation.y),
           r = (double)uv.mRotation;
    if (!isfinite(sx) || !isfinite(sy) || !isfinite(ox) || !isfinite(oy) || !isfinite(r))
        return;
    if (sx != 1 || sy != 1) {
        t->scale[0] = sx;
        t->scale[1] = sy;
    }
    t->offset[0] = ox;
    t->offset[1] = oy;
    if (r != 0) {
        t->rotation = remainder(r * (180 / M_PI), 360);
        t->offset[0] += 0.5 - (0.5 * cos(r) - 0.5 * sin(r));
        t->offset[1] += 0.5 - (0.5 * sin(r) + 0.5 * cos(r));
    }
}

/* MTL's map of this kind; NULL if there is none. */
static const struct mtl_map *mtl_map(const struct reading *r, const struct aiMaterial *from,
                                     enum aiTextureType type)
{
    static const struct {
        enum aiTextureType type;
        enum mtl_map_kind kind;
    } kinds[] = {{aiTextureType_DIFFUSE, MTL_KD},        {aiTextureType_SPECULAR, MTL_KS},
                 {aiTextureType_EMISSIVE, MTL_KE},       {aiTextureType_SHININESS, MTL_NS},
                 {aiTextureType_OPACITY, MTL_D},         {aiTextureType_HEIGHT, MTL_BUMP},
                 {aiTextureType_NORMALS, MTL_NORM},      {aiTextureType_DIFFUSE_ROUGHNESS, MTL_PR},
                 {aiTextureType_METALNESS, MTL_PM},      {aiTextureType_SHEEN, MTL_PS},
                 {aiTextureType_CLEARCOAT, MTL_PC},      {aiTextureType_AMBIENT, MTL_KA},
                 {aiTextureType_DISPLACEMENT, MTL_DISP}, {aiTextureType_REFLECTION, MTL_REFL}};
    struct aiString name = {0};
    if (!r->files.mtls || aiGetMaterialString(from, AI_MATKEY_NAME, &name) != AI_SUCCESS)
        return NULL;
    const struct mtl *m = mtl_find(r->files.mtls, name.data);
    if (!m)
        return NULL;
    bool reflects = m->blender && m->maps[MTL_REFL].file[0];
    if (reflects && type == aiTextureType_REFLECTION)
        return NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].type == type && m->maps[kinds[i].kind].file[0])
            return &m->maps[kinds[i].kind];
    /* what Blender calls so where it writes no physical lines */
    return reflects && type == aiTextureType_METALNESS ? &m->maps[MTL_REFL] : NULL;
}

/* Which channel of a map that is no colour counts. */
static const char *channel_of(const struct reading *r, const struct aiMaterial *from,
                              enum aiTextureType type)
{
    const struct mtl_map *map = mtl_map(r, from, type);
    return map && map->channel[0] ? map->channel : "r";
}

static void take_mtl_map(struct source *s, const struct mtl_map *map, bool data,
                         struct source_texture *t)
{
    memset(t, 0, sizeof *t);
    t->wrap_u = t->wrap_v = map->clamp ? WRAP_CLAMP : WRAP_REPEAT;
    t->data = data;
    if (map->scale[0] != 1 || map->scale[1] != 1)
        memcpy(t->scale, map->scale, sizeof t->scale);
    memcpy(t->offset, map->offset, sizeof t->offset);
    source_texture_file(s, t, map->file);
}

/* The material's texture of this kind; false if it has none. */
static bool find_texture(struct reading *r, const struct aiMaterial *from, enum aiTextureType type,
                         bool data, struct source_texture *t)
{
    struct source *s = r->s;
    struct aiString path;
    enum aiTextureMapping mapping = aiTextureMapping_UV;
    unsigned channel = 0;
    enum aiTextureMapMode wrap[3] = {aiTextureMapMode_Wrap, aiTextureMapMode_Wrap,
                                     aiTextureMapMode_Wrap};
    const struct mtl_map *map = mtl_map(r, from, type);
    if (map) {
        take_mtl_map(s, map, data, t);
        return true;
    }
    if (aiGetMaterialTexture(from, type, 0, &path, &mapping, &channel, NULL, NULL, wrap, NULL) !=
            AI_SUCCESS ||
        path.length == 0)
        return false;
    if (mapping != aiTextureMapping_UV || channel != r->set) {
        source_note(s,
                    "the texture %.200s: it does not go by the texture coordinates that the "
                    "rest of its material goes by",
                    path.data);
        return false;
    }
    memset(t, 0, sizeof *t);
    t->wrap_u = wrap_of(wrap[0]);
    t->wrap_v = wrap_of(wrap[1]);
    t->data = data;
    read_uv_transform(from, type, t);
    const struct aiTexture *inner = inner_texture(r->scene, path.data);
    if (!inner)
        source_texture_file(s, t, path.data);
    else if (inner->mHeight == 0)
        t->image = source_image(s, inner->pcData, inner->mWidth);
    else if (inner->mWidth > UINT16_MAX || inner->mHeight > UINT16_MAX)
        source_refuse(s, STATUS_LIMIT, "%s holds an image of %ux%u pixels", s->path, inner->mWidth,
                      inner->mHeight);
    else
        t->image = derived_image(s, inner->mWidth, inner->mHeight, (const uint8_t *)inner->pcData);
    return true;
}

/* Its name; NULL if it has none. */
static const char *texture_of(struct reading *r, const struct aiMaterial *from,
                              enum aiTextureType type, bool data)
{
    struct source_texture t;
    return find_texture(r, from, type, data, &t) ? source_texture(r->s, &t) : NULL;
}

/* ---- materials ------------------------------------------------------------------------------ */

static bool get_number(const struct aiMaterial *m, const char *key, unsigned type, unsigned index,
                       double lo, double hi, double *out)
{
    float x;
    if (aiGetMaterialFloat(m, key, type, index, &x) != AI_SUCCESS)
        return false;
    *out = source_clamp(source_float(x), lo, hi);
    return true;
}

static bool get_color(const struct aiMaterial *m, const char *key, unsigned type, unsigned index,
                      double hi, double out[3])
{
    struct aiColor4D c;
    if (aiGetMaterialColor(m, key, type, index, &c) != AI_SUCCESS)
        return false;
    out[0] = source_clamp(source_float(c.r), 0, hi);
    out[1] = source_clamp(source_float(c.g), 0, hi);
    out[2] = source_clamp(source_float(c.b), 0, hi);
    return true;
}

static double largest(const double c[3]) { return fmax(c[0], fmax(c[1], c[2])); }

/* MTL's models 6 and 7 refract: the share that goes in is Tf's, else what d leaves. Tf tints it
 * where it is coloured, or Kd black. (Model 4 says as much of glass, but Maya writes it, with Tf 1,
 * for everything.) */
static double refracted(const struct reading *r, const struct aiMaterial *from, const char *name,
                        double base[3])
{
    const struct mtl *m = mtl_find(r->files.mtls, name);
    double d = 1;
    if (!m || (m->illum != 6 && m->illum != 7))
        return 0;
    get_number(from, AI_MATKEY_OPACITY, 0, 1, &d);
    double share = m->filters ? largest(m->filter) : 1 - d;
    bool black = largest(base) == 0;
    bool tinted = m->filter[0] != m->filter[1] || m->filter[1] != m->filter[2];
    for (int c = 0; c < 3 && share > 0 && (black || (m->filters && tinted)); c++)
        base[c] = m->filters ? m->filter[c] / share : 1;
    return share;
}

/* Of an MTL's material that does not refract: an index that is none of those which exporters write
 * for everything, and a filter that is coloured. */
static void note_unrefracted(struct reading *r, const struct aiMaterial *from, const char *name)
{
    static const double usual[] = {0, 1, 1.45, 1.5};
    const struct mtl *m = mtl_find(r->files.mtls, name);
    ai_real index = 0;
    if (!m)
        return;
    bool said = aiGetMaterialFloat(from, AI_MATKEY_REFRACTI, &index) == AI_SUCCESS;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        said = said && fabs((double)index - usual[i]) > 1e-6;
    if (said)
        source_note(r->s, "Ni %.6g of the material %.100s: its model (illum) does not refract",
                    (double)index, name);
    if (m->filters && (m->filter[0] != m->filter[1] || m->filter[1] != m->filter[2]))
        source_note(r->s, "Tf of the material %.100s: its model (illum) does not refract", name);
}

static bool is_blenders(const struct reading *r, const char *name)
{
    const struct mtl *m = mtl_find(r->files.mtls, name);
    return r->of_blender || (m && m->blender);
}

/* Without its physical lines Blender writes what is metallic as model 3 with Ka. */
static bool blenders_metal(const struct reading *r, const struct aiMaterial *from, const char *name,
                           double *metallic)
{
    const struct mtl *m = mtl_find(r->files.mtls, name);
    double Ka[3];
    if (!m || !m->blender || m->illum != 3 || !get_color(from, AI_MATKEY_COLOR_AMBIENT, 1, Ka))
        return false;
    *metallic = (Ka[0] + Ka[1] + Ka[2]) / 3;
    return true;
}

/* What is multiplied by a map. Blender writes what its input would be without the map, and reads it
 * so; of others a 0, which would hide the map, means nothing. */
static double factor_of(const struct reading *r, const char *name, double value, const char *map)
{
    return map && (value == 0 || is_blenders(r, name)) ? 1 : value;
}

static void write_coat_roughness(struct reading *r, const struct mtl_map *map, const char *name,
                                 double roughness)
{
    struct source_texture t;
    const char *texture = NULL, *channel = "r";
    if (map && map->file[0]) {
        take_mtl_map(r->s, map, true, &t);
        texture = source_texture(r->s, &t);
        channel = map->channel[0] ? map->channel : "r";
    }
    source_scalar(&r->s->materials, "coat_roughness", factor_of(r, name, roughness, texture),
                  texture, channel);
}

/* What MTL's extension for physically based materials and others say besides. */
static void write_layers(struct reading *r, const struct aiMaterial *from, const char *name)
{
    struct json_writer *w = &r->s->materials;
    double sheen[3] = {0}, coat = 0, roughness = 0;
    const char *coat_map = texture_of(r, from, aiTextureType_CLEARCOAT, true),
               *sheen_map = texture_of(r, from, aiTextureType_SHEEN, true);
    get_number(from, AI_MATKEY_CLEARCOAT_FACTOR, 0, 1, &coat);
    const struct mtl *a = mtl_find(r->files.mtls, name);
    coat = factor_of(r, name, coat, coat_map);
    if (coat > 0) {
        get_number(from, AI_MATKEY_CLEARCOAT_ROUGHNESS_FACTOR, 0, 1, &roughness);
        source_scalar(w, "coat", coat, coat_map, channel_of(r, from, aiTextureType_CLEARCOAT));
        write_coat_roughness(r, a ? &a->maps[MTL_PCR] : NULL, name, roughness);
    }
    if (get_number(from, AI_MATKEY_SHEEN_COLOR_FACTOR, 0, 1, &sheen[0]))
        get_color(from, AI_MATKEY_SHEEN_COLOR_FACTOR, 1, sheen);
    double cloth = factor_of(r, name, largest(sheen), sheen_map);
    if (cloth > 0)
        source_scalar(w, "sheen", cloth, sheen_map, channel_of(r, from, aiTextureType_SHEEN));
    if (a && a->strength > 0) {
        json_key_number(w, "anisotropy", source_clamp(a->strength, 0, 1));
        json_key_number(w, "rotation", a->rotation - floor(a->rotation));
    }
}

static bool has_texture(const struct reading *r, const struct aiMaterial *from,
                        enum aiTextureType type)
{
    return mtl_map(r, from, type) || aiGetMaterialTextureCount(from, type) > 0;
}

/* Roughness of Phong's exponent, which a map multiplies; what Blender writes as map_Ns, and as
 * ShininessExponent of FBX, is the roughness itself. `plain`: without a map that can be read. */
static void write_shininess(struct reading *r, const struct aiMaterial *from, const char *name,
                            double exponent, double plain)
{
    struct json_writer *w = &r->s->materials;
    const char *channel = channel_of(r, from, aiTextureType_SHININESS);
    struct source_texture map, derived;
    if (!find_texture(r, from, aiTextureType_SHININESS, true, &map))
        json_key_number(w, "roughness", plain);
    else if (is_blenders(r, name))
        source_scalar(w, "roughness", 1, source_texture(r->s, &map), channel);
    else if (derive_roughness(r->s, &map, exponent, &derived))
        source_scalar(w, "roughness", 1, source_texture(r->s, &derived), channel);
    else {
        source_note(r->s, "a map of shininess that cannot be read (material \"%.100s\")", name);
        json_key_number(w, "roughness", plain);
    }
}

/* Collada's lambert and constant have no highlight; Assimp gives them one of its own. */
static bool is_dull(const struct reading *r, const struct aiMaterial *from)
{
    int model;
    return is_named(r->s, ".dae") &&
           aiGetMaterialInteger(from, AI_MATKEY_SHADING_MODEL, &model) == AI_SUCCESS &&
           (model == aiShadingMode_Gouraud || model == aiShadingMode_NoShading);
}

static void write_surface(struct reading *r, const struct aiMaterial *from, const char *name)
{
    struct json_writer *w = &r->s->materials;
    double base[3] = {0.5, 0.5, 0.5}, metallic = 0, roughness = 1, Ks[3] = {0}, Ns = 0, x = 0;
    const char *map = texture_of(r, from, aiTextureType_BASE_COLOR, false);
    if (!map)
        map = texture_of(r, from, aiTextureType_DIFFUSE, false);
    bool has_base = get_color(from, AI_MATKEY_BASE_COLOR, 1, base);
    if (!has_base)
        get_color(from, AI_MATKEY_COLOR_DIFFUSE, 1, base);
    double brightest = largest(base);
    if (factor_of(r, name, brightest, map) != brightest)
        base[0] = base[1] = base[2] = 1;
    bool has_metallic =
        get_number(from, AI_MATKEY_METALLIC_FACTOR, 0, 1, &metallic) ||
        (r->of_blender && get_number(from, AI_MATKEY_REFLECTIVITY, 0, 1, &metallic)) ||
        blenders_metal(r, from, name, &metallic);
    bool has_roughness = get_number(from, AI_MATKEY_ROUGHNESS_FACTOR, 0, 1, &roughness);
    const char *metal_map = texture_of(r, from, aiTextureType_METALNESS, true),
               *rough_map = texture_of(r, from, aiTextureType_DIFFUSE_ROUGHNESS, true);
    bool physical = has_metallic || has_roughness || metal_map || rough_map;
    get_color(from, AI_MATKEY_COLOR_SPECULAR, 1, Ks);
    get_number(from, AI_MATKEY_SHININESS, 0, 1e6, &Ns);
    bool fbx = is_named(r->s, ".fbx"),
         has_strength = get_number(from, AI_MATKEY_SHININESS_STRENGTH, 0, 1, &x);
    for (int c = 0; c < 3 && has_strength && (x > 0 || fbx); c++) /* of others 0 says nothing */
        Ks[c] *= x;
    bool shiny = Ns > 0 || (has_texture(r, from, aiTextureType_SHININESS) && is_blenders(r, name));
    bool phong = !physical && largest(Ks) > 0 && shiny && !is_dull(r, from);
    if (!has_roughness && Ns > 0)
        roughness = phong_roughness(Ns);
    double through = refracted(r, from, name, base), ior = 1.5;
    bool full = physical || phong || through > 0;
    json_key_string(w, "type", full ? "principled" : "diffuse");
    source_color(w, full ? "base_color" : "reflectance", base, map);
    if (through > 0) {
        get_number(from, AI_MATKEY_REFRACTI, 0.1, 10, &ior);
        json_key_number(w, "transmission", through);
        json_key_number(w, "ior", ior);
        if (!physical && !phong)
            json_key_number(w, "roughness", Ns > 0 ? phong_roughness(Ns) : 0);
    }
    if (physical) {
        source_scalar(w, "metallic", factor_of(r, name, metallic, metal_map), metal_map,
                      channel_of(r, from, aiTextureType_METALNESS));
        if (rough_map)
            source_scalar(w, "roughness", factor_of(r, name, roughness, rough_map), rough_map,
                          channel_of(r, from, aiTextureType_DIFFUSE_ROUGHNESS));
        else
            write_shininess(r, from, name, phong_exponent(roughness), roughness);
        if (fbx && has_strength && !has_base && !rough_map) /* not of Max' or Maya's own */
            json_key_number(w, "specular", r->of_blender ? fmin(2 * x, 1) : largest(Ks));
        else if (!fbx && is_blenders(r, name))
            json_key_number(w, "specular", largest(Ks));
        write_layers(r, from, name);
    } else if (phong) {
        write_shininess(r, from, name, Ns, roughness);
        source_scalar(w, "specular", largest(Ks), texture_of(r, from, aiTextureType_SPECULAR, true),
                      channel_of(r, from, aiTextureType_SPECULAR));
    }
    if (!phong && has_texture(r, from, aiTextureType_SPECULAR))
        source_note(r->s, "specular maps");
    if (!phong && (!physical || rough_map) && has_texture(r, from, aiTextureType_SHININESS))
        source_note(r->s, "maps of shininess");
}

static void write_opacity(struct reading *r, const struct aiMaterial *from, const char *name)
{
    double opacity = 1;
    struct source_texture t;
    const char *map = NULL, *channel = channel_of(r, from, aiTextureType_OPACITY);
    if (find_texture(r, from, aiTextureType_OPACITY, true, &t)) {
        const struct mtl_map *said = mtl_map(r, from, aiTextureType_OPACITY);
        if (!(said && said->channel[0]) && derived_has_alpha(r->s, &t))
            channel = "a"; /* the colour's image, named again for its alpha */
        map = source_texture(r->s, &t);
    }
    get_number(from, AI_MATKEY_OPACITY, 0, 1, &opacity);
    if (refracted(r, from, name, (double[3]){1, 1, 1}) > 0)
        opacity = 1; /* what d leaves is refracted */
    else
        note_unrefracted(r, from, name);
    if (opacity == 0) { /* writers differ about which end is which */
        source_note(r->s, "opacity 0 of the material %.100s: it is opaque", name);
        opacity = 1;
    }
    if (opacity < 1 || map)
        source_scalar(&r->s->materials, "opacity", opacity, map, channel);
}

static void write_emission(struct reading *r, const struct aiMaterial *from, const char *name)
{
    double emission[3] = {0}, strength = 1;
    const char *map = texture_of(r, from, aiTextureType_EMISSIVE, false);
    if (!map)
        map = texture_of(r, from, aiTextureType_EMISSION_COLOR, false);
    get_color(from, AI_MATKEY_COLOR_EMISSIVE, 1e6, emission);
    get_number(from, AI_MATKEY_EMISSIVE_INTENSITY, 0, 1e5, &strength);
    double brightest = largest(emission);
    bool strong = r->of_blender && brightest > 0; /* the strength counts beside a map */
    if (!strong && factor_of(r, name, brightest, map) != brightest)
        emission[0] = emission[1] = emission[2] = 1;
    for (int c = 0; c < 3; c++)
        emission[c] = emission[c] * strength < 1e-12 ? 0 : emission[c] * strength;
    if (largest(emission) > 0)
        source_color(&r->s->materials, "emission", emission, map);
}

static void write_normal_map(struct reading *r, const struct aiMaterial *from, const char *name)
{
    struct json_writer *w = &r->s->materials;
    const char *map = texture_of(r, from, aiTextureType_NORMALS, true);
    const struct mtl_map *bent = mtl_map(r, from, aiTextureType_NORMALS);
    if (!map)
        map = texture_of(r, from, aiTextureType_NORMAL_CAMERA, true);
    struct source_texture
        bump; /* MTL has no other word for normals, and Blender means them by it */
    if (!map && find_texture(r, from, aiTextureType_HEIGHT, true, &bump)) {
        if (is_blenders(r, name) || derived_has_normals(r->s, &bump)) {
            map = source_texture(r->s, &bump);
            bent = mtl_map(r, from, aiTextureType_HEIGHT);
        } else
            source_note(r->s, "bump maps of heights");
    }
    if (!map)
        return;
    json_key(w, "normal_map");
    json_begin_object(w);
    json_key_string(w, "texture", map);
    if (bent && bent->multiplier != 1)
        json_key_number(w, "scale", source_clamp(bent->multiplier, -100, 100));
    json_end_object(w);
}

static void note_the_rest(struct reading *r, const struct aiMaterial *from)
{
    static const struct {
        enum aiTextureType type;
        const char *what;
    } maps[] = {{aiTextureType_AMBIENT, "ambient maps"},
                {aiTextureType_DISPLACEMENT, "displacement maps"},
                {aiTextureType_LIGHTMAP, "light maps"},
                {aiTextureType_REFLECTION, "reflection maps"},
                {aiTextureType_AMBIENT_OCCLUSION, "ambient occlusion"},
                {aiTextureType_TRANSMISSION, "transmission maps"}};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        if (has_texture(r, from, maps[i].type))
            source_note(r->s, "%s", maps[i].what);
}

/* The set that most of a material's look goes by. */
static unsigned uv_set_of(const struct aiMaterial *from)
{
    static const enum aiTextureType types[] = {aiTextureType_BASE_COLOR, aiTextureType_DIFFUSE,
                                               aiTextureType_NORMALS, aiTextureType_EMISSIVE,
                                               aiTextureType_OPACITY};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct aiString path;
        enum aiTextureMapping mapping = aiTextureMapping_UV;
        unsigned channel = 0;
        if (aiGetMaterialTexture(from, types[i], 0, &path, &mapping, &channel, NULL, NULL, NULL,
                                 NULL) == AI_SUCCESS &&
            mapping == aiTextureMapping_UV && channel < AI_MAX_NUMBER_OF_TEXTURECOORDS)
            return channel;
    }
    return 0;
}

static void read_materials(struct reading *r)
{
    struct source *s = r->s;
    r->number = source_alloc(s, r->scene->mNumMaterials, sizeof *r->number);
    r->uv_set = source_alloc(s, r->scene->mNumMaterials, sizeof *r->uv_set);
    for (unsigned i = 0; i < r->scene->mNumMaterials; i++) {
        const struct aiMaterial *from = r->scene->mMaterials[i];
        r->number[i] = UINT32_MAX;
        r->set = r->uv_set[i] = uv_set_of(from);
        if (!is_own_material(from))
            continue;
        struct aiString name = {0};
        aiGetMaterialString(from, AI_MATKEY_NAME, &name);
        r->number[i] = s->material_count;
        source_material_begin(s, name.data);
        write_surface(r, from, name.data);
        write_opacity(r, from, name.data);
        write_emission(r, from, name.data);
        write_normal_map(r, from, name.data);
        note_the_rest(r, from);
        source_material_end(s);
    }
}

/* Assimp makes gray materials of names that no library has. Told after what there is to see. */
static void note_unknown_materials(struct reading *r)
{
    const struct assimp_files *files = &r->files;
    for (unsigned i = 0; i < r->scene->mNumMaterials && is_named(r->s, ".obj"); i++) {
        struct aiString name = {0};
        aiGetMaterialString(r->scene->mMaterials[i], AI_MATKEY_NAME, &name);
        if (r->number[i] == UINT32_MAX || mtl_find(files->mtls, name.data))
            continue;
        if (files->mtls)
            source_note(r->s, "the material %.100s, which no library (mtllib) has", name.data);
        else if (!files->missing_library[0])
            source_note(r->s, "the materials: no library (mtllib) is named");
    }
}

/* ---- cameras and lights --------------------------------------------------------------------- */

static void place_point(const struct transform *t, const struct aiVector3D *v, double out[3])
{
    transform_point(t, (double[3]){(double)v->x, (double)v->y, (double)v->z}, out);
}

static void place_direction(const struct transform *t, const struct aiVector3D *v, double out[3])
{
    transform_direction(t, (double[3]){(double)v->x, (double)v->y, (double)v->z}, out);
}

static void read_cameras(struct reading *r)
{
    for (unsigned i = 0; i < r->scene->mNumCameras; i++) {
        const struct aiCamera *c = r->scene->mCameras[i];
        struct source_camera camera = {.name = c->mName.data,
                                       .fov = (double)c->mHorizontalFOV * (180 / M_PI),
                                       .fov_along_x = true,
                                       .aspect = (double)c->mAspect};
        const struct transform *node = place_of(r, c->mName.data),
                               *at = node ? node : &transform_identity;
        place_point(at, &c->mPosition, camera.origin);
        place_direction(at, &c->mLookAt, camera.forward);
        place_direction(at, &c->mUp, camera.up);
        source_camera(r->s, &camera);
    }
}

struct bounds {
    double lo[3], hi[3];
};

static struct bounds model_bounds(const struct source *s)
{
    struct bounds b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (size_t i = 0; i < s->node_count; i++)
        for (uint32_t k = 0; k < s->nodes[i].mesh_count; k++) {
            const struct source_mesh *m = &s->meshes[s->nodes[i].meshes[k]];
            for (uint64_t v = 0; v < m->vertex_count; v++) {
                struct source_vertex vertex = {0};
                double from[3], to[3];
                mesh_vertex(m, v, &vertex);
                for (int c = 0; c < 3; c++)
                    from[c] = (double)vertex.P[c];
                transform_point(&s->nodes[i].to_model, from, to);
                for (int c = 0; c < 3; c++) {
                    b.lo[c] = fmin(b.lo[c], to[c]);
                    b.hi[c] = fmax(b.hi[c], to[c]);
                }
            }
        }
    return b;
}

/* The factor of a light whose strength is 1/(c + l d + q d^2) at distance d, ours being 1/d^2:
 * where only the square counts 1/q; else what is right in the middle of the model. */
static double light_strength(const struct aiLight *light, const double at[3],
                             const struct bounds *b)
{
    double c = (double)light->mAttenuationConstant, l = (double)light->mAttenuationLinear,
           q = (double)light->mAttenuationQuadratic, d2 = 0, size2 = 0;
    if (light->mType == aiLightSource_DIRECTIONAL)
        return 1;
    if (q > 0 && c == 0 && l == 0)
        return 1 / q;
    for (int i = 0; i < 3; i++) {
        d2 += pow(at[i] - (b->lo[i] + b->hi[i]) / 2, 2);
        size2 += pow(b->hi[i] - b->lo[i], 2);
    }
    d2 = fmax(d2, size2 / 100); /* inside the model: not dark */
    double fall = c + l * sqrt(d2) + q * d2;
    return fall > 0 && isfinite(d2) ? d2 / fall : 1;
}

static void read_lights(struct reading *r)
{
    struct bounds all;
    const struct bounds *bounds = &all;
    if (r->scene->mNumLights)
        all = model_bounds(r->s);
    for (unsigned i = 0; i < r->scene->mNumLights; i++) {
        const struct aiLight *l = r->scene->mLights[i];
        struct source_light light = {.name = l->mName.data};
        const float color[3] = {l->mColorDiffuse.r, l->mColorDiffuse.g, l->mColorDiffuse.b};
        const struct transform *node = place_of(r, l->mName.data),
                               *at = node ? node : &transform_identity;
        place_point(at, &l->mPosition, light.position);
        place_direction(at, &l->mDirection, light.direction);
        double strength = light_strength(l, light.position, bounds);
        for (int c = 0; c < 3; c++)
            light.intensity[c] = source_float(color[c]) * strength;
        switch (l->mType) {
        case aiLightSource_POINT:
            light.type = SOURCE_POINT;
            break;
        case aiLightSource_SPOT:
            light.type = SOURCE_SPOT;
            light.outer = (double)l->mAngleOuterCone / 2 * (180 / M_PI);
            light.inner = (double)l->mAngleInnerCone / 2 * (180 / M_PI);
            break;
        case aiLightSource_DIRECTIONAL:
            light.type = SOURCE_DIRECTIONAL;
            break;
        default:
            source_note(r->s, "the light %.100s: ambient and area lights", l->mName.data);
            continue;
        }
        source_light(r->s, &light);
    }
}

static const struct aiScene *import_file(struct reading *r, const struct aiPropertyStore *settings)
{
    struct aiFileIO io;
    const char *path = r->s->path;
    assimp_files_open(&r->files, &io);
    const struct aiScene *scene =
        aiImportFileExWithProperties(path, 0, assimp_files_mends(path) ? &io : NULL, settings);
    if (scene && !r->files.mtls && r->files.missing_library[0])
        source_note(r->s, "the materials of %s, which is not there", r->files.missing_library);
    return scene;
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* Assimp's own words, but for C++'s. */
static const char *trouble(void)
{
    const char *text = aiGetErrorString();
    return strstr(text, "bad_alloc") ? "it asks for more memory than there is" : text;
}

static const struct aiMetadataEntry *metadata(const struct aiScene *scene, const char *key,
                                              enum aiMetadataType type)
{
    const struct aiMetadata *m = scene->mMetaData;
    for (unsigned i = 0; m && i < m->mNumProperties; i++)
        if (strcmp(m->mKeys[i].data, key) == 0 && m->mValues[i].mType == type)
            return &m->mValues[i];
    return NULL;
}

/* FBX says which axis is up, and Assimp 5.2.5 leaves coordinates as they are. */
static bool says_up_z(const struct aiScene *scene)
{
    const struct aiMetadataEntry *up = metadata(scene, "UpAxis", AI_INT32);
    int32_t axis = 1;
    if (up)
        memcpy(&axis, up->mData, sizeof axis);
    return axis == 2;
}

/* Blender writes what is metallic as FBX's ReflectionFactor. */
static bool is_of_blender(const struct aiScene *scene)
{
    const struct aiMetadataEntry *by = metadata(scene, AI_METADATA_SOURCE_GENERATOR, AI_AISTRING);
    return by && strncmp(((const struct aiString *)by->mData)->data, "Blender", 7) == 0;
}

void source_read_assimp(struct source *s)
{
    struct reading r = {.s = s, .files = {.s = s}};
    struct aiPropertyStore *settings = aiCreatePropertyStore();
    if (settings) /* a file of bones alone is no model */
        aiSetImportPropertyInteger(settings, AI_CONFIG_IMPORT_NO_SKELETON_MESHES, 1);
    /* No post-processing that welds, sorts or adds: measured on 1,048,352 triangles of PLY, this
     * reads in 0.27 s with 70 MB at peak. */
    r.scene = import_file(&r, settings);
    if (!r.scene)
        source_refuse(s, STATUS_PARSE, "cannot read the model %s: %s", s->path, trouble());
    if (!r.scene->mRootNode)
        source_refuse(s, STATUS_PARSE, "cannot read the model %s: %s", s->path, trouble());
    s->up_z = says_up_z(r.scene);
    r.of_blender = is_of_blender(r.scene);
    s->vertex = mesh_vertex;
    s->triangle = mesh_triangle;
    s->makes_normals = !r.files.says_smoothing;
    s->float_places = true;
    read_places(&r);
    read_materials(&r);
    read_meshes(&r);
    note_unknown_materials(&r);
    read_nodes(&r);
    read_cameras(&r);
    read_lights(&r);
    if (r.scene->mNumAnimations)
        source_note(s, "animations");
}

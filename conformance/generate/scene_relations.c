/* SPDX-License-Identifier: Apache-2.0 */
/* Relations between scenes: orders, sizes, brightness, mirrors, cuts. */
#include "scene_relations.h"

#include <math.h>
#include <string.h>

/* ---- what a scene has ----------------------------------------------------------------------- */

static struct scene_node *list_of(const struct scene_node *scene, const char *key)
{
    struct scene_node *n = scene_tree_get(scene, key);
    return n ? n->first : NULL;
}

static bool is_type(const struct scene_node *n, const char *type)
{
    return strcmp(scene_tree_string(n, "type"), type) == 0;
}

/* A key of a material, or of the base of one. */
static bool materials_have(const struct scene_node *scene, const char *key)
{
    for (const struct scene_node *m = list_of(scene, "materials"); m; m = m->next)
        if (scene_tree_get(m, key) || scene_tree_get(scene_tree_get(m, "base"), key))
            return true;
    return false;
}

/* Is any object of the scene so, or one of its groups? */
static bool any_object(const struct scene_node *scene,
                       bool (*is)(const struct scene_node *scene, const struct scene_node *object))
{
    for (const struct scene_node *o = list_of(scene, "objects"); o; o = o->next)
        if (is(scene, o))
            return true;
    for (const struct scene_node *g = list_of(scene, "groups"); g; g = g->next)
        for (const struct scene_node *o = g->first; o; o = o->next)
            if (is(scene, o))
                return true;
    return false;
}

static bool has_faces(const struct scene_node *scene, const struct scene_node *object)
{
    (void)scene;
    return scene_tree_get(object, "face_materials") != NULL;
}

static bool is_displaced(const struct scene_node *scene, const struct scene_node *object)
{
    (void)scene;
    return scene_tree_get(object, "displacement") != NULL;
}

/* On surfaces, or of displacements. */
static bool has_shaders(const struct scene_node *scene)
{
    for (const struct scene_node *m = list_of(scene, "materials"); m; m = m->next)
        if (is_type(m, "shader"))
            return true;
    return any_object(scene, is_displaced);
}

/* Does it emit, or may it? */
static bool is_lamp(const struct scene_node *scene, const struct scene_node *object)
{
    const struct scene_node *materials = scene_tree_get(scene, "materials");
    return has_faces(scene, object) ||
           scene_tree_get(scene_tree_get(materials, scene_tree_string(object, "material")),
                          "emission");
}

/* Of a file: what it holds is not seen here. */
static bool is_model(const struct scene_node *scene, const struct scene_node *object)
{
    (void)scene;
    return scene_tree_get(object, "file") != NULL;
}

static bool is_round(const struct scene_node *scene, const struct scene_node *object)
{
    (void)scene;
    return is_type(object, "sphere") || is_type(object, "disk");
}

static bool has_lamps(const struct scene_node *scene) { return any_object(scene, is_lamp); }
static bool has_models(const struct scene_node *scene) { return any_object(scene, is_model); }

static bool chooses_by_power(const struct scene_node *scene)
{
    return strcmp(scene_tree_string(scene_tree_get(scene, "render"), "light_choice"), "tree") != 0;
}

static bool keeps_instances(const struct scene_node *scene)
{
    return scene_tree_get(scene, "groups") &&
           strcmp(scene_tree_string(scene, "instancing"), "flatten") != 0;
}

static size_t media_count(const struct scene_node *scene)
{
    size_t n = 0;
    for (const struct scene_node *m = list_of(scene, "materials"); m; m = m->next)
        n += scene_tree_get(m, "medium") != NULL;
    return n;
}

static void reverse(struct scene_node *list)
{
    struct scene_node *turned = NULL;
    for (struct scene_node *n = list->first, *next; n; n = next) {
        next = n->next;
        n->next = turned;
        turned = n;
    }
    list->first = turned;
}

/* ---- orders --------------------------------------------------------------------------------- */

/* Numbers of materials choose nothing, but among media that start in equal boxes. */
static bool reorder_materials(struct arena *a, struct scene_node *scene)
{
    struct scene_node *materials = scene_tree_get(scene, "materials");
    (void)a;
    if (scene_tree_count(materials) < 2 || media_count(scene) > 1 ||
        any_object(scene, has_faces)) /* which may be numbers */
        return false;
    reverse(materials);
    return true;
}

/* Without lamps no number of a primitive chooses anything but between faces in one place. */
static bool reorder_objects(struct arena *a, struct scene_node *scene)
{
    struct scene_node *objects = scene_tree_get(scene, "objects");
    (void)a;
    if (scene_tree_count(objects) < 2 || has_lamps(scene) || has_models(scene) ||
        media_count(scene) || has_shaders(scene))
        return false;
    reverse(objects);
    return true;
}

static bool reorder_lamps(struct arena *a, struct scene_node *scene)
{
    struct scene_node *objects = scene_tree_get(scene, "objects");
    (void)a;
    if (scene_tree_count(objects) < 2 || !has_lamps(scene) || !chooses_by_power(scene) ||
        media_count(scene))
        return false;
    reverse(objects);
    return true;
}

static bool reorder_lights(struct arena *a, struct scene_node *scene)
{
    struct scene_node *lights = scene_tree_get(scene, "lights");
    (void)a;
    if (scene_tree_count(lights) < 2 || !chooses_by_power(scene))
        return false;
    reverse(lights);
    return true;
}

/* ---- what nothing uses ---------------------------------------------------------------------- */

static bool add_unused(struct arena *a, struct scene_node *scene)
{
    struct scene_node *materials = scene_tree_get(scene, "materials"), *m;
    if (!materials || scene_tree_get(materials, "unused"))
        return false;
    m = scene_tree_add(a, materials, "unused", JSON_OBJECT);
    return m && scene_tree_add_string(a, m, "type", "principled") &&
           scene_tree_add_number(a, m, "transmission", 0.5) &&
           scene_tree_add_number(a, m, "clearcoat", 0.5) &&
           scene_tree_add_number(a, m, "opacity", 0.5);
}

/* Triangles without an area are left out. */
static bool add_degenerate(struct arena *a, struct scene_node *scene)
{
    static const double corners[3] = {0, 0, 1};
    bool added = false;
    for (struct scene_node *o = list_of(scene, "objects"); o; o = o->next) {
        struct scene_node *triangles = scene_tree_get(o, "triangles");
        if (!triangles || scene_tree_get(o, "face_materials"))
            continue;
        if (!scene_tree_add_numbers(a, triangles, NULL, corners, 3))
            return false;
        added = true;
    }
    return added;
}

/* ---- brightness ----------------------------------------------------------------------------- */

enum { GAIN = 3 };

static void scale_member(struct scene_node *n, const char *key, double factor)
{
    struct scene_node *v = scene_tree_get(n, key);
    if (v)
        scene_tree_scale(v, factor);
}

/* Of a lamp: {"texture", "scale"} has its factor in "scale". */
static bool brighten_emission(struct arena *a, struct scene_node *m, double factor)
{
    struct scene_node *e = scene_tree_get(m, "emission");
    if (!e)
        return true;
    if (e->type != JSON_OBJECT)
        scene_tree_scale(e, factor);
    else if (scene_tree_get(e, "scale"))
        scene_tree_scale(scene_tree_get(e, "scale"), factor);
    else
        return scene_tree_add_number(a, e, "scale", factor);
    return true;
}

static bool brighten(struct arena *a, struct scene_node *scene)
{
    const double factor = ldexp(1, GAIN);
    struct scene_node *sky = scene_tree_get(scene, "environment");
    if (has_shaders(scene) || has_models(scene)) /* may emit */
        return false;
    for (struct scene_node *m = list_of(scene, "materials"); m; m = m->next)
        if (!brighten_emission(a, m, factor))
            return false;
    for (struct scene_node *l = list_of(scene, "lights"); l; l = l->next) {
        scale_member(l, "intensity", factor);
        scale_member(l, "irradiance", factor);
    }
    scale_member(sky, "radiance", factor);
    if (scene_tree_get(sky, "file") && !scene_tree_get(sky, "scale") &&
        !scene_tree_add_number(a, sky, "scale", 1))
        return false;
    scale_member(sky, "scale", factor);
    scale_member(scene_tree_get(scene, "render"), "clamp", factor);
    return true;
}

/* ---- size ----------------------------------------------------------------------------------- */

static bool add_step(struct arena *a, struct scene_node *object, const char *key, const double *v,
                     size_t n)
{
    struct scene_node *steps = scene_tree_get(object, "transform"), *step;
    if (!steps && !(steps = scene_tree_add(a, object, "transform", JSON_ARRAY)))
        return false;
    step = scene_tree_add(a, steps, NULL, JSON_OBJECT);
    return step && (n == 1 ? scene_tree_add_number(a, step, key, v[0])
                           : scene_tree_add_numbers(a, step, key, v, n));
}

/* All lengths four times as long. Coordinates round alike, and what counts in rays' offsets is
 * relative down to 2^-20. */
static bool enlarge(struct arena *a, struct scene_node *scene)
{
    static const char *const lengths[] = {"origin", "target", "lens_radius", "focus_distance",
                                          "height"};
    const double factor = 4;
    struct scene_node *camera = scene_tree_get(scene, "camera");
    if (has_shaders(scene)) /* which see where they are */
        return false;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        scale_member(camera, lengths[i], factor);
    for (struct scene_node *o = list_of(scene, "objects"); o; o = o->next)
        if (!add_step(a, o, "scale", &factor, 1))
            return false;
    for (struct scene_node *l = list_of(scene, "lights"); l; l = l->next) {
        scale_member(l, "position", factor);
        scale_member(l, "target", factor);
        scale_member(l, "intensity", factor * factor);
    }
    for (struct scene_node *m = list_of(scene, "materials"); m; m = m->next) {
        scale_member(scene_tree_get(m, "medium"), "density", 1 / factor);
        scale_member(scene_tree_get(m, "medium"), "absorption", 1 / factor);
    }
    return true;
}

/* ---- groups --------------------------------------------------------------------------------- */

/* Each object as the one of a group of its own. */
static bool wrap(struct arena *a, struct scene_node *scene)
{
    struct scene_node *objects = scene_tree_get(scene, "objects"), *groups, **at;
    if (!objects || !objects->first || scene_tree_get(scene, "groups") ||
        any_object(scene, is_displaced)) /* perhaps to pixels, which groups have not */
        return false;
    groups = scene_tree_add(a, scene, "groups", JSON_OBJECT);
    at = &objects->first;
    for (unsigned i = 0; groups && *at; at = &(*at)->next, i++) {
        struct scene_node *object = *at, *instance = ARENA_NEW(a, struct scene_node), *group;
        const char *name = arena_printf(a, "own%u", i);
        if (!instance || !name || !(group = scene_tree_add(a, groups, name, JSON_ARRAY)))
            return false;
        *instance = (struct scene_node){.type = JSON_OBJECT, .next = object->next};
        object->next = NULL;
        group->first = object;
        *at = instance;
        if (!scene_tree_add_string(a, instance, "type", "instance") ||
            !scene_tree_add_string(a, instance, "group", name))
            return false;
    }
    return groups && scene_tree_add_string(a, scene, "instancing", "flatten");
}

/* Tangents of normal maps are made in a group's space, which may be sheared. */
static bool keep_instances(struct arena *a, struct scene_node *scene)
{
    struct scene_node *how = scene_tree_get(scene, "instancing");
    if (!scene_tree_get(scene, "groups") || materials_have(scene, "normal_map") ||
        materials_have(scene, "coat_normal_map") || has_models(scene))
        return false;
    if (how)
        scene_tree_remove(scene, how);
    return scene_tree_add_string(a, scene, "instancing",
                                 how && strcmp(how->string, "two-level") == 0 ? "flatten"
                                                                              : "two-level");
}

/* ---- mirrors and turns ---------------------------------------------------------------------- */

static bool negate_x(struct scene_node *n, const char *key)
{
    struct scene_node *v = scene_tree_get(n, key);
    if (v && v->first)
        v->first->number = -v->first->number;
    return v != NULL;
}

/* Surroundings of a picture stay as they are, shaders see where they are, what is anisotropic goes
 * by frames, and so do texture coordinates of what is round. */
static bool has_direction(const struct scene_node *scene)
{
    return has_shaders(scene) || keeps_instances(scene) || materials_have(scene, "anisotropy") ||
           scene_tree_get(scene_tree_get(scene, "environment"), "file") ||
           (scene_tree_get(scene, "textures") && any_object(scene, is_round));
}

/* A round object is mirrored by its centre and normal, under steps that mirror before and after. */
static bool mirror_object(struct arena *a, struct scene_node *o)
{
    static const double mirror[16] = {-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    struct scene_node *steps = scene_tree_get(o, "transform");
    if (!is_round(NULL, o))
        return add_step(a, o, "matrix", mirror, 16);
    negate_x(o, "center");
    negate_x(o, "normal");
    for (struct scene_node *s = steps ? steps->first : NULL; s; s = s->next) {
        struct scene_node *turn = scene_tree_get(s, "rotate");
        if (scene_tree_get(s, "matrix"))
            return false;
        negate_x(s, "translate");
        if (turn) { /* about the mirrored axis the other way */
            negate_x(turn, "axis");
            scale_member(turn, "angle", -1);
        }
    }
    return true;
}

static bool mirror(struct arena *a, struct scene_node *scene)
{
    static const char *const places[] = {"position", "target", "direction"};
    struct scene_node *camera = scene_tree_get(scene, "camera");
    if (has_direction(scene) || !chooses_by_power(scene) || scene_tree_get(camera, "blades") ||
        scene_tree_get(scene, "textures") || has_models(scene)) /* coordinates follow the winding */
        return false;
    negate_x(camera, "origin");
    negate_x(camera, "target");
    negate_x(camera, "up");
    for (struct scene_node *o = list_of(scene, "objects"); o; o = o->next)
        if (is_type(o, "instance") || !mirror_object(a, o))
            return false;
    for (struct scene_node *l = list_of(scene, "lights"); l; l = l->next)
        for (size_t i = 0; i < sizeof places / sizeof *places; i++)
            negate_x(l, places[i]);
    return true;
}

/* (x, y, z) to (z, x, y): exact, and no frame stays as it was. */
static void turn_member(struct scene_node *n, const char *key)
{
    struct scene_node *v = scene_tree_get(n, key);
    double x[3];
    if (scene_tree_numbers(v, x, 3) != 3)
        return;
    v->first->number = x[2];
    v->first->next->number = x[0];
    v->first->next->next->number = x[1];
}

static bool turn(struct arena *a, struct scene_node *scene)
{
    static const double steps[16] = {0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1};
    static const char *const places[] = {"position", "target", "direction"};
    static const double up[3] = {0, 0, 1};
    struct scene_node *camera = scene_tree_get(scene, "camera");
    if (has_direction(scene) || !chooses_by_power(scene))
        return false;
    turn_member(camera, "origin");
    turn_member(camera, "target");
    if (scene_tree_get(camera, "up"))
        turn_member(camera, "up");
    else if (!scene_tree_add_numbers(a, camera, "up", up, 3))
        return false;
    for (struct scene_node *o = list_of(scene, "objects"); o; o = o->next)
        if (!add_step(a, o, "matrix", steps, 16))
            return false;
    for (struct scene_node *l = list_of(scene, "lights"); l; l = l->next)
        for (size_t i = 0; i < sizeof places / sizeof *places; i++)
            turn_member(l, places[i]);
    return true;
}

/* ---- cuts ----------------------------------------------------------------------------------- */

/* Each light without a surface as two of half its power in one place. */
static bool split_lights(struct arena *a, struct scene_node *scene)
{
    struct scene_node *lights = scene_tree_get(scene, "lights");
    if (!lights || !lights->first || !chooses_by_power(scene))
        return false;
    for (struct scene_node *l = lights->first; l; l = l->next->next) {
        scale_member(l, "intensity", 0.5);
        scale_member(l, "irradiance", 0.5);
        struct scene_node *twin = scene_tree_copy(a, l);
        if (!twin)
            return false;
        twin->next = l->next;
        l->next = twin;
    }
    return true;
}

static bool add_rows(struct arena *a, struct scene_node *to, const char *key, const double *v,
                     size_t rows, size_t width)
{
    struct scene_node *list = scene_tree_add(a, to, key, JSON_ARRAY);
    for (size_t i = 0; list && i < rows; i++)
        if (!scene_tree_add_numbers(a, list, NULL, v + i * width, width))
            return false;
    return list != NULL;
}

/* Rectangles as meshes of four triangles about their middles. What lamps send is alike on all of
 * one, unless a picture shines. */
static bool cut_rectangles(struct arena *a, struct scene_node *scene)
{
    static const double P[5][3] = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}, {0, 0, 0}},
                        uv[5][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0.5, 0.5}},
                        faces[4][3] = {{0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}};
    bool cut = false;
    if (!chooses_by_power(scene) || has_shaders(scene))
        return false;
    for (const struct scene_node *m = list_of(scene, "materials"); m; m = m->next) {
        const struct scene_node *e = scene_tree_get(m, "emission");
        if (e && e->type == JSON_OBJECT)
            return false;
    }
    for (struct scene_node *o = list_of(scene, "objects"); o; o = o->next) {
        struct scene_node *type = scene_tree_get(o, "type");
        if (!is_type(o, "rectangle"))
            continue;
        type->string = "mesh";
        cut = true;
        if (!add_rows(a, o, "vertices", P[0], 5, 3) || !add_rows(a, o, "uv", uv[0], 5, 2) ||
            !add_rows(a, o, "triangles", faces[0], 4, 3))
            return false;
    }
    return cut;
}

/* ---- the table ------------------------------------------------------------------------------ */

static const struct scene_relation relations[] = {
    {"materials-order", "materials in the other order", RELATION_EXACT, false, 0, false,
     reorder_materials},
    {"objects-order", "objects in the other order, of a scene whose surfaces do not emit",
     RELATION_EXACT, false, 0, false, reorder_objects},
    {"unused-material", "a material more, which nothing has", RELATION_EXACT, false, 0, false,
     add_unused},
    {"no-area", "triangles more, without an area", RELATION_EXACT, false, 0, false, add_degenerate},
    {"brightness", "all light eight times as bright", RELATION_EXACT, false, GAIN, false, brighten},
    {"size", "all lengths four times as long", RELATION_EXACT, false, 0, false, enlarge},
    {"own-groups", "each object in a group of its own, flattened", RELATION_EXACT, false, 0, false,
     wrap},
    {"baked", "parameters of shaders as constants of the program", RELATION_EXACT, false, 0, true,
     NULL},
    {"instances", "instances kept that were flattened, or flattened that were kept", RELATION_PAIRS,
     false, 0, false, keep_instances},
    {"lamps-order", "objects in the other order, some of which emit", RELATION_ALIKE, false, 0,
     false, reorder_lamps},
    {"lights-order", "lights in the other order", RELATION_ALIKE, false, 0, false, reorder_lights},
    {"mirror", "the mirror image, from the left to the right", RELATION_ALIKE, true, 0, false,
     mirror},
    {"turn", "turned, so that y is up along z", RELATION_ALIKE, false, 0, false, turn},
    {"split-lights", "each light as two of half its power", RELATION_ALIKE, false, 0, false,
     split_lights},
    {"cut", "rectangles cut into four triangles, lamps too", RELATION_ALIKE, false, 0, false,
     cut_rectangles},
};

const struct scene_relation *scene_relation_at(size_t index)
{
    return index < sizeof relations / sizeof *relations ? &relations[index] : NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A scene as Mitsuba 3 XML: camera, film, integrator, lights, shapes. */
#include "mitsuba.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- notes, names --------------------------------------------------------------------------- */

void mitsuba_differs(struct exporter *x, const char *what, const char *fmt, ...)
{
    if (!x->dry)
        return;
    char why[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    struct mitsuba_note *n = ARENA_NEW(x->arena, struct mitsuba_note);
    char *copy = arena_strdup(x->arena, why);
    if (!n || !copy) {
        x->status = error_msg(x->err, STATUS_MEMORY, "out of memory exporting %s", x->scene->name);
        return;
    }
    *n = (struct mitsuba_note){.what = what, .why = copy};
    *x->last = n;
    x->last = &n->next;
}

const char *mitsuba_material_title(struct exporter *x, const struct material *m)
{
    const char *title = arena_printf(x->arena, "material \"%s\"", m->name);
    return title ? title : m->name;
}

const char *mitsuba_escape(struct exporter *x, const char *name)
{
    struct text t = {0};
    for (; *name; name++) {
        const char *special = strchr("&<>\"'", *name);
        if (special)
            text_printf(&t, "&#%d;", *special);
        else
            text_append(&t, name, 1);
    }
    const char *escaped = t.data ? arena_strdup(x->arena, t.data) : "";
    x->xml.failed |= t.failed || !escaped;
    text_free(&t);
    return escaped ? escaped : "";
}

const char *mitsuba_bsdf_id(struct exporter *x, uint32_t material)
{
    /* The number keeps names apart that Mitsuba's rules for identifiers would make one. */
    struct text t = {0};
    text_printf(&t, "material%u-", material);
    for (const char *c = x->scene->materials[material].name; *c; c++)
        text_append(&t, *c == '.' ? "_" : c, 1);
    const char *id = t.data ? mitsuba_escape(x, t.data) : "";
    x->xml.failed |= t.failed;
    text_free(&t);
    return id;
}

/* ---- camera and film ------------------------------------------------------------------------ */

/* Mitsuba's cameras see what lies between two planes: chosen so that everything does. */
static void clip_planes(const struct scene *s, double *near_clip, double *far_clip)
{
    const struct camera *c = &s->camera;
    double least = INFINITY, greatest = -INFINITY;
    for (int corner = 0; corner < 8 && s->bounds_min[0] <= s->bounds_max[0]; corner++) {
        double depth = 0;
        for (int k = 0; k < 3; k++)
            depth += ((corner >> k & 1 ? s->bounds_max[k] : s->bounds_min[k]) - c->origin[k]) *
                     c->forward[k];
        least = fmin(least, depth);
        greatest = fmax(greatest, depth);
    }
    if (!(greatest > 0)) /* all of it behind: the environment is seen */
        least = greatest = c->focus_distance;
    /* Rays run obliquely: no field of view is wider than 179 degrees, but for 1/cos of that the far
     * plane stands a hundred times off. */
    *far_clip = 100 * greatest;
    *near_clip = fmax(0.5 * fmax(least, 0), 1e-5 * greatest);
}

static void note_camera(struct exporter *x)
{
    const struct scene *s = x->scene;
    const struct camera *c = &s->camera;
    const double *o = s->frame_origin;
    if (o[0] != 0 || o[1] != 0 || o[2] != 0)
        mitsuba_differs(x, "scene",
                        "it stands far from the origin; what is written is moved by (%.15g, %.15g, "
                        "%.15g), so that float32 serves it",
                        -o[0], -o[1], -o[2]);
    if (c->type == CAMERA_EQUIRECTANGULAR)
        mitsuba_differs(x, "camera",
                        "Mitsuba has no equirectangular camera: a perspective one is "
                        "written");
    if (c->type == CAMERA_ORTHOGRAPHIC && c->lens_radius > 0)
        mitsuba_differs(x, "camera", "Mitsuba's orthographic camera has no lens: none is written");
    if (c->lens_radius > 0 && (c->blades || (c->anamorphic != 0 && c->anamorphic != 1)))
        mitsuba_differs(x, "camera",
                        "Mitsuba's apertures are round: \"blades\" and "
                        "\"anamorphic\" are not exported");
    if (s->clamp > 0)
        mitsuba_differs(x, "render", "Mitsuba does not clamp samples");
    if (!scene_default_filter(s) && s->filter == PIXEL_BOX)
        mitsuba_differs(x, "film", "Mitsuba's box is one pixel wide: that is written");
    if (!scene_default_filter(s) && s->filter == PIXEL_BLACKMAN_HARRIS)
        mitsuba_differs(x, "film",
                        "Mitsuba has no Blackman-Harris filter: the Gaussian is written");
    if (!scene_default_filter(s) && s->filter == PIXEL_GAUSSIAN)
        mitsuba_differs(x, "film",
                        "Mitsuba's Gaussian reaches to 4 sigma and is lowered to end at 0, ours to "
                        "3 sigma");
}

/* Mitsuba weighs samples near the picture's edge by what lies within, unless told to sample beyond
 * it; ours lie where the filter says. */
static void write_filter(struct exporter *x)
{
    const struct scene *s = x->scene;
    if (s->filter == PIXEL_BOX) {
        text_puts(&x->xml, "      <rfilter type=\"box\"/>\n");
        return;
    }
    text_puts(&x->xml, "      <boolean name=\"sample_border\" value=\"true\"/>\n");
    if (s->filter == PIXEL_TENT)
        text_printf(
            &x->xml,
            "      <rfilter type=\"tent\"><float name=\"radius\" value=\"%.9g\"/></rfilter>\n",
            s->filter_radius);
    else
        text_printf(&x->xml,
                    "      <rfilter type=\"gaussian\"><float name=\"stddev\" "
                    "value=\"%.9g\"/></rfilter>\n",
                    s->filter_radius / 3);
}

static void write_film(struct exporter *x)
{
    const uint32_t *crop = x->scene->crop;
    text_puts(&x->xml, "    <film type=\"hdrfilm\">\n"
                       "      <integer name=\"width\" value=\"$width\"/>\n"
                       "      <integer name=\"height\" value=\"$height\"/>\n"
                       "      <string name=\"pixel_format\" value=\"rgb\"/>\n"
                       "      <string name=\"component_format\" value=\"float32\"/>\n");
    if (crop[2])
        text_printf(&x->xml,
                    "      <integer name=\"crop_offset_x\" value=\"%u\"/>\n"
                    "      <integer name=\"crop_offset_y\" value=\"%u\"/>\n"
                    "      <integer name=\"crop_width\" value=\"%u\"/>\n"
                    "      <integer name=\"crop_height\" value=\"%u\"/>\n",
                    crop[0], crop[1], crop[2], crop[3]);
    write_filter(x);
    text_puts(&x->xml, "    </film>\n"
                       "    <sampler type=\"independent\">\n"
                       "      <integer name=\"sample_count\" value=\"$spp\"/>\n"
                       "      <integer name=\"seed\" value=\"$seed\"/>\n"
                       "    </sampler>\n");
}

static void write_lens(struct exporter *x)
{
    const struct camera *c = &x->scene->camera;
    static const char *const axes[] = {"x", "y", "smaller", "larger"};
    if (c->lens_radius > 0)
        text_printf(&x->xml,
                    "    <float name=\"aperture_radius\" value=\"%.17g\"/>\n"
                    "    <float name=\"focus_distance\" value=\"%.17g\"/>\n",
                    c->lens_radius, c->focus_distance);
    text_printf(&x->xml,
                "    <float name=\"fov\" value=\"%.17g\"/>\n"
                "    <string name=\"fov_axis\" value=\"%s\"/>\n",
                atan(c->tan_half_fov) * 2 * 180 / 3.14159265358979323846, axes[c->fov_axis]);
}

static void write_sensor(struct exporter *x)
{
    const struct scene *s = x->scene;
    const struct camera *c = &s->camera;
    bool flat = c->type == CAMERA_ORTHOGRAPHIC;
    double near_clip, far_clip, tan_x = 1, tan_y;
    note_camera(x);
    clip_planes(s, &near_clip, &far_clip);
    text_printf(&x->xml, "  <sensor type=\"%s\">\n",
                flat                 ? "orthographic"
                : c->lens_radius > 0 ? "thinlens"
                                     : "perspective");
    if (flat) /* from -1 to 1 along x before the transform */
        camera_tangents(c, s->width, s->height, &tan_x, &tan_y);
    else
        write_lens(x);
    text_printf(&x->xml,
                "    <float name=\"near_clip\" value=\"%.9g\"/>\n"
                "    <float name=\"far_clip\" value=\"%.9g\"/>\n",
                near_clip, far_clip);
    text_puts(&x->xml, "    <transform name=\"to_world\">\n");
    if (flat)
        text_printf(&x->xml, "      <scale x=\"%.17g\" y=\"%.17g\"/>\n", tan_x, tan_x);
    text_printf(&x->xml,
                "      <lookat origin=\"%.17g, %.17g, %.17g\" target=\"%.17g, %.17g, %.17g\" "
                "up=\"%.17g, %.17g, %.17g\"/>\n"
                "    </transform>\n",
                c->origin[0], c->origin[1], c->origin[2], c->origin[0] + c->forward[0],
                c->origin[1] + c->forward[1], c->origin[2] + c->forward[2], c->up[0], c->up[1],
                c->up[2]);
    write_film(x);
    text_puts(&x->xml, "  </sensor>\n");
}

static void write_settings(struct exporter *x)
{
    const struct scene *s = x->scene;
    text_printf(&x->xml,
                "  <default name=\"width\" value=\"%u\"/>\n"
                "  <default name=\"height\" value=\"%u\"/>\n"
                "  <default name=\"spp\" value=\"%u\"/>\n"
                "  <default name=\"seed\" value=\"%u\"/>\n"
                "  <default name=\"max_depth\" value=\"%u\"/>\n"
                "  <default name=\"rr_depth\" value=\"%u\"/>\n"
                "  <integrator type=\"%s\">\n"
                "    <integer name=\"max_depth\" value=\"$max_depth\"/>\n"
                "    <integer name=\"rr_depth\" value=\"$rr_depth\"/>\n"
                "  </integrator>\n",
                s->width, s->height, s->spp, (unsigned)(s->seed & 0x7fffffff), s->max_depth,
                s->rr_depth, x->volumetric ? "volpath" : "path");
}

/* ---- lights --------------------------------------------------------------------------------- */

static void write_environment(struct exporter *x)
{
    const struct environment *env = &x->scene->environment;
    if (env->type == ENVIRONMENT_CONSTANT)
        text_printf(&x->xml,
                    "  <emitter type=\"constant\">\n"
                    "    <rgb name=\"radiance\" value=\"%.9g, %.9g, %.9g\"/>\n"
                    "  </emitter>\n",
                    (double)env->radiance[0], (double)env->radiance[1], (double)env->radiance[2]);
    if (env->type != ENVIRONMENT_MAP)
        return;
    if (env->map.width < 2) {
        mitsuba_differs(x, "environment", "Mitsuba takes no map of less than 2 columns");
        return;
    }
    const char *name = arena_printf(x->arena, "%s-environment.exr", x->stem);
    mitsuba_write_environment(x, name);
    const float *r = env->to_local; /* orthonormal: its transpose takes the map to the world */
    text_printf(
        &x->xml,
        "  <emitter type=\"envmap\">\n"
        "    <string name=\"filename\" value=\"%s\"/>\n"
        "    <transform name=\"to_world\"><matrix value=\"%.9g %.9g %.9g 0  %.9g %.9g %.9g 0  "
        "%.9g %.9g %.9g 0  0 0 0 1\"/></transform>\n"
        "  </emitter>\n",
        mitsuba_escape(x, name), (double)r[0], (double)r[3], (double)r[6], (double)r[1],
        (double)r[4], (double)r[7], (double)r[2], (double)r[5], (double)r[8]);
}

static void write_rgb(struct exporter *x, const char *name, const float v[3])
{
    text_printf(&x->xml, "    <rgb name=\"%s\" value=\"%.9g, %.9g, %.9g\"/>\n", name, (double)v[0],
                (double)v[1], (double)v[2]);
}

static void write_spot(struct exporter *x, const struct light *l, size_t index)
{
    const double degrees = 180 / 3.14159265358979323846;
    /* Both are steps when the cones are one. */
    bool step = l->inner_angle == l->angle, plugin = x->options->plugins && !step;
    const char *title = arena_printf(x->arena, "light %zu", index);
    if (!plugin && !step)
        mitsuba_differs(
            x, title ? title : "light",
            "Mitsuba's spots fall off linearly in the angle, ours as the smooth step of "
            "its cosine (--plugins)");
    text_printf(&x->xml,
                "  <emitter type=\"%s\">\n"
                "    <float name=\"cutoff_angle\" value=\"%.9g\"/>\n"
                "    <float name=\"beam_width\" value=\"%.9g\"/>\n"
                "    <transform name=\"to_world\">\n",
                plugin ? "isophote_spot" : "spot", l->angle * degrees,
                (step ? 0.9999 : 1) * l->inner_angle * degrees);
    const float *p = l->position, *d = l->direction;
    bool upright = fabsf(d[1]) > 0.9F;
    text_printf(&x->xml,
                "      <lookat origin=\"%.9g, %.9g, %.9g\" target=\"%.9g, %.9g, %.9g\" "
                "up=\"%s\"/>\n    </transform>\n",
                (double)p[0], (double)p[1], (double)p[2], (double)p[0] + d[0], (double)p[1] + d[1],
                (double)p[2] + d[2], upright ? "1, 0, 0" : "0, 1, 0");
    write_rgb(x, "intensity", l->intensity);
    text_puts(&x->xml, "  </emitter>\n");
}

static void write_lights(struct exporter *x)
{
    for (size_t i = 0; i < x->scene->light_count; i++) {
        const struct light *l = &x->scene->lights[i];
        const float *p = l->position, *d = l->direction;
        switch (l->type) {
        case LIGHT_POINT:
            text_printf(&x->xml,
                        "  <emitter type=\"point\">\n"
                        "    <point name=\"position\" value=\"%.9g, %.9g, %.9g\"/>\n",
                        (double)p[0], (double)p[1], (double)p[2]);
            write_rgb(x, "intensity", l->intensity);
            text_puts(&x->xml, "  </emitter>\n");
            break;
        case LIGHT_SPOT:
            write_spot(x, l, i);
            break;
        case LIGHT_DIRECTIONAL:
            text_printf(&x->xml,
                        "  <emitter type=\"directional\">\n"
                        "    <vector name=\"direction\" value=\"%.9g, %.9g, %.9g\"/>\n",
                        (double)d[0], (double)d[1], (double)d[2]);
            write_rgb(x, "irradiance", l->intensity);
            text_puts(&x->xml, "  </emitter>\n");
            break;
        }
    }
}

static bool is_black(const struct material *m)
{
    const float *v = m->base.value;
    return m->type == MATERIAL_DIFFUSE && !m->shading && v[0] == 0 && v[1] == 0 && v[2] == 0;
}

/* ---- media ---------------------------------------------------------------------------------- */

static void grow(double box[2][3], const float p[3], double r)
{
    for (int k = 0; k < 3; k++) {
        box[0][k] = fmin(box[0][k], (double)p[k] - r);
        box[1][k] = fmax(box[1][k], (double)p[k] + r);
    }
}

static void box_of(const struct scene *s, uint32_t material, double box[2][3])
{
    for (int k = 0; k < 3; k++) {
        box[0][k] = INFINITY;
        box[1][k] = -INFINITY;
    }
    for (size_t i = 0; i < s->triangle_count; i++)
        for (int k = 0; k < 3 && s->primitive_material[i] == material; k++)
            grow(box, s->P[s->triangles[i][k]], 0);
    for (size_t i = 0; i < s->sphere_count; i++)
        if (s->primitive_material[s->triangle_count + i] == material)
            grow(box, s->spheres[i].center, (double)s->spheres[i].radius);
}

static bool boxes_meet(double a[2][3], double b[2][3])
{
    bool meet = true;
    for (int k = 0; k < 3; k++)
        meet = meet && a[0][k] <= b[1][k] && b[0][k] <= a[1][k];
    return meet;
}

/* A path's medium is what it entered last; Mitsuba's surfaces say what lies on either side. */
static void note_medium(struct exporter *x, uint32_t material, const char *title)
{
    const struct scene *s = x->scene;
    double box[2][3], other[2][3], eye[2][3];
    box_of(s, material, box);
    for (int k = 0; k < 3; k++)
        eye[0][k] = eye[1][k] = s->camera.origin[k];
    if (boxes_meet(box, eye))
        mitsuba_differs(x, title, "the camera may stand in its medium: Mitsuba would not know");
    for (uint32_t m = 0; m < material; m++) {
        if (!x->used[m] || !s->materials[m].medium.present)
            continue;
        box_of(s, m, other);
        if (boxes_meet(box, other))
            mitsuba_differs(x, title,
                            "its medium may meet that of %s: Mitsuba's media cannot nest by "
                            "themselves",
                            mitsuba_material_title(x, &s->materials[m]));
    }
}

/* Extinction there is by channel, and absorption is in it. Colours there end at 1: a factor has the
 * rest. */
static void write_extinction(struct exporter *x, const struct medium *m)
{
    float sigma_t[3], albedo[3], most = 0;
    bool absorbs = false;
    for (int c = 0; c < 3; c++) {
        sigma_t[c] = m->density + m->absorption[c];
        albedo[c] = sigma_t[c] > 0 ? m->albedo[c] * (m->density / sigma_t[c]) : 0;
        absorbs = absorbs || m->absorption[c] > 0;
        most = fmaxf(most, sigma_t[c]);
    }
    if (absorbs) {
        for (int c = 0; c < 3; c++)
            sigma_t[c] /= most;
        write_rgb(x, "sigma_t", sigma_t);
        text_printf(&x->xml, "    <float name=\"scale\" value=\"%.9g\"/>\n", (double)most);
    } else
        text_printf(&x->xml, "    <float name=\"sigma_t\" value=\"%.9g\"/>\n", (double)m->density);
    write_rgb(x, "albedo", absorbs ? albedo : m->albedo);
}

static void write_media(struct exporter *x)
{
    const struct scene *s = x->scene;
    for (uint32_t i = 0; i < s->material_count; i++) {
        const struct medium *m = &s->materials[i].medium;
        if (!x->used[i] || !m->present)
            continue;
        note_medium(x, i, mitsuba_material_title(x, &s->materials[i]));
        text_printf(&x->xml, "  <medium type=\"homogeneous\" id=\"medium%u\">\n", i);
        write_extinction(x, m);
        text_printf(&x->xml,
                    "    <phase type=\"hg\"><float name=\"g\" value=\"%.9g\"/></phase>\n"
                    "  </medium>\n",
                    (double)m->g);
    }
}

/* ---- shapes --------------------------------------------------------------------------------- */

/* What a shape needs beside its material's BSDF to look as it does here. */
struct differences {
    bool smooth;    /* vertex normals, which the faces have a say in (protocol, sections 4 and 6) */
    bool disk;      /* texture coordinates */
    bool own_frame; /* the tangent that anisotropy takes */
    bool map;       /* of normals */
};

static void write_flag(struct exporter *x, const char *name, bool on)
{
    if (on)
        text_printf(&x->xml, "      <boolean name=\"%s\" value=\"true\"/>\n", name);
}

static void write_surface(struct exporter *x, uint32_t material, struct differences d)
{
    const struct material *m = &x->scene->materials[material];
    const char *id = mitsuba_bsdf_id(x, material);
    bool any = d.smooth || d.disk || d.own_frame || d.map;
    if (!any || !x->options->plugins || m->interface) {
        text_printf(&x->xml, "    <ref id=\"%s\"/>\n", id);
        return;
    }
    text_printf(&x->xml,
                "    <bsdf type=\"isophote_surface\">\n      <ref name=\"surface\" id=\"%s\"/>\n",
                id);
    write_flag(x, "disk", d.disk);
    write_flag(x, "own_frame", d.own_frame);
    if (d.map)
        mitsuba_write_normal_map(x, m);
    text_puts(&x->xml, "    </bsdf>\n");
}

static void close_shape(struct exporter *x, uint32_t material, struct differences d)
{
    const struct material *m = &x->scene->materials[material];
    bool both = m->emission_two_sided && !m->single_sided;
    bool plugin = x->options->plugins && (both || (d.disk && m->emission_texture));
    write_surface(x, material, d);
    if (m->medium.present)
        text_printf(&x->xml, "    <ref name=\"interior\" id=\"medium%u\"/>\n", material);
    if (material_emits(m)) {
        text_printf(&x->xml, "    <emitter type=\"%s\">\n", plugin ? "isophote_area" : "area");
        if (plugin) {
            write_flag(x, "two_sided", both);
            write_flag(x, "disk", d.disk);
        }
        mitsuba_write_emission(x, m);
        text_puts(&x->xml, "    </emitter>\n");
    }
    text_puts(&x->xml, "  </shape>\n");
}

static void write_meshes(struct exporter *x, const struct prototype *prototype, uint32_t material)
{
    const struct material *m = &x->scene->materials[material];
    for (uint8_t flags = 0; flags < 8; flags++) {
        const char *name;
        mitsuba_write_ply(x, prototype, material, flags, &name);
        if (!*name)
            continue;
        if (flags & TRIANGLE_HAS_COLORS && !x->options->plugins)
            mitsuba_differs(x, mitsuba_material_title(x, m),
                            "vertex colours multiply what it reflects here; Mitsuba has no product "
                            "of textures, and the mesh is written without them (--plugins)");
        if (m->normal_map.present && prototype)
            mitsuba_differs(x, mitsuba_material_title(x, m),
                            "its normal map is on triangles in an instance that is kept: its "
                            "tangents would not be turned");
        /* Mitsuba's lights shine to the side of the shading normal. That of a light which reflects
         * nothing has no other use. */
        bool flat = !(flags & TRIANGLE_HAS_NORMALS) || (material_emits(m) && is_black(m));
        if (material_emits(m) && !flat)
            mitsuba_differs(x, mitsuba_material_title(x, m),
                            "a mesh with vertex normals emits to the side of the shading normal "
                            "in Mitsuba, to that of the geometric normal here");
        bool brushed = mitsuba_is_brushed(m) && !(flags & TRIANGLE_HAS_UV);
        if (brushed && !x->options->plugins)
            mitsuba_differs(x, mitsuba_material_title(x, m),
                            "it is on triangles without texture coordinates, where Mitsuba's "
                            "anisotropy has another frame (--plugins)");
        text_printf(&x->xml,
                    "  <shape type=\"ply\">\n"
                    "    <string name=\"filename\" value=\"%s\"/>\n"
                    "    <boolean name=\"face_normals\" value=\"%s\"/>\n",
                    mitsuba_escape(x, name), flat ? "true" : "false");
        close_shape(x, material,
                    (struct differences){
                        .smooth = !flat, .own_frame = brushed, .map = m->normal_map.present});
    }
}

static void write_spheres(struct exporter *x, uint32_t material)
{
    const struct scene *s = x->scene;
    const struct material *m = &s->materials[material];
    for (size_t i = 0; i < s->sphere_count; i++) {
        if (s->primitive_material[s->triangle_count + i] != material)
            continue;
        const struct sphere *p = &s->spheres[i];
        text_printf(&x->xml,
                    "  <shape type=\"sphere\">\n"
                    "    <point name=\"center\" value=\"%.9g, %.9g, %.9g\"/>\n"
                    "    <float name=\"radius\" value=\"%.9g\"/>\n",
                    (double)p->center[0], (double)p->center[1], (double)p->center[2],
                    (double)p->radius);
        close_shape(x, material, (struct differences){.map = m->normal_map.present});
    }
}

static void write_disks(struct exporter *x, uint32_t material)
{
    const struct scene *s = x->scene;
    const struct material *m = &s->materials[material];
    bool warned = false;
    for (size_t i = 0; i < s->disk_count; i++) {
        const struct disk *p = &s->disks[i];
        if (s->primitive_material[s->triangle_count + s->sphere_count + i] != material)
            continue;
        bool placed = mitsuba_is_brushed(m) || mitsuba_needs_uv(m);
        if (mitsuba_is_brushed(m) && !warned && !x->options->plugins)
            mitsuba_differs(x, mitsuba_material_title(x, m),
                            "it is on a disk, where Mitsuba's anisotropy runs around the centre "
                            "(--plugins)");
        if (mitsuba_needs_uv(m) && !warned && !x->options->plugins)
            mitsuba_differs(x, mitsuba_material_title(x, m),
                            "it is on a disk, whose texture coordinates are radius and angle in "
                            "Mitsuba and offsets from the centre here (--plugins)");
        warned = true;
        const float *n = p->normal, *c = p->center;
        double r = p->radius, sg = copysign(1, n[2]), a = -1 / (sg + n[2]),
               b = (double)n[0] * n[1] * a;
        const double sx[3] = {1 + sg * n[0] * n[0] * a, sg * b, -sg * n[0]};
        const double ty[3] = {b, sg + (double)n[1] * n[1] * a, -(double)n[1]};
        text_puts(&x->xml,
                  "  <shape type=\"disk\">\n    <transform name=\"to_world\"><matrix value=\"");
        for (int k = 0; k < 3; k++)
            text_printf(&x->xml, "%.9g %.9g %.9g %.9g  ", r * sx[k], r * ty[k], r * n[k],
                        (double)c[k]);
        text_puts(&x->xml, "0 0 0 1\"/></transform>\n");
        close_shape(x, material,
                    (struct differences){.disk = placed, .map = m->normal_map.present});
    }
}

static void write_objects(struct exporter *x, uint32_t material)
{
    const struct material *m = &x->scene->materials[material];
    if (material_emits(m) && m->emission_two_sided && !x->options->plugins)
        mitsuba_differs(x, mitsuba_material_title(x, m),
                        "Mitsuba's area lights shine to one side: the side of the normal is "
                        "written (--plugins)");
    write_meshes(x, NULL, material);
    write_spheres(x, material);
    write_disks(x, material);
}

static void write_instances(struct exporter *x)
{
    const struct scene *s = x->scene;
    for (size_t p = 0; p < s->prototype_count && !x->status; p++) {
        text_printf(&x->xml, "  <shape type=\"shapegroup\" id=\"group%zu\">\n", p);
        for (uint32_t m = 0; m < s->material_count && !x->status; m++)
            if (x->used[m])
                write_meshes(x, &s->prototypes[p], m);
        text_puts(&x->xml, "  </shape>\n");
    }
    for (size_t i = 0; i < s->instance_count; i++) {
        text_puts(&x->xml, "  <shape type=\"instance\">\n    <transform name=\"to_world\"><matrix "
                           "value=\"");
        for (int k = 0; k < 3; k++) {
            const float *r = s->instances[i].to_world[k];
            text_printf(&x->xml, "%.9g %.9g %.9g %.9g  ", (double)r[0], (double)r[1], (double)r[2],
                        (double)r[3]);
        }
        text_printf(&x->xml, "0 0 0 1\"/></transform>\n    <ref id=\"group%u\"/>\n  </shape>\n",
                    s->instances[i].prototype);
    }
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* Once with `dry` for the notes, once to write. */
static void write_scene(struct exporter *x)
{
    const struct scene *s = x->scene;
    text_free(&x->xml);
    x->xml = (struct text){0};
    x->texture_files = 0;
    text_printf(&x->xml,
                "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
                "<!-- By isophote export, of the scene with the hash %s. -->\n"
                "<scene version=\"3.0.0\">\n",
                s->hash);
    write_settings(x);
    write_sensor(x);
    for (uint32_t m = 0; m < s->material_count && !x->status; m++)
        if (x->used[m])
            mitsuba_write_bsdf(x, m);
    write_media(x);
    write_environment(x);
    write_lights(x);
    for (uint32_t m = 0; m < s->material_count && !x->status; m++)
        if (x->used[m])
            write_objects(x, m);
    write_instances(x);
    text_puts(&x->xml, "</scene>\n");
    if (x->xml.failed && !x->status)
        x->status = error_msg(x->err, STATUS_MEMORY, "out of memory exporting %s", s->name);
}

/* Folder and stem of the XML file that `out` names. A stem may hold what a comment of XML may not.
 */
static void place(struct exporter *x, const char *out)
{
    struct arena *a = x->arena;
    if (path_ends(out, ".xml")) {
        x->folder = path_folder(a, out);
        x->stem = path_stem(a, out);
    } else {
        x->folder = arena_strdup(a, out);
        x->stem = "scene";
        if (mkdir(out, 0777) != 0 && errno != EEXIST)
            x->status = error_msg(x->err, STATUS_IO, "%s: the folder cannot be made: %s", out,
                                  strerror(errno));
    }
    x->options->xml = arena_printf(a, "%s/%s.xml", x->folder, x->stem);
    if (!x->folder || !x->stem || !x->options->xml)
        x->status = error_msg(x->err, STATUS_MEMORY, "out of memory exporting %s", out);
}

/* The plugins' file beside the scene. */
static void copy_plugins(struct exporter *x)
{
    const char *from, *to = arena_printf(x->arena, "%s/isophote_bsdfs.py", x->folder);
    char *data;
    size_t size;
    if (!to)
        x->status = error_msg(x->err, STATUS_MEMORY, "out of memory exporting %s", x->scene->name);
    if (!x->status)
        x->status = data_path(x->arena, "scenes/export/isophote_bsdfs.py", &from, x->err);
    if (!x->status)
        x->status = file_read(x->arena, from, 0, &data, &size, x->err);
    if (!x->status)
        x->status = file_kind_check(to, data, size, x->err);
    if (!x->status)
        x->status = file_write(to, data, size, x->err);
}

enum status scene_export_mitsuba(struct arena *a, const struct scene *s, const char *out,
                                 struct mitsuba_export *options, struct error *err)
{
    options->notes = NULL;
    options->xml = NULL;
    struct exporter x = {.arena = a,
                         .scene = s,
                         .options = options,
                         .last = &options->notes,
                         .folder = "",
                         .stem = s->name,
                         .dry = true,
                         .err = err,
                         .used = ARENA_ARRAY(a, bool, s->material_count)};
    if (!x.used)
        return error_msg(err, STATUS_MEMORY, "out of memory exporting %s", s->name);
    for (size_t i = 0; i < scene_primitive_count(s) + s->prototype_triangle_count; i++)
        x.used[s->primitive_material[i]] = true;
    for (size_t m = 0; m < s->material_count; m++)
        x.volumetric |= x.used[m] && mitsuba_is_passed(&s->materials[m]);
    write_scene(&x);
    if (!x.status && options->notes && !options->lossy)
        x.status = error_msg(err, STATUS_UNSUPPORTED,
                             "%s: not everything means the same in Mitsuba 3; nothing is written",
                             s->path);
    x.dry = false;
    if (!x.status)
        place(&x, out);
    if (!x.status)
        write_scene(&x);
    if (!x.status && options->plugins)
        copy_plugins(&x);
    if (!x.status) /* "<!--" or "<scene" */
        x.status = file_kind_check(options->xml, x.xml.data, 1, err);
    if (!x.status)
        x.status = file_write(options->xml, x.xml.data, x.xml.len, err);
    text_free(&x.xml);
    return x.status;
}

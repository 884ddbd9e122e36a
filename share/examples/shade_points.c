/* SPDX-License-Identifier: Apache-2.0 */
/* A renderer in small: compiles a shader, runs it on points, answers what it asks by call-backs.
 *   cc shade_points.c -o shade_points $(pkg-config --cflags --libs isophote-shaders) */
#include <isophote/shaders.h>

#include <string.h>

static const char text[] =
    "shader paint(float stripes = 1, color Cs = 0 [[int lockgeom = 0]], output color Cout = 0) {\n"
    "    float warmth = 0;\n"
    "    if (!getattribute(\"warmth\", warmth)) error(\"no warmth\");\n"
    "    color picture = texture(\"gray\", u, v, \"wrap\", \"clamp\");\n"
    "    point here = transform(\"object\", \"common\", point(0));\n"
    "    Cout = mix(Cs, warmth * picture + here[1], mod(floor(u * stripes), 2));\n"
    "    if (u > 0.9) printf(\"the last point: u = %g\\n\", u);\n"
    "}\n";

struct renderer {
    int point; /* that is shaded */
    struct asl_image gray;
};

static void message(void *ctx, enum asl_message kind, const char *to, const char *said)
{
    (void)ctx;
    fprintf(kind == ASL_PRINT ? stdout : stderr, "%s%s%s", to, to[0] ? ": " : "", said);
}

static bool space(void *ctx, const char *name, float to_common[16])
{
    static const float lifted[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 2, 0, 1};
    (void)ctx;
    memcpy(to_common, lifted, sizeof lifted);
    return strcmp(name, "object") == 0;
}

static bool attribute(void *ctx, const char *object, const char *name, int index,
                      struct asl_type type, union asl_slot *value)
{
    (void)ctx;
    bool known = !object[0] && index < 0 && strcmp(name, "warmth") == 0 && type.base == ASL_FLOAT;
    if (known)
        value[0].f = 0.5f;
    return known;
}

/* The value and its changes in x and y, one after another: red grows along the row. */
static bool userdata(void *ctx, const char *name, struct asl_type type, union asl_slot *value)
{
    if (type.base != ASL_COLOR || strcmp(name, "Cs") != 0)
        return false;
    for (int i = 0; i < 9; i++)
        value[i].f = 0;
    value[0].f = 0.125f * (float)((const struct renderer *)ctx)->point;
    value[3].f = 0.125f;
    return true;
}

static const struct asl_image *image(void *ctx, const char *name)
{
    return strcmp(name, "gray") == 0 ? &((const struct renderer *)ctx)->gray : NULL;
}

int main(void)
{
    enum { POINTS = 8 };
    static const float texel[1] = {0.25f};
    static const char *const outputs[] = {"Cout", NULL};
    struct arena a = {0};
    struct error err = {0};
    struct asl_diags diags = {0};
    struct renderer r = {0};
    struct asl_options how = {.warn_all = true};
    struct asl_lower_options lower = {.level = 2, .bake = true, .outputs = outputs};
    struct asl_context_options run = {.services = {&r, message, space, attribute, userdata, image}};
    const struct asl_program *program;
    struct asl_group *group;
    struct asl_code *code;
    struct asl_code_context *context = NULL;
    bool failed = asl_image_build(&a, 1, 1, 1, texel, &r.gray, &err) ||
                  asl_compile(&a, "paint", text, strlen(text), &how, &diags, &program, &err) ||
                  asl_group_new(&a, "painted", &group, &err) ||
                  asl_group_param(group, NULL, "stripes", "4.0", &err) ||
                  asl_group_layer(group, program, "paint", "layer", NULL, &err) ||
                  asl_group_finish(group, &err) || asl_lower(&a, group, &lower, &code, &err) ||
                  asl_code_context_new(code, &run, &context, &err);
    for (; !failed && r.point < POINTS; r.point++) {
        struct asl_globals at = {.u = {((float)r.point + 0.5f) / POINTS, 1.0f / POINTS, 0}};
        failed = asl_code_context_run(context, &at, &err);
        const union asl_slot *c = asl_code_context_value(context, "Cout", NULL, NULL);
        if (!failed)
            printf("%d: %g %g %g\n", r.point, (double)c[0].f, (double)c[1].f, (double)c[2].f);
    }
    if (failed)
        fprintf(stderr, "%s: %s\n", status_text(err.code), err.msg);
    asl_code_context_free(context);
    arena_free(&a);
    return failed;
}

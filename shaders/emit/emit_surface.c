/* SPDX-License-Identifier: Apache-2.0 */
/* emit_surface.c: what a renderer's kernel answers at a hit: images, geometry data, spaces; and
 * what a shader prints or reports there, which the kernel keeps (k_say). */
#include "emit.h"

#include <string.h>

/* ---- results -------------------------------------------------------------------------------- */

static void set_zero(struct emit *e, const struct ir_inst *i, uint32_t k)
{
    emit_set(e, i->result + k, e->kinds[i->result + k] == EMIT_FLOAT ? "A_F(0.0f)" : "A_I(0)");
}

/* ---- geometry data -------------------------------------------------------------------------- */

/* `s` and `t` are u and v with their changes (docs/reference/protocol.md section 18). */
bool emit_userdata_word(const struct ir_inst *i, uint32_t *word)
{
    enum { POINT_U = 51, POINT_V = 54 };
    bool is_s = strcmp(i->u.user.name, "s") == 0;
    *word = is_s ? POINT_U : POINT_V;
    return (is_s || strcmp(i->u.user.name, "t") == 0) && !i->u.user.type.array &&
           i->u.user.type.base == ASL_FLOAT;
}

static bool userdata(struct emit *e, const struct ir_inst *i)
{
    uint32_t word;
    if (i->op != IR_USERDATA)
        return false;
    bool found = emit_userdata_word(i, &word);
    emit_set(e, i->result, "A_I(%d)", found);
    for (uint32_t k = 1; k < i->result_count; k++) {
        if (found)
            emit_set(e, i->result + k, "%s", emit_point_word(e, word + k - 1));
        else
            set_zero(e, i, k);
    }
    return true;
}

/* ---- spaces --------------------------------------------------------------------------------- */

/* The spaces of a scene, object and shader, are common, and a name that is none changes nothing:
 * the value itself. */
bool emit_is_space_change(const struct ir_call *c)
{
    bool construct = c->callee == IRC_CONSTRUCT && c->type.base != ASL_COLOR;
    if (!construct && (c->callee != BI_TRANSFORM || c->args[0].type.base != ASL_STRING))
        return false;
    return !c->args[c->arg_count - 1].is_place;
}

/* A value that is its own result; names that may be none are said. */
static void stays(struct emit *e, const struct ir_inst *i, bool known)
{
    uint32_t last = i->u.call->arg_count - 1, n = i->u.call->args[last].n;
    for (uint32_t k = 0; k < i->result_count; k++)
        emit_set(e, i->result + k, "%s", emit_part(e, i, last, k % n, k / n));
    if (!known)
        emit_say(e, i, EMIT_NAMES, NULL);
}

static bool space(struct emit *e, const struct ir_inst *i)
{
    if (!emit_is_space_change(i->u.call))
        return false;
    stays(e, i, emit_spaces_are_known(e, i));
    return true;
}

bool emit_is_colour_change(const struct ir_call *c)
{
    return c->callee == BI_TRANSFORMC || (c->callee == IRC_CONSTRUCT && c->type.base == ASL_COLOR);
}

enum emit_colours emit_colours_of(const struct emit *e, const struct ir_inst *i)
{
    const struct ir_call *c = i->u.call;
    enum emit_colours all = EMIT_COLOURS_KNOWN;
    for (uint32_t k = 0; k + 1 < c->arg_count; k++) {
        const char *name = emit_constant_string(e, i->operands[c->args[k].first]);
        if (!name)
            return EMIT_COLOURS_LATE;
        if (emit_colour_space(name) < 0)
            all = EMIT_COLOURS_LOST;
    }
    return all;
}

bool emit_is_lost_colour(const struct emit *e, const struct ir_inst *i)
{
    const struct ir_call *c = i->u.call;
    return emit_is_colour_change(c) && emit_colours_of(e, i) == EMIT_COLOURS_LOST &&
           !c->args[c->arg_count - 1].is_place;
}

static bool lost_colour(struct emit *e, const struct ir_inst *i)
{
    if (!emit_is_lost_colour(e, i))
        return false;
    stays(e, i, false);
    return true;
}

static const char *const spaces[] = {"common", "world", "object", "shader"};

static bool is_space(const char *name)
{
    for (size_t k = 0; name && k < sizeof spaces / sizeof *spaces; k++)
        if (strcmp(name, spaces[k]) == 0)
            return true;
    return false;
}

bool emit_spaces_are_known(const struct emit *e, const struct ir_inst *i)
{
    const struct ir_call *c = i->u.call;
    for (uint32_t k = 0; k < c->arg_count; k++)
        if (!c->args[k].is_place && c->args[k].type.base == ASL_STRING &&
            !is_space(emit_constant_string(e, i->operands[c->args[k].first])))
            return false;
    return true;
}

bool emit_is_matrix_between(const struct emit *e, const struct ir_inst *i, bool *known)
{
    const struct ir_call *c = i->u.call;
    uint32_t names = c->callee == IRC_CONSTRUCT2 ? 2 : c->arg_count - 1;
    if (c->callee != IRC_CONSTRUCT2 && c->callee != BI_GETMATRIX)
        return false;
    *known = true;
    for (uint32_t k = 0; k < names; k++) {
        const char *name = emit_constant_string(e, i->operands[c->args[k].first]);
        if (!name)
            return false;
        *known = *known && is_space(name);
    }
    return true;
}

static bool matrix_between(struct emit *e, const struct ir_inst *i)
{
    const struct ir_call *c = i->u.call;
    const struct ir_arg *to = &c->args[c->arg_count - 1];
    bool known;
    if (!emit_is_matrix_between(e, i, &known))
        return false;
    if (!known)
        emit_say(e, i, EMIT_NAMES, NULL);
    if (c->callee == IRC_CONSTRUCT2) {
        for (uint32_t k = 0; k < i->result_count; k++)
            emit_set(e, i->result + k, "A_F(%d.0f)", k < 16 && k % 5 == 0);
        return true;
    }
    emit_set(e, i->result, "A_I(%d)", known);
    for (uint32_t d = 0; known && d < (to->derivs ? 3u : 1u); d++)
        for (uint32_t k = 0; k < 16; k++)
            emit_store(e, i, &to->at, d * to->row + k, EMIT_FLOAT,
                       d == 0 && k % 5 == 0 ? "A_F(1.0f)" : "A_F(0.0f)");
    return true;
}

/* ---- images --------------------------------------------------------------------------------- */

size_t emit_option_fields(const char *key, const char *fields[2])
{
    static const struct {
        const char *key, *fields[2];
    } rows[] = {{"wrap", {"swrap", "twrap"}},
                {"swrap", {"swrap", NULL}},
                {"twrap", {"twrap", NULL}},
                {"interp", {"filter", NULL}},
                {"firstchannel", {"first", NULL}},
                {"anisotropic", {"anisotropic", NULL}},
                {"subimage", {"subimage", NULL}},
                {"width", {"swidth", "twidth"}},
                {"blur", {"sblur", "tblur"}},
                {"swidth", {"swidth", NULL}},
                {"twidth", {"twidth", NULL}},
                {"sblur", {"sblur", NULL}},
                {"tblur", {"tblur", NULL}},
                {"fill", {"fill", NULL}},
                {"missingalpha", {"missing_alpha", NULL}}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (strcmp(rows[k].key, key) == 0) {
            fields[0] = rows[k].fields[0];
            fields[1] = rows[k].fields[1];
            return fields[1] ? 2 : 1;
        }
    return 0;
}

bool emit_option_is_int(const char *field)
{
    return strcmp(field, "swrap") == 0 || strcmp(field, "twrap") == 0 ||
           strcmp(field, "filter") == 0 || strcmp(field, "first") == 0 ||
           strcmp(field, "anisotropic") == 0 || strcmp(field, "subimage") == 0;
}

bool emit_option_counts(const char *key)
{
    return strcmp(key, "firstchannel") == 0 || strcmp(key, "anisotropic") == 0 ||
           strcmp(key, "subimage") == 0;
}

int emit_option_number(const char *key, const char *value)
{
    const struct asl_texture_option *o = asl_texture_option(key);
    return o && o->words ? asl_texture_word(o, value)->number : 0;
}

/* Of an option's pair. */
struct pair {
    const struct ir_call *call;
    const struct ir_arg *value;
    const char *key;
};
static int pair_is_wrong(struct emit *e, const void *ctx, const char *value)
{
    const struct pair *p = ctx;
    const struct ir_arg *a = p->value;
    (void)e;
    return asl_pair_fault((enum asl_builtin_id)p->call->callee, asl_texture_option(p->key), a->type,
                          a->is_place && a->written, value) != ASL_PAIR_FITS;
}

bool emit_pair_is_wrong(struct emit *e, const struct ir_inst *i, uint32_t argument)
{
    const struct ir_call *c = i->u.call;
    const struct ir_arg *a = &c->args[argument + 1];
    const struct pair p = {c, a, emit_option_key(e, i, argument)};
    const bool string = !a->is_place && a->type.base == ASL_STRING;
    return pair_is_wrong(e, &p, string ? emit_constant_string(e, i->operands[a->first]) : NULL) !=
           0;
}

static bool pair_is_subimage(struct emit *e, const struct ir_inst *i, uint32_t argument)
{
    const char *key = emit_constant_string(e, i->operands[i->u.call->args[argument].first]);
    return key && strcmp(key, "subimage") == 0 && !i->u.call->args[argument + 1].is_place;
}

bool emit_has_subimage(struct emit *e, const struct ir_inst *i)
{
    for (uint32_t k = i->u.call->fixed; k + 1 < i->u.call->arg_count; k += 2)
        if (pair_is_subimage(e, i, k))
            return true;
    return false;
}

bool emit_is_subimage(struct emit *e, const struct ir_inst *i, uint32_t operand)
{
    const struct ir_call *c = i->op == IR_CALL ? i->u.call : NULL;
    if (!c || (c->callee != BI_TEXTURE && c->callee != BI_ENVIRONMENT))
        return false;
    for (uint32_t k = c->fixed; k + 1 < c->arg_count; k += 2)
        if (c->args[k + 1].first == operand && pair_is_subimage(e, i, k) &&
            asl_is(c->args[k + 1].type, ASL_INT))
            return true;
    return false;
}

/* A string is for fields that are ints, a number for the others, but for options that count. */
static bool option_takes(const char *field, bool is_int)
{
    return emit_option_is_int(field) == is_int;
}
static void set_option(struct emit *e, const char *key, bool is_int, const char *value)
{
    const char *fields[2];
    size_t n = emit_option_fields(key, fields);
    for (size_t k = 0; k < n; k++)
        if (option_takes(fields[k], is_int))
            EMIT("o.%s = %s;\n", fields[k], value);
}

const char *emit_option_key(struct emit *e, const struct ir_inst *i, uint32_t argument)
{
    const struct ir_call *c = i->u.call;
    const struct ir_arg *a = &c->args[argument + 1];
    const char *key = emit_constant_string(e, i->operands[c->args[argument].first]);
    if (!key)
        emit_fail(e, STATUS_UNSUPPORTED, i->at,
                  "an option of %s() that is only known at run time cannot be given on this device",
                  c->name);
    if (!a->is_place && a->type.base == ASL_STRING && !emit_is_grid(e) &&
        !emit_constant_string(e, i->operands[a->first]))
        emit_fail(e, STATUS_UNSUPPORTED, i->at,
                  "the option \"%s\" of %s() must be known when the shader is compiled for this "
                  "device",
                  key, c->name);
    return key;
}

/* A subimage's name means a number that each image has for itself. */
static bool subimage_asks(struct emit *e, const struct ir_inst *i, uint32_t argument)
{
    const struct ir_arg *image = &i->u.call->args[0], *a = &i->u.call->args[argument + 1];
    return pair_is_subimage(e, i, argument) && a->type.base == ASL_STRING &&
           (image->is_place || !emit_constant_string(e, i->operands[image->first]) ||
            !emit_constant_string(e, i->operands[a->first]));
}

/* Has a lookup at a point of a grid an option that only the host can know? */
static bool options_ask(struct emit *e, const struct ir_inst *i)
{
    const struct ir_call *c = i->u.call;
    for (uint32_t k = c->fixed; emit_is_grid(e) && k + 1 < c->arg_count; k += 2) {
        const struct ir_arg *a = &c->args[k + 1];
        if (!emit_constant_string(e, i->operands[c->args[k].first]) ||
            (!a->is_place && a->type.base == ASL_STRING &&
             !emit_is_listed(e, i->operands[a->first])) ||
            subimage_asks(e, i, k))
            return true;
    }
    return false;
}

static int option_number(struct emit *e, const void *key, const char *value)
{
    (void)e;
    return emit_option_number(key, value);
}

/* Is there something to report of the pairs? An int expression; NULL: no. */
static const char *wrong_pairs(struct emit *e, const struct ir_inst *i)
{
    const struct ir_call *c = i->u.call;
    const char *any = NULL;
    for (uint32_t k = c->fixed; k + 1 < c->arg_count; k += 2) {
        const struct ir_arg *a = &c->args[k + 1];
        const struct pair p = {c, a, emit_option_key(e, i, k)};
        if (emit_pair_is_wrong(e, i, k))
            return "1";
        if (a->is_place || a->type.base != ASL_STRING ||
            emit_constant_string(e, i->operands[a->first]))
            continue;
        const char *wrong = emit_by_string(e, i->operands[a->first], pair_is_wrong, &p, 1);
        any = any ? emit_text(e, "%s | %s", any, wrong) : wrong;
    }
    return any;
}

/* Pairs from argument `first` on, into o. */
static void options(struct emit *e, const struct ir_inst *i, uint32_t first)
{
    const struct ir_call *c = i->u.call;
    for (uint32_t k = first; k + 1 < c->arg_count; k += 2) {
        const struct ir_arg *a = &c->args[k + 1];
        const char *key = emit_option_key(e, i, k);
        ir_value v = a->is_place ? 0 : i->operands[a->first];
        if (a->is_place)
            continue;
        if (a->type.base == ASL_STRING && strcmp(key, "subimage") == 0)
            set_option(e, key, true,
                       emit_text(e, "(int)s->args[%u]",
                                 emit_subimage_argument(e, i, emit_constant_string(e, v))));
        else if (a->type.base == ASL_STRING)
            set_option(e, key, true, emit_by_string(e, v, option_number, key, 0));
        else if (a->type.base == ASL_INT && emit_option_counts(key))
            set_option(e, key, true, emit_int(e, v));
        else if (a->type.base == ASL_INT)
            set_option(e, key, false, emit_text(e, "a_to_float(%s)", emit_int(e, v)));
        else if (a->n == 1)
            set_option(e, key, false, emit_float(e, v));
        else if (a->n == 3 && strcmp(key, "missingcolor") == 0)
            for (uint32_t x = 0; x < 3; x++)
                EMIT("o.missing[%u] = %s;\n", x, emit_part(e, i, k + 1, x, 0));
    }
}

uint32_t emit_image_argument(struct emit *e, const struct ir_inst *i)
{
    const struct ir_arg *a = &i->u.call->args[0];
    const char *name = a->is_place ? NULL : emit_constant_string(e, i->operands[a->first]);
    if (!name)
        emit_fail(e, STATUS_UNSUPPORTED, i->at,
                  "the image of %s() must be known when the shader is compiled for this device",
                  i->u.call->name);
    return e->code->arg_count + emit_image_number(e, name, NULL);
}

uint32_t emit_subimage_argument(struct emit *e, const struct ir_inst *i, const char *name)
{
    const struct ir_arg *a = &i->u.call->args[0];
    (void)emit_image_argument(e, i);
    return e->code->arg_count +
           emit_image_number(e, emit_constant_string(e, i->operands[a->first]), name);
}

static int image_argument(struct emit *e, const void *ctx, const char *name)
{
    (void)ctx;
    return (int)(e->code->arg_count + emit_image_number(e, name, NULL));
}

/* Where the image of the call begins, 0 for none: of a grid any string may be its name. */
static const char *image_word(struct emit *e, const struct ir_inst *i)
{
    const struct ir_arg *a = &i->u.call->args[0];
    if (a->is_place || !emit_is_grid(e))
        return emit_text(e, "s->args[%u]", emit_image_argument(e, i));
    int none = image_argument(e, NULL, "");
    return emit_text(e, "s->args[%s]",
                     emit_by_string(e, i->operands[a->first], image_argument, NULL, none));
}

static const struct ir_arg *written_pair(const struct ir_call *c, enum asl_base base)
{
    for (uint32_t k = c->fixed; k + 1 < c->arg_count; k += 2)
        if (c->args[k + 1].is_place && c->args[k + 1].written && asl_is(c->args[k + 1].type, base))
            return &c->args[k + 1];
    return NULL;
}

const struct ir_arg *emit_image_alpha(const struct ir_call *c)
{
    return written_pair(c, ASL_FLOAT);
}
const struct ir_arg *emit_image_message(const struct ir_call *c)
{
    return written_pair(c, ASL_STRING);
}

bool emit_image_changes(const struct ir_call *c)
{
    const struct ir_arg *alpha = emit_image_alpha(c);
    return c->callee == BI_TEXTURE && (c->derivs || (alpha && alpha->derivs));
}

/* The place of the lookup, as a_texture_lookup takes it. */
static void texture_place(struct emit *e, const struct ir_inst *i)
{
    bool given = i->u.call->fixed == 7;
    const char *d[4];
    for (uint32_t k = 0; k < 4; k++) { /* dsdx, dtdx, dsdy, dtdy */
        d[k] = given ? emit_part(e, i, 3 + k, 0, 0) : emit_part(e, i, 1 + k % 2, 0, 1 + k / 2);
        EMIT("st[%u] = %s;\n", 4 + k, d[k]);
    }
    EMIT("st[0] = %s; st[1] = %s;\nst[2] = a_larger(%s, %s); st[3] = a_larger(%s, %s);\n",
         emit_part(e, i, 1, 0, 0), emit_part(e, i, 2, 0, 0), d[0], d[2], d[1], d[3]);
}

static void environment_place(struct emit *e, const struct ir_inst *i)
{
    static const char *const rows[] = {"R", "Rx", "Ry"};
    bool given = i->u.call->fixed == 4;
    EMIT("float R[3], Rx[3], Ry[3];\n");
    for (uint32_t d = 0; d < 3; d++)
        for (uint32_t k = 0; k < 3; k++)
            EMIT("%s[%u] = %s;\n", rows[d], k,
                 given ? emit_part(e, i, 1 + d, k, 0) : emit_part(e, i, 1, k, d));
    EMIT("a_environment_place(R, Rx, Ry, st);\no.swrap = 2; o.twrap = 1;\n");
}

bool emit_image(struct emit *e, const struct ir_inst *i)
{
    const struct ir_call *c = i->u.call;
    const char *words = e->opt->surface ? "s->words" : "s->args";
    if ((c->callee != BI_TEXTURE && c->callee != BI_ENVIRONMENT) || options_ask(e, i))
        return false;
    uint32_t n = i->result_count / (c->derivs ? 3 : 1);
    bool changes = emit_image_changes(c);
    const struct ir_arg *alpha = emit_image_alpha(c);
    const char *word = image_word(e, i);
    const char *there = emit_text(e, "(%s != 0u)", word);
    if (emit_has_subimage(e, i)) {
        EMIT("int v%u_there;\n", i->result);
        there = emit_text(e, "v%u_there", i->result);
    }
    EMIT("float v%u_r[%u];\n{ struct a_texture o = a_texture_start(%u);\nfloat st[8];\n", i->result,
         changes ? 12 : 4, n);
    if (e->opt->surface)
        EMIT("#ifdef K_COUNT_RAYS\no.counting = s->counting;\n#endif\n");
    options(e, i, c->fixed);
    if (c->callee == BI_TEXTURE)
        texture_place(e, i);
    else
        environment_place(e, i);
    if (emit_has_subimage(e, i))
        EMIT("%s = a_texture_there(%s, %s, &o);\n", there, words, word);
    if (changes)
        EMIT("a_texture_changes(%s, %s, &o, st, v%u_r + 4);\n", words, word, i->result);
    EMIT("a_texture_lookup(%s, %s, &o, st, v%u_r); }\n", words, word, i->result);
    for (uint32_t d = 0; d < (c->derivs ? 3u : 1u); d++)
        for (uint32_t k = 0; k < n; k++) {
            if (d == 0 || changes)
                emit_set(e, i->result + d * n + k, "v%u_r[%u]", i->result, 4 * d + k);
            else
                set_zero(e, i, d * n + k);
        }
    const struct ir_arg *message = emit_image_message(c);
    const char *wrong = wrong_pairs(e, i);
    if (!message || wrong) {
        if (!wrong)
            EMIT("if (!%s)\n", there);
        else
            EMIT("if (!%s || (%s) != 0)\n", there, wrong);
        if (emit_is_grid(e))
            emit_record(e, i);
        else
            emit_say(e, i, EMIT_NAMES, NULL);
    }
    if (message)
        emit_store(e, i, &message->at, 0, EMIT_INT,
                   emit_text(e, "(%s ? %u : %u)", there, emit_string_id(e, ""),
                             emit_string_id(e, EMIT_NO_SUCH_IMAGE)));
    for (uint32_t d = 0; alpha && d < (alpha->derivs ? 3u : 1u); d++)
        emit_store(e, i, &alpha->at, d * alpha->row, EMIT_FLOAT,
                   d && !changes ? "A_F(0.0f)" : emit_text(e, "v%u_r[%u]", i->result, 4 * d + 3));
    return true;
}

struct emit_facts emit_image_facts(struct emit *e, const struct ir_inst *i)
{
    static const struct {
        const char *what;
        struct emit_facts facts;
    } rows[] = {
        {"exists", {.count = 1, .words = {0}, .kind = EMIT_INT, .always = true}},
        {"resolution", {.count = 2, .words = {1, 2, 4}, .kind = EMIT_INT}},
        {"channels", {.count = 1, .words = {3}, .kind = EMIT_INT}},
        {"subimages", {.count = 1, .words = {4}, .kind = EMIT_INT}},
        {"datawindow", {.count = 4, .words = {5, 5, 6, 7}, .kind = EMIT_INT}},
        {"displaywindow", {.count = 4, .words = {5, 5, 6, 7}, .kind = EMIT_INT}},
        {"averagecolor", {.count = 3, .words = {8, 9, 10}, .kind = EMIT_FLOAT}},
        {"averagealpha", {.count = 1, .words = {11}, .kind = EMIT_FLOAT}},
        {"type", {.count = 1, .words = {0}, .kind = EMIT_INT, .string = EMIT_PLAIN_TEXTURE}},
        {"texturetype", {.count = 1, .words = {0}, .kind = EMIT_INT, .string = EMIT_PLAIN_TEXTURE}},
        {"textureformat",
         {.count = 1, .words = {0}, .kind = EMIT_INT, .string = EMIT_PLAIN_TEXTURE}}};
    const struct ir_call *c = i->u.call;
    const struct ir_arg *ask = &c->args[c->arg_count - 2], *to = ask + 1;
    const char *what = ask->is_place ? NULL : emit_constant_string(e, i->operands[ask->first]);
    if (!what)
        emit_fail(e, STATUS_UNSUPPORTED, i->at,
                  "what %s() asks for must be known when the shader is compiled for this device",
                  c->name);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct emit_facts r = rows[k].facts;
        bool fits = r.string             ? asl_is(to->type, ASL_STRING)
                    : r.kind == EMIT_INT ? to->type.base == ASL_INT
                                         : to->type.base == ASL_FLOAT || asl_is_triple(to->type);
        if (strcmp(rows[k].what, what) != 0 || !fits || to->n < r.count)
            continue;
        r.to = to;
        if (strcmp(what, "resolution") == 0 && to->n >= 3)
            r.count = 3;
        return r;
    }
    return (struct emit_facts){0};
}

/* Does only the host know what is asked for? */
static bool facts_ask(const struct emit *e, const struct ir_inst *i)
{
    const struct ir_arg *ask = &i->u.call->args[i->u.call->arg_count - 2];
    return emit_is_grid(e) && (ask->is_place || !emit_constant_string(e, i->operands[ask->first]));
}

/* x where there is an image, else what stands in that slot of the place that is written. */
static const char *fact_or_old(struct emit *e, const struct ir_inst *i, const struct emit_facts *f,
                               const char *word, uint32_t slot, const char *x)
{
    const char *old = emit_load(e, i, &f->to->at, slot);
    if (emit_cell_is_int(e, f->to->at.cell) != (f->kind == EMIT_INT))
        old = emit_text(e, f->kind == EMIT_INT ? "A_BITS(%s)" : "A_FLOATS(%s)", old);
    return f->always ? x : emit_text(e, "(%s != 0u ? %s : %s)", word, x, old);
}

bool emit_image_answer(struct emit *e, const struct ir_inst *i)
{
    const char *words = e->opt->surface ? "s->words" : "s->args";
    if (i->u.call->callee != BI_GETTEXTUREINFO || facts_ask(e, i))
        return false;
    const struct emit_facts f = emit_image_facts(e, i);
    const char *word = image_word(e, i);
    for (uint32_t k = 0; k < f.count; k++) {
        const char *fact = emit_text(e, "a_texture_fact(%s, %s, %u)", words, word, f.words[k]);
        const char *x = f.string
                            ? emit_text(e, "A_I(%u)", emit_string_id(e, f.string))
                            : emit_text(e, f.kind == EMIT_INT ? "(int)%s" : "K_AS_FLOAT(%s)", fact);
        for (uint32_t d = 0; d < (f.to->derivs ? 3u : 1u); d++) {
            uint32_t slot = d * f.to->row + k;
            emit_store(e, i, &f.to->at, slot, f.kind,
                       fact_or_old(e, i, &f, word, slot, d ? "A_F(0.0f)" : x));
        }
    }
    emit_set(e, i->result, "A_I(%s)",
             f.always  ? "1"
             : f.count ? emit_text(e, "%s != 0u", word)
                       : "0");
    return true;
}

/* ---- spectra -------------------------------------------------------------------------------- */

bool emit_is_spectrum(const struct ir_call *c)
{
    return (c->callee == BI_BLACKBODY || c->callee == BI_WAVELENGTH_COLOR) && !c->args[0].is_place;
}

bool emit_spectrum(struct emit *e, const struct ir_inst *i)
{
    const struct ir_call *c = i->op == IR_CALL ? i->u.call : NULL;
    if (!c || !emit_is_spectrum(c))
        return false;
    emit_needs_doubles(e, i);
    EMIT("float v%u_r[3];\n%s(%s, v%u_r);\n", i->result,
         c->callee == BI_BLACKBODY ? "a_blackbody" : "a_wavelength", emit_part(e, i, 0, 0, 0),
         i->result);
    for (uint32_t k = 0; k < i->result_count; k++) {
        if (k < 3)
            emit_set(e, i->result + k, "v%u_r[%u]", i->result, k);
        else
            set_zero(e, i, k);
    }
    return true;
}

/* ---- messages ------------------------------------------------------------------------------- */

/* `said`: the words of a message (asl_emitted_host). */
static void words_of(struct emit *e, const struct ir_inst *i, uint32_t count, enum emit_words which)
{
    const struct ir_call *c = i->op == IR_CALL ? i->u.call : NULL;
    uint32_t at = 1 + i->operand_count;
    EMIT("uint said[%u];\nsaid[0] = (uint)(s->args - s->words);\n", count);
    for (uint32_t k = 0; k < i->operand_count; k++)
        EMIT("said[%u] = (uint)%s;\n", 1 + k,
             which == EMIT_ALL || e->layer->types[i->operands[k]] == IR_S
                 ? emit_bits(e, i->operands[k])
             : emit_is_subimage(e, i, k) ? emit_text(e, "(v%u_there ? 0 : -1)", i->result)
                                         : "0");
    if (which == EMIT_NAMES && at < count)
        EMIT("for (uint k = %uu; k < %uu; k++) said[k] = 0u;\n", at, count);
    for (uint32_t k = 0; c && which == EMIT_ALL && k < c->arg_count; k++)
        at = emit_message_row(e, i, &c->args[k], "said", at);
}

/* The scene's host knows what stands at the table (asl_emitted_host). */
void emit_say(struct emit *e, const struct ir_inst *i, enum emit_words which, const char *last)
{
    const struct asl_emitted_host h = emit_message_table(e, i, which);
    EMIT("if (s->messages) { ");
    words_of(e, i, h.words, which);
    if (last)
        EMIT("said[%u] = %s;\n", h.words - 1, last);
    EMIT("k_say(s->messages + %zuu, %uu, %uu, said); }\n", h.table, h.copies, h.words);
}

/* What the host has replied to these words, or it finds them in the table behind the film and the
 * picture is made again: this hit is none, and has nothing more to say. */
bool emit_question(struct emit *e, const struct ir_inst *i)
{
    if (!e->opt->surface || !emit_can_ask(e, i))
        return false;
    const uint32_t number = (uint32_t)e->out->host_count;
    const struct asl_emitted_host h = emit_message_table(e, i, EMIT_ALL);
    const char *reply = emit_text(e, "reply_%u", e->name_count++);
    (void)emit_reply_words(e, i, number);
    EMIT("uint %s;\n{ ", reply);
    words_of(e, i, h.words, EMIT_ALL);
    EMIT("%s = k_reply(s->words, %zuu, %uu, said);\n"
         "if (s->messages && (%s == 0u || s->words[%s - 1u] != 0u)) "
         "k_say(s->messages + %zuu, %uu, %uu, said); }\n"
         "if (%s == 0u) { s->messages = (K_GLOBAL uint *)0; s->budget = 0u; }\n",
         reply, h.table, h.words, reply, reply, h.table, h.copies, h.words, reply);
    emit_reply_take(e, i, "s->words", reply);
    return true;
}

static bool heard(struct emit *e, const struct ir_inst *i)
{
    if (emit_is_message(i))
        emit_say(e, i, EMIT_ALL, NULL);
    else
        return false;
    return true;
}

bool emit_surface_call(struct emit *e, const struct ir_inst *i)
{
    if (i->op == IR_INDEX) {
        const char *a = emit_int(e, i->operands[0]);
        emit_set(e, i->result, "a_clamp_index(%s, %u)", a, i->u.index.limit);
        EMIT("if (v%u != %s)\n", i->result, a);
        emit_say(e, i, EMIT_ALL, NULL);
        return true;
    }
    if (i->op != IR_CALL)
        return emit_geometry_data(e, i) || userdata(e, i);
    return emit_image(e, i) || emit_image_answer(e, i) || emit_spectrum(e, i) || space(e, i) ||
           lost_colour(e, i) || matrix_between(e, i) || emit_message(e, i) ||
           emit_attribute(e, i) || heard(e, i);
}

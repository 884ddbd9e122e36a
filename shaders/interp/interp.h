/* SPDX-License-Identifier: Apache-2.0 */
/* interp.h: what the files of the reference interpreter share. A value of n slots that carries
 * derivatives is three rows: the value, its change in x, its change in y. */
#ifndef ASL_INTERP_H
#define ASL_INTERP_H

#include "front/offers.h"

/* Where a value lies: v[0..n), and when d is not 0 its derivatives at v[d..d+n) and v[2d..2d+n). */
struct asl_place {
    union asl_slot *v;
    uint32_t n, d;
    struct asl_type type;
};

enum asl_closure_kind { CLOSURE_ADD, CLOSURE_MUL, CLOSURE_NODE };

struct asl_closure { /* NULL is the empty closure */
    enum asl_closure_kind kind;
    const struct asl_closure *a, *b;
    float weight[3];
    const char *name;
    uint32_t arg_count;
    const struct asl_place *args;
    const char *const *keys; /* per argument: the name it was passed by, or NULL */
};

struct asl_message_value { /* setmessage */
    const char *name;
    struct asl_place value; /* v NULL: it was asked for and is not set */
    struct src_pos at;      /* where it was set, and by which layer */
    size_t layer;
    struct asl_message_value *next;
};

struct asl_dictionary;                              /* what dict_find() found */
void asl_dictionary_free(struct asl_dictionary *d); /* takes NULL; d itself is the context's */

struct asl_temp_block {
    struct asl_temp_block *prev, *next;
    size_t used, cap;
    union asl_slot slots[];
};

struct asl_temp_mark {
    struct asl_temp_block *block;
    size_t used;
};

struct asl_said { /* texts of errors and warnings that were reported */
    const char *shader;
    char *text;
    struct asl_said *next;
};

/* One layer in one context. */
struct asl_run {
    struct asl_context *cx;
    const struct asl_layer *layer;
    const char *shader; /* its name */
    size_t index;
    uint8_t mode; /* 1 or 2: which bit of `derivs` holds */
    bool ran;
    bool *pending;            /* per parameter: connected, not pulled yet */
    struct asl_place *places; /* by symbol index */
    const struct asl_place *held;
    struct asl_place *ret;
    jmp_buf exit;
};

struct asl_context {
    const struct asl_group *group;
    const char *group_name;
    struct asl_services services;
    struct arena arena; /* as long as the context */
    struct arena point; /* strings and closures of one point */
    struct asl_run *runs;
    struct asl_place globals[GV_COUNT];
    struct asl_globals state;
    bool *entry;
    struct asl_temp_block *temps;
    struct asl_message_value *messages;
    enum { TRACED_NO_RAY, TRACED_NOTHING, TRACED_SURFACE } traced; /* by the last trace() */
    struct asl_traced met;
    struct asl_dictionary *dictionary; /* NULL until one is asked */
    struct asl_said *said[256];
    uint64_t steps, steps_total, budget;
    struct asl_loc at; /* of the last step */
    uint32_t perturb;  /* seed, 0: none */
    uint64_t perturb_state;
    const char *speaker; /* the layer whose message is on its way, and what it says it of */
    struct src_pos said_at;
    struct asl_loc call_at; /* of the call that runs */
    bool error_repeats;
    bool contract; /* moves what rounds in any way */
    size_t max_bytes;
    const char *stack; /* where it began, to stop before it is used up */
    struct error *err;
    enum status status;
    jmp_buf fail;
};

/* ---- interp.c ------------------------------------------------------------------------------- */

/* What every engine that calls the builtins needs of a context: memory, services, globals. The
 * layers' runs are the interpreter's own. */
enum status asl_context_open(struct asl_context *cx, const struct asl_context_options *opt,
                             struct error *err);
void asl_context_close(struct asl_context *cx);
/* Makes ready for one point. */
void asl_context_start(struct asl_context *cx, const struct asl_globals *g, struct error *err);
union asl_slot *asl_temp(struct asl_run *r, size_t n);
struct asl_temp_mark asl_temp_mark(struct asl_context *cx);
void asl_temp_release(struct asl_context *cx, struct asl_temp_mark m);
/* Memory of the point; does not return when there is none. */
void *asl_point_alloc(struct asl_run *r, size_t count, size_t size);
const char *asl_point_string(struct asl_run *r, const char *s, size_t n);
_Noreturn void asl_run_fail(struct asl_run *r, enum status s, struct asl_loc at, const char *fmt,
                            ...) __attribute__((format(printf, 4, 5)));
/* An error or warning that the program goes on after; repeated texts are dropped. */
void asl_report(struct asl_run *r, enum asl_message kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* To services.message, as it is. */
void asl_message(struct asl_run *r, enum asl_message kind, const char *to, const char *text);
/* shader: whose error() or warning() it is, "" for what the language itself reports. */
void asl_report_text(struct asl_run *r, enum asl_message kind, const char *shader,
                     const char *text);
/* An index beyond 0..limit-1 of what is called `name`, in the words of OSL. */
void asl_report_index(struct asl_run *r, int32_t index, const char *name, size_t limit,
                      struct src_pos at);
void asl_step(struct asl_run *r, struct asl_loc at);
/* Fails when calls and layers nest so deeply that the stack would not hold much more. */
void asl_check_stack(struct asl_run *r, struct asl_loc at);
enum asl_flow { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN };
enum asl_flow asl_exec(struct asl_run *r, const struct asl_stmt *s);
/* Brings a connected parameter's value here, running the layer it comes from. */
void asl_pull(struct asl_run *r, const struct asl_symbol *param);

/* ---- interp_expr.c -------------------------------------------------------------------------- */

static inline bool asl_wants(const struct asl_run *r, const struct asl_expr *e)
{
    return (e->derivs & r->mode) != 0;
}
/* Slots that asl_eval writes: n, or 3 n with derivatives. */
static inline size_t asl_room(const struct asl_run *r, const struct asl_expr *e)
{
    return (size_t)e->slots * (asl_wants(r, e) ? 3 : 1);
}
void asl_eval(struct asl_run *r, const struct asl_expr *e, union asl_slot *out);
struct asl_place asl_eval_place(struct asl_run *r, const struct asl_expr *e);
/* The value of any expression as a place: its own when it has one, else a temporary. */
struct asl_place asl_eval_any(struct asl_run *r, const struct asl_expr *e);
/* Writes n slots (and derivatives, zero when src_d is 0) to a place. */
void asl_store(const struct asl_place *to, const union asl_slot *v, uint32_t src_d);
void asl_convert_value(struct asl_type from, struct asl_type to, const union asl_slot *in,
                       union asl_slot *out, bool in_derivs, bool out_derivs);
bool asl_truth(struct asl_type t, const union asl_slot *v);
int32_t asl_float_to_int(float x);
void asl_zero_value(struct asl_type t, union asl_slot *v);

/* Inverse and product of matrices as rows of 16; the inverse of a singular matrix is false, out
 * untouched. */
bool asl_matrix_inverse(const float m[16], float out[16]);
/* What quotients multiply by: the inverse, the unit matrix for a singular one. */
void asl_matrix_divisor(const float m[16], float out[16]);
void asl_matrix_multiply(const float a[16], const float b[16], float out[16]);
/* What transformu multiplies by; false when a name is unknown or one is a length, the other a time.
 */
bool asl_unit_ratio(const char *from, const char *to, float *ratio);
/* space to common, or one space to another; false, and a report for each that is unknown. */
bool asl_space_matrix(struct asl_run *r, const char *space, float out[16]);
bool asl_space_pair(struct asl_run *r, const char *from, const char *to, float out[16]);

/* ---- builtins: args are evaluated; out has asl_room(e) slots -------------------------------- */

typedef void asl_builtin_fn(struct asl_run *r, const struct asl_expr *e, struct asl_place *args,
                            union asl_slot *out);
asl_builtin_fn asl_bi_math, asl_bi_geometry, asl_bi_colour, asl_bi_matrix, asl_bi_pattern,
    asl_bi_derivative, asl_bi_string, asl_bi_state, asl_bi_dictionary, asl_bi_closure,
    asl_bi_texture, asl_bi_rays;
/* getmessage("trace", name, to). */
int32_t asl_traced_message(struct asl_run *r, const char *name, const struct asl_place *to);
/* The function itself, its arguments evaluated. */
asl_builtin_fn asl_run_builtin;
void asl_call_builtin(struct asl_run *r, const struct asl_expr *e, union asl_slot *out);
/* color("hsv", ...), point("object", ...), matrix("object", ...): `out` holds the value given, in
 * that space, and comes back in common space. matrix("a", "b"): out gets 16 numbers. */
void asl_construct_in_space(struct asl_run *r, const struct asl_expr *e, const char *space,
                            union asl_slot *out);
void asl_construct_between(struct asl_run *r, const char *from, const char *to,
                           union asl_slot *out);
/* perturb.c: moves what the builtin gave by up to its bound. */
void asl_perturb(struct asl_run *r, const struct asl_expr *e, struct asl_place *args,
                 union asl_slot *out);
/* moves what a sum, product or quotient of floats gave, unless it is exact; x = a op b */
struct asl_dual asl_perturb_operation(struct asl_run *r, enum asl_op op, struct asl_dual a,
                                      struct asl_dual b, struct asl_dual x);

/* ---- duals ---------------------------------------------------------------------------------- */

typedef struct asl_dual dual;

static inline dual asl_dual_at(const struct asl_place *p, size_t i)
{
    if (p->n == 1)
        i = 0;
    return p->d ? (dual){p->v[i].f, p->v[p->d + i].f, p->v[2 * (size_t)p->d + i].f}
                : (dual){p->v[i].f, 0, 0};
}
/* Into out as asl_eval lays it out: n slots, and 2 n more when `derivs`. */
static inline void asl_dual_put(union asl_slot *out, size_t n, bool derivs, size_t i, dual x)
{
    out[i].f = x.v;
    if (derivs) {
        out[n + i].f = x.dx;
        out[2 * n + i].f = x.dy;
    }
}
static inline void asl_dual_store(const struct asl_place *p, size_t i, dual x)
{
    p->v[i].f = x.v;
    if (p->d) {
        p->v[p->d + i].f = x.dx;
        p->v[2 * (size_t)p->d + i].f = x.dy;
    }
}
static inline dual d_const(float x) { return (dual){x, 0, 0}; }
static inline dual d_add(dual a, dual b) { return (dual){a.v + b.v, a.dx + b.dx, a.dy + b.dy}; }
static inline dual d_sub(dual a, dual b) { return (dual){a.v - b.v, a.dx - b.dx, a.dy - b.dy}; }
static inline dual d_neg(dual a) { return (dual){-a.v, -a.dx, -a.dy}; }
static inline dual d_mul(dual a, dual b)
{
    return (dual){a.v * b.v, a.v * b.dx + a.dx * b.v, a.v * b.dy + a.dy * b.v};
}
static inline dual d_div(dual a, dual b)
{
    if (b.v == 0)
        return d_const(0);
    float q = a.v / b.v;
    return (dual){q, (a.dx - q * b.dx) / b.v, (a.dy - q * b.dy) / b.v};
}
dual d_sqrt(dual a);
dual d_select(bool second, dual a, dual b);
/* A triple of duals. */
struct dual3 {
    dual x, y, z;
};
static inline struct dual3 asl_dual3_at(const struct asl_place *p)
{
    return (struct dual3){asl_dual_at(p, 0), asl_dual_at(p, 1), asl_dual_at(p, 2)};
}
dual d3_dot(struct dual3 a, struct dual3 b);
struct dual3 d3_cross(struct dual3 a, struct dual3 b);
struct dual3 d3_scale(struct dual3 a, dual s);
struct dual3 d3_add(struct dual3 a, struct dual3 b);
struct dual3 d3_sub(struct dual3 a, struct dual3 b);
dual d3_length(struct dual3 a);
struct dual3 d3_normalize(struct dual3 a);

/* ---- format.c, spline.c, colour.c ----------------------------------------------------------- */

/* printf's text; values are args[first..count). */
void asl_format(struct asl_run *r, const char *fmt, const struct asl_place *args, size_t count,
                struct text *out);
/* The knots are y[0..n) of `channels` duals each; false when the basis is unknown or n is too
 * small. */
bool asl_spline_value(const char *basis, dual x, size_t n, size_t channels,
                      dual (*knot)(const void *ctx, size_t i, size_t channel), const void *ctx,
                      dual *out);
bool asl_spline_inverse(const char *basis, dual v, size_t n, const float *y, dual *out);
bool asl_colour_transform(const char *from, const char *to, const dual in[3], dual out[3]);
void asl_blackbody(float kelvin, float out[3]);
void asl_wavelength(float nm, float out[3]);
int32_t asl_string_hash(const char *s);

struct asl_gabor {
    int anisotropic; /* 0: all directions; 1: along `direction`; else in the plane across z, at its
                        frequency */
    float direction[3];
    float bandwidth, impulses;
    bool filter;
};
/* Three coordinates, those that are missing 0; the periods of three axes, or NULL; channels 1 or 3.
 */
void asl_gabor_eval(const struct asl_gabor *g, const dual x[3], const float *period,
                    unsigned channels, dual *out);

#endif

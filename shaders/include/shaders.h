/* SPDX-License-Identifier: Apache-2.0 */
/* shaders: ASL, the shading language of Isophote. Source text -> typed tree -> shader groups run at
 * one point by the reference interpreter, which defines what a program means. docs/reference/asl.md
 * is the specification; names in parentheses below are its sections.
 *
 * Numbers in sources and texts are those of the C locale: a process that sets another one must not
 * do so around these calls.
 *
 * A program is immutable once compiled and may be shared by threads; a group is immutable once
 * finished; a context belongs to one thread. */
#ifndef ISOPHOTE_SHADERS_H
#define ISOPHOTE_SHADERS_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default) /* what libisophote-shaders.so shows */

/* ---- types ---------------------------------------------------------------------------------- */

enum asl_base {
    ASL_UNKNOWN, /* not a type of the language: "any" in queries, and what an error leaves behind */
    ASL_VOID,
    ASL_INT,
    ASL_FLOAT,
    ASL_COLOR,
    ASL_POINT,
    ASL_VECTOR,
    ASL_NORMAL,
    ASL_MATRIX,
    ASL_STRING,
    ASL_CLOSURE, /* closure color */
    ASL_STRUCT
};

struct asl_struct;

struct asl_type {
    enum asl_base base;
    int32_t array; /* 0: no array; > 0: its length; -1: an array of any length */
    const struct asl_struct *st;
};

/* One scalar of a value. Values are rows of slots: a float 1, a triple 3, a matrix 16 (row-major),
 * an array its elements in order, a struct its fields in order. */
union asl_slot {
    float f;
    int32_t i;
    const char *s; /* never NULL in a value */
    const struct asl_closure *c;
};

/* "float", "color[3]", "closure color", "ray"; the same buffer is returned. */
const char *asl_type_text(struct asl_type t, char *buf, size_t size);
#define ASL_TYPE_TEXT_SIZE 96
/* Slots of one value; 0 for void and for arrays of unknown length. */
size_t asl_type_slots(struct asl_type t);
/* The base type of the scalar at `slot` (ASL_INT, ASL_FLOAT, ASL_STRING or ASL_CLOSURE). */
enum asl_base asl_type_scalar(struct asl_type t, size_t slot);
/* The fields of a struct, in order; 0 of other types. */
struct asl_type_field {
    const char *name;
    struct asl_type type;
    size_t slot; /* where in the struct's value it begins */
};
size_t asl_struct_fields(struct asl_type t);
struct asl_type_field asl_struct_field(struct asl_type t, size_t index);
/* Reads "float", "color", "int[3]" ... Fails: TYPE. */
enum status asl_type_parse(const char *text, struct asl_type *out, struct error *err);

/* ---- diagnostics ---------------------------------------------------------------------------- */

enum asl_severity { ASL_NOTE, ASL_WARNING, ASL_ERROR };

struct asl_diag {
    enum asl_severity severity;
    struct src_pos pos;
    uint32_t length;  /* columns that the caret underlines, at least 1 */
    const char *text; /* what was found, what was expected */
    const char *hint; /* what to do about it; may be NULL */
    const char *line; /* the source line, or 120 columns of it; NULL when there is none */
    uint32_t caret;   /* where in `line` the place is, from 1 */
    struct asl_diag *next;
};

/* A file that #include opened, as the compile found it; `system`: it comes with Isophote, or was
 * named in angle brackets. */
struct asl_included {
    const char *path;
    bool system;
    struct asl_included *next;
};

/* All that a compile has to say, in the order of the text. Zeroed is valid and empty. */
struct asl_diags {
    struct asl_diag *first, *last;
    size_t errors, warnings;
    struct asl_included *included, *included_last; /* each file once */
};

/* file:line:col: error: text, the line, a caret, and "hint: ..." if there is one. */
void asl_diags_print(const struct asl_diags *d, struct text *out);

/* ---- compiling ------------------------------------------------------------------------------ */

struct asl_options {
    const char *const *include_dirs; /* ends with NULL; NULL: none */
    const char *const *defines;      /* "NAME" or "NAME=TEXT", ends with NULL */
    const char *header;              /* included before the first line; NULL: none */
    bool warn_all;                   /* also warn of what is only doubtful */
    bool warn_error;                 /* warnings count as errors */
    size_t max_bytes;                /* memory of one compile; 0: 1 GiB */
};

struct asl_program;

/* Compiles one file: text[0..size), or the file itself when text is NULL. `file` is the name in
 * messages and the folder of its #include "..." files. Diagnostics and the program live in the
 * arena. Fails: TYPE when diags holds errors (then *err is the first), IO, MISSING, LIMIT, MEMORY.
 */
enum status asl_compile(struct arena *a, const char *file, const char *text, size_t size,
                        const struct asl_options *opt, struct asl_diags *diags,
                        const struct asl_program **out, struct error *err);
/* Only the preprocessor: the text that the parser would see, with #line marks. */
enum status asl_preprocess(struct arena *a, const char *file, const char *text, size_t size,
                           const struct asl_options *opt, struct asl_diags *diags, struct text *out,
                           struct error *err);
/* A readable form of the tree: `types` adds the type of each expression and each conversion made.
 */
void asl_program_dump(const struct asl_program *p, bool types, struct text *out);
/* The table of builtins as Markdown, as docs/reference/asl.md carries it. */
void asl_builtins_print(struct text *out);
/* The same table as data: the columns of builtins.def, for generators of programs and tests. */
struct asl_builtin_row {
    const char *name, *signatures, *derivatives, *ulp;
};
const struct asl_builtin_row *asl_builtin_rows(size_t *count);

struct asl_metadata {
    const char *name;
    struct asl_type type;
    const union asl_slot *value;
    const struct asl_metadata *next;
};

struct asl_param {
    const char *name;
    struct asl_type type;
    bool output;
    bool any_length;                     /* declared T x[]: a group may give it another length */
    bool constant;                       /* the default is known without running anything: */
    const union asl_slot *default_value; /* its slots, or NULL */
    const struct asl_metadata *metadata;
};

enum asl_shader_kind { ASL_SHADER, ASL_SURFACE, ASL_DISPLACEMENT, ASL_VOLUME, ASL_LIGHT };

struct asl_shader_info {
    const char *name;
    enum asl_shader_kind kind;
    const struct asl_metadata *metadata;
    const struct asl_param *params;
    size_t param_count;
};

size_t asl_program_shaders(const struct asl_program *p);
const struct asl_shader_info *asl_program_shader(const struct asl_program *p, size_t index);

/* ---- groups: layers and connections (Networks) ---------------------------------------------- */

struct asl_group;

/* The group lives in the arena. */
enum status asl_group_new(struct arena *a, const char *name, struct asl_group **out,
                          struct error *err);
/* Sets a parameter of the layer that is added next. `type` NULL or UNKNOWN: guessed from the text
 * as `isophote shade --param` says (Networks). */
enum status asl_group_param(struct asl_group *g, const struct asl_type *type, const char *name,
                            const char *value, struct error *err);
/* The first parameter that was set for a layer which was not added yet; NULL: none. */
const char *asl_group_waiting(const struct asl_group *g);
/* The parameter set last has another lockgeom than its shader says; without one nothing happens. */
void asl_group_hint(struct asl_group *g, bool lockgeom);
/* Adds a layer: the shader of that name in p, or p's last shader when name is NULL. Parameters set
 * before that the shader does not have are reported to *warnings (may be NULL) and dropped. */
enum status asl_group_layer(struct asl_group *g, const struct asl_program *p, const char *shader,
                            const char *layer, struct text *warnings, struct error *err);
/* "param", "param[2]" (an element or a component) on either side. Fails: MISSING, TYPE, ARG. */
enum status asl_group_connect(struct asl_group *g, const char *from_layer, const char *from_param,
                              const char *to_layer, const char *to_param, struct error *err);
/* The serialised form: "param float x 1 ; shader noise a ; connect a.out b.in ;". Shaders are found
 * by `find(ctx, name)`, which returns NULL and fills *err when there is none. */
typedef const struct asl_program *asl_find_shader(void *ctx, const char *name, struct error *err);
enum status asl_group_parse(struct asl_group *g, const char *file, const char *text,
                            asl_find_shader *find, void *ctx, struct text *warnings,
                            struct error *err);
/* With entries of its own a group runs just these layers, in this order, and what they pull: not
 * the last layer, nor those of wanted outputs. Fails: MISSING. */
enum status asl_group_entry(struct asl_group *g, const char *layer, struct error *err);
/* The renderer keeps "out" of the last layer that has it, or "layer.out": isconnected() tells. */
void asl_group_output(struct asl_group *g, const char *name);
/* isconnected() counts parameters whose lockgeom is 0 as connected. */
void asl_group_userdata_isconnected(struct asl_group *g);
/* No more layers after this. Fails: ARG without layers. */
enum status asl_group_finish(struct asl_group *g, struct error *err);
/* A layer as a group of its own, of the same values; what is connected to it, its caller gives in
 * the argument area (asl_lower_options.alone). Lives in the arena, and is gone when g is. Fails:
 * UNSUPPORTED (connections that the area cannot stand for), MEMORY. */
enum status asl_group_alone(struct arena *a, const struct asl_group *g, size_t layer,
                            struct asl_group **out, struct error *err);
/* Connection `index` into the layer, in the order in which they are brought; false: there are no
 * more. Slots are where what is named begins in the parameter's value. */
struct asl_group_link {
    size_t from_layer, from_param, to_param;
    uint32_t from_slot, to_slot;
    struct asl_type from_type, to_type; /* of what is named */
    bool to_whole;                      /* the whole parameter */
};
bool asl_group_link_at(const struct asl_group *g, size_t layer, size_t index,
                       struct asl_group_link *out);
size_t asl_group_layers(const struct asl_group *g);
const char *asl_group_layer_name(const struct asl_group *g, size_t layer);
/* Does the layer's text write a global variable: Ci, P, N or another? */
bool asl_group_layer_globals(const struct asl_group *g, size_t layer);
const struct asl_shader_info *asl_group_layer_shader(const struct asl_group *g, size_t layer);
/* What the code of a group can reach, found without running it; string and call may be NULL. */
struct asl_survey {
    void *ctx;
    /* A string in the text of a shader, or set as a parameter. */
    void (*string)(void *ctx, const char *text);
    /* A call of a builtin function. */
    void (*call)(void *ctx, const char *builtin, struct src_pos at);
    bool uses_Ci; /* set: Ci is read or written */
    bool moves_P; /* set: the text of a layer writes P, or calls displace() */
};
enum status asl_group_survey(const struct asl_group *g, struct asl_survey *survey,
                             struct error *err);
enum status asl_group_survey_layer(const struct asl_group *g, size_t layer,
                                   struct asl_survey *survey, struct error *err);
/* Changes a parameter of a finished group; takes effect in runs that start later. */
enum status asl_group_reparam(struct asl_group *g, const char *layer, const struct asl_type *type,
                              const char *name, const char *value, struct error *err);

/* ---- running -------------------------------------------------------------------------------- */

/* A value and its change over one step in x and in y (Derivatives). */
struct asl_dual {
    float v, dx, dy;
};
struct asl_dual3 {
    float v[3], dx[3], dy[3];
};

struct asl_globals {
    struct asl_dual3 P, I, N, Ps;
    float Ng[3], dPdu[3], dPdv[3], dPdtime[3], dPdz[3];
    struct asl_dual u, v;
    float time, dtime, surfacearea;
    bool backfacing, flip_handedness;
    uint32_t raytype; /* bits, see asl_raytype_bit */
};

/* "camera" 1, "shadow" 2, "reflection" 4, "refraction" 8, "diffuse" 16, "glossy" 32, "subsurface"
 * 64, "displacement" 128; 0 for other names. */
uint32_t asl_raytype_bit(const char *name);

enum asl_message { ASL_PRINT, ASL_FPRINT, ASL_MSG_WARNING, ASL_MSG_ERROR };

/* Texels as shaders see them (Textures): rows from the top, `channels` (1 to 4) floats a texel,
 * linear. Level 0 is the image, each further level about half as wide and high, the last is 1 x 1.
 */
struct asl_image_level {
    uint32_t width, height;
    const float *texels;
};
struct asl_image {
    uint32_t channels, level_count;
    /* Of them as they were given; the others were made. */
    uint32_t given_count;
    const struct asl_image_level *levels;
    /* Subimages of the file: this one, number 0, and `subimage_count` - 1 more (0 counts as 1), NULL
     * where no shader asks for them. One of them that cannot be read has no levels. Of a set the
     * most that an image of it has; `more` is NULL. */
    uint32_t subimage_count;
    const struct asl_image *more;
    const char *subimage_name; /* NULL: none */
    /* Of a set of images (<UDIM>): number 1001 + i at [i], NULL where there is none; what stands
     * above is that of the first one. NULL: it is one image. */
    const struct asl_image *const *tiles;
};
enum { ASL_TILES_ACROSS = 10, ASL_TILES_DOWN = 10, ASL_TILES = 100 };
/* Makes the levels of an image; texels, which stay the caller's, are level 0. */
enum status asl_image_build(struct arena *a, uint32_t width, uint32_t height, uint32_t channels,
                            const float *texels, struct asl_image *out, struct error *err);

/* The same of an image whose first `count` (1 at least) levels are given: each has half the sides of
 * the one before, rounded down or up, 1 at least. Those after them are made. */
enum status asl_image_of_levels(struct arena *a, uint32_t channels,
                                const struct asl_image_level *given, uint32_t count,
                                struct asl_image *out, struct error *err);

/* A row of a level that is made, of `width` texels: each the mean of those that it covers in `rows`
 * rows of the level above, which stand one behind the other and are `above_width` wide. */
void asl_image_halve_row(const float *above, uint32_t above_width, uint32_t rows, uint32_t channels,
                         uint32_t width, float *to);
/* Which rows of the level above, *from up to but not *end, row y of one that is made covers. */
void asl_image_rows_above(uint32_t above_height, uint32_t height, uint32_t y, uint32_t *from,
                          uint32_t *end);

/* Subimage `number` of an image that is no set: itself for 0, NULL where there is none. */
const struct asl_image *asl_image_subimage(const struct asl_image *image, int32_t number);
/* Is there one? Of a set: in an image of it. image NULL: no. */
bool asl_image_has_subimage(const struct asl_image *image, int32_t number);
/* The number of the one with that name (of a set: in its first image); 0 for "", -1: none. */
int32_t asl_image_subimage_number(const struct asl_image *image, const char *name);

/* What the renderer answers. Every function may be NULL. */
/* A ray of trace(), or what occlusion() asks about: the normal d at P. Both as the shader gives
 * them: d has any length, and nothing may be finite. */
struct asl_ray {
    float P[3], d[3];
    float mindist, maxdist;
};
struct asl_traced { /* the surface that was met; normals to the ray's side */
    float hitdist, P[3], N[3], Ng[3], u, v;
};
enum { ASL_OCCLUSION_RAYS = 256 }; /* of one call, at most */

struct asl_services {
    void *ctx;
    /* A message of the shader: PRINT is for standard output as it is; FPRINT for the file named
     * `to`; error() and warning() say whose they are in `to`, the shader's name, which is empty for
     * what the language itself reports. Repeated texts come once a context. */
    void (*message)(void *ctx, enum asl_message kind, const char *to, const char *text);
    /* The matrix from `space` to common space, row-major, p' = p M. */
    bool (*space)(void *ctx, const char *space, float to_common[16]);
    /* getattribute(): object may be "", index -1 for none. Fills slots of `type`. */
    bool (*attribute)(void *ctx, const char *object, const char *name, int index,
                      struct asl_type type, union asl_slot *value);
    /* Interpolated data for a parameter whose lockgeom is 0; value, d/dx, d/dy one after another.
     */
    bool (*userdata)(void *ctx, const char *name, struct asl_type type, union asl_slot *value);
    /* The image that texture() names, as long as the context; NULL when there is none. */
    const struct asl_image *(*image)(void *ctx, const char *name);
    /* Why there is none, for the message; NULL when that is not known. */
    const char *(*image_fault)(void *ctx, const char *name);
    /* trace() and occlusion(), docs/reference/protocol.md section 30; samples: 1 to
     * ASL_OCCLUSION_RAYS. NULL, both: there is no scene, and nothing is anywhere. */
    bool (*trace)(void *ctx, const struct asl_ray *ray, struct asl_traced *hit);
    float (*occlusion)(void *ctx, const struct asl_ray *about, uint32_t samples);
};

struct asl_context;

struct asl_context_options {
    struct asl_services services;
    uint64_t step_budget; /* statements and loop turns of one point; 0: 100 million */
    size_t max_bytes;     /* memory of one point; 0: 256 MiB */
    /* Layers to run at every point besides the last one: names, ends with NULL; NULL: none. */
    const char *const *entry_layers;
    bool error_repeats; /* texts of errors and warnings come each time */
    /* Not 0: results of builtins are moved within their ulp column, at random by this seed and
     * alike at every point: what any implementation within the bounds might compute. */
    uint32_t perturb;
};

enum status asl_context_new(const struct asl_group *g, const struct asl_context_options *opt,
                            struct asl_context **out, struct error *err);
void asl_context_free(struct asl_context *c); /* takes NULL */
/* Runs the group at one point. Fails: TIMEOUT (budget), MEMORY; the message names file and line. */
enum status asl_context_run(struct asl_context *c, const struct asl_globals *g, struct error *err);
/* From the next run on, results are moved by that seed (0: none) as options.perturb says, and so is
 * all else that rounds, by as much as contracting products and sums within an operation's formula
 * may change it: sums, products, quotients by a unit in the last place, formulas (ulp column -) by
 * four, noise by 2^-19. Exact results and whole numbers stay. */
void asl_context_contract(struct asl_context *c, uint32_t seed);
/* The value that an output (or any parameter) holds after the last run, until the next one. `name`
 * is "Cout", "layer.Cout" or a global such as "Ci". NULL if there is none or its layer did not run;
 * *ran (may be NULL) tells the two apart: a layer that exists and did not run leaves false. */
const union asl_slot *asl_context_value(const struct asl_context *c, const char *name,
                                        struct asl_type *type, bool *ran);
/* The layer that speaks, while services.message is called. */
const char *asl_context_layer(const struct asl_context *c);
/* And where in the text; line 0: nowhere. */
struct src_pos asl_context_place(const struct asl_context *c);
/* Operations since the context was made. */
uint64_t asl_context_steps(const struct asl_context *c);

/* What the shaders of a scene said: different lines, sorted, the first ASL_SAYINGS_MAX of them. A
 * zeroed one is empty. Used by one thread at a time. */
enum { ASL_SAYINGS_MAX = 100 };
struct asl_sayings {
    char **lines; /* heap */
    size_t count;
    bool more; /* lines were left out */
};
/* "material 'm', layer 'l', wood.asl:12: error: text"; layer may be NULL, at.line 0. Out of memory: a
 * line less. */
void asl_sayings_add(struct asl_sayings *s, const char *material, const char *layer,
                     struct src_pos at, enum asl_message kind, const char *to, const char *text);
void asl_sayings_print(const struct asl_sayings *s, struct text *out); /* a line each */
void asl_sayings_free(struct asl_sayings *s);

/* A closure as text: "(0.5, 0.5, 0.5) * diffuse ((0, 0, 1))\n\t+ ..." (Closures). */
void asl_closure_print(const struct asl_closure *c, struct text *out);

/* An argument of a component: `key` is the name it was passed by, NULL for the fixed ones. */
struct asl_closure_arg {
    const char *key;
    struct asl_type type;
    const union asl_slot *value;
};
typedef void asl_closure_visitor(void *ctx, const char *name, const float weight[3],
                                 const struct asl_closure_arg *args, size_t count);
/* Calls visit for every component from left to right, with `weight` times the weights above it in
 * float (docs/reference/protocol.md section 19). NULL is the empty closure. */
void asl_closure_visit(const struct asl_closure *c, const float weight[3],
                       asl_closure_visitor *visit, void *ctx);

/* ---- the IR of a finished group (docs/reference/asl_ir.md) ---------------------------------- */

/* A lowered group: immutable, in the arena, to be shared by threads. */
struct asl_code;

struct asl_lower_options {
    int level; /* 0: as lowered; 1: one pass of everything; 2: until nothing changes */
    /* Parameters are constants of the code. Else they are read from an argument area at each run,
     * so that a changed one needs no lowering. */
    bool bake;
    bool bake_strings; /* only those of type string */
    /* With bake: the bits are those of the code that reads the same values, on every engine: calls
     * that engines may round differently (the ulp column) are not made constants of them. */
    bool bake_keeps_bits;
    /* What will be asked for after runs: "Cout", "layer.Cout", "Ci" ...; ends with NULL. NULL:
     * every output parameter of every layer that runs and every global variable. */
    const char *const *outputs;
    const char *const *entry_layers; /* as asl_context_options has them */
    /* Of asl_group_alone: the text is that of the master, whatever its parameters' values and
     * connections are. Every parameter has its derivatives in the argument area, and outputs keep
     * theirs. With bake_strings, not with bake. */
    bool alone;
    uint32_t raytype_known, raytype; /* bits of the ray's type that are the same at every point */
    bool stay_in_loops; /* what is the same in each turn of a loop is not moved out of it */
    size_t max_ops;     /* instructions of one layer; 0: 2 million */
    const char *fault;  /* asl_fault_at: a mistake to be made in the finished code; NULL: none */
    /* what each step did is appended (docs/reference/asl_ir.md); may be NULL */
    struct text *witness;
};

/* Instructions, and cells in use, as lowered and after optimisation. */
struct asl_code_stats {
    size_t ops_before, ops_after, symbols_before, symbols_after;
    size_t derivs_before, derivs_after; /* of the symbols: that keep derivatives */
    size_t layers_before, layers_after;
    size_t moved; /* instructions that were moved out of loops, some of which then merged */
};

/* Fails: LIMIT (code too large once functions are inlined), MEMORY, MISSING (an unknown name in the
 * options). */
enum status asl_lower(struct arena *a, const struct asl_group *g,
                      const struct asl_lower_options *opt, struct asl_code **out,
                      struct error *err);
/* Mistakes to test those who look for them; NULL from the first index on that has none. First those
 * of translators, which asl_lower_options.fault can ask for; then those of the device library. */
struct asl_fault {
    const char *name, *text; /* "asl-lost-else" */
    const char *found_by; /* of the device library: "builtin.hash", the case that must; else NULL */
};
const struct asl_fault *asl_fault_at(size_t index);
const struct asl_fault *asl_fault_find(const char *name); /* NULL: there is none */
/* Appends asl_device_source with that mistake. Fails: MISSING, MEMORY. */
enum status asl_device_source_broken(const char *fault, struct text *out, struct error *err);
/* Is the witness well-formed, does each value of each step's result have its line, and do the rules
 * that can be replayed hold for what they were used on? Stores, loads and control flow are not
 * looked at: this proves no translation. Fails: TYPE or PARSE with file and line. steps and
 * facts (may be NULL) count what was checked. */
enum status asl_witness_check(const char *file, const char *text, size_t size, size_t *steps,
                              size_t *facts, struct error *err);
/* Per layer, and the sum when layer is SIZE_MAX. */
struct asl_code_stats asl_code_stats(const struct asl_code *c, size_t layer);
void asl_code_print(const struct asl_code *c, struct text *out);
/* Reads the text form and verifies it. Fails: PARSE, TYPE with file, line, column; LIMIT, MEMORY.
 */
enum status asl_code_read(struct arena *a, const char *file, const char *text, size_t size,
                          struct asl_code **out, struct error *err);
/* Are types, dominance, targets and cells right? Fails: TYPE; the message says where. */
enum status asl_code_verify(const struct asl_code *c, struct error *err);

/* Compiled shader files (.aso): the IR of the program's last shader, and the preprocessed source
 * (asl_preprocess), in one text that asl_compile takes as it takes sources. `lower` makes the IR
 * that the object holds; `read` gives it back, verified. Fails: PARSE and TYPE with line. */
enum status asl_object_lower(struct arena *a, const struct asl_program *p,
                             const struct asl_lower_options *opt, struct asl_code **out,
                             struct error *err);
enum status asl_object_write(struct arena *a, const struct asl_program *p, const char *source,
                             size_t size, const struct asl_lower_options *opt, struct text *out,
                             struct error *err);
bool asl_object_is(const char *text, size_t size);
enum status asl_object_read(struct arena *a, const char *file, const char *text, size_t size,
                            struct asl_code **out, struct error *err);

/* A slot of the argument area. */
struct asl_code_arg {
    const char *layer, *param;
    struct asl_type type; /* of the parameter */
    size_t slot;          /* of the parameter's value */
    bool is_set; /* no slot of the value: an int, 1 when the area gives it, 0: its default is
                    computed */
};
size_t asl_code_args(const struct asl_code *c);
struct asl_code_arg asl_code_arg_at(const struct asl_code *c, size_t i);
/* The argument area as the group's parameters are now. Strings are the group's. */
void asl_code_args_fill(const struct asl_code *c, const struct asl_group *g, union asl_slot *area);

/* The engine `ir`: the same services, messages and results as asl_context_*. The outputs that can
 * be asked for are those of asl_lower_options. */
struct asl_code_context;
enum status asl_code_context_new(const struct asl_code *c, const struct asl_context_options *opt,
                                 struct asl_code_context **out, struct error *err);
void asl_code_context_free(struct asl_code_context *c); /* takes NULL */
/* The argument area, to be changed between runs; starts as asl_lower found the group. */
union asl_slot *asl_code_context_args(struct asl_code_context *c);
enum status asl_code_context_run(struct asl_code_context *c, const struct asl_globals *g,
                                 struct error *err);
const union asl_slot *asl_code_context_value(const struct asl_code_context *c, const char *name,
                                             struct asl_type *type, bool *ran);
uint64_t asl_code_context_steps(const struct asl_code_context *c);

/* The engine `grid`: each instruction runs over all points before the next one does, and what is
 * the same in all of them runs once. Values are those of the engine `ir`. It has no calls that
 * print, send or write, and no parameters of the geometry: UNSUPPORTED, with the place.
 * enter, which may be NULL, is called before a builtin runs for a point, so that services know
 * whose questions they answer. */
enum { ASL_GRID_MOST = 4096 };
struct asl_grid;
enum status asl_grid_new(const struct asl_code *c, const struct asl_context_options *opt,
                         size_t points, void (*enter)(void *ctx, size_t point), void *enter_ctx,
                         struct asl_grid **out, struct error *err);
void asl_grid_free(struct asl_grid *g);            /* takes NULL */
union asl_slot *asl_grid_args(struct asl_grid *g); /* as asl_code_context_args */
enum status asl_grid_run(struct asl_grid *g, const struct asl_globals *points, size_t count,
                         struct error *err);
/* The first slots of a result of a point; false: its layer did not run. */
bool asl_grid_value(const struct asl_grid *g, const char *name, size_t point, union asl_slot *out,
                    size_t slots);
uint64_t asl_grid_steps(const struct asl_grid *g); /* of all points and runs */
/* Instructions that ran: for single points, once for all points of a list, and how often more they
 * would have run without that. Constants do not count. */
struct asl_grid_work {
    uint64_t varying, uniform, spared;
    uint64_t points; /* of all runs */
};
struct asl_grid_work asl_grid_worked(const struct asl_grid *g);
/* Of the program: its instructions but constants, and those that are the same in all points. */
struct asl_grid_shape {
    size_t operations, uniform;
};
struct asl_grid_shape asl_grid_shape(const struct asl_grid *g);

/* ---- IR to C (device/asl/ is the library that the text needs before it) ----------------- */

struct ir_inst;

struct asl_emit_options {
    bool wide;   /* for rows of A_WIDTH points (vectors of gcc and clang), else for one point */
    bool copies; /* of wide: a branch's text once more, for rows all of whose points take it */
    bool host;   /* native code: what the library lacks is asked of the host (asl_host_call). Else
                     such calls fail as UNSUPPORTED, with their place */
    /* Of a grid: what is the same at all points by its operands alone is no part of the layers'
     * text. asl_uniform of the program computes it, before points run, from the argument area into
     * the words of it from asl_emitted.uniform_first on; without host into an array of its own. */
    bool uniform;
    bool surface;       /* for a hit in a renderer's kernel: one point. What is printed, reported or
                     asked of the host goes to tables, geometry data are u and v; closures are numbers of
                     nodes, which a_lobes takes apart (emit_closure.c); images and the argument area
                     stand in one array of words */
    const char *suffix; /* of names at file scope, so that one text can hold several groups; NULL:
                           none */
    const char *const *outputs; /* what a_outputs writes, one after another; ends with NULL */
    bool called; /* of a surface's layer that was lowered alone: called for a step of a material's
                    program. Word i of its argument area says where argument i stands
                    (A_ARGUMENT(s, i), which the text before it defines); outputs have their
                    derivatives behind them (asl_emitted.outputs) */
    /* of asl_emit_llvm */
    unsigned lanes;          /* 8 or 16; a surface has one */
    const char *float_flags; /* LLVM's, of sums and products, as " contract"; NULL: none */
    struct text *declared;   /* gets the declarations that it lacks, for a text of several groups;
                                NULL: they stand in the text */
    uint32_t first_loop;     /* surfaces: added to the numbers of loops that fail */
    size_t first_message;    /* surfaces: where the group's tables of messages begin */
};

struct asl_emitted_host { /* one call of the host */
    const struct ir_inst *inst;
    struct src_pos at;
    const char *callee;     /* the function, or the operation */
    size_t layer, operands; /* words of io that it reads */
    uint32_t reply;         /* words of asl_host_ask's answer, of calls that devices ask for */
    /* Of surfaces: a table of k_say (device/surface/shade.h), which begins at that word of the
     * group's. A message is the word where its argument area begins, io, then rows. With a reply:
     * a question, which the picture is made again for until it is answered (k_reply). */
    size_t table;
    uint32_t copies, words;
    /* Of setmessage() and getmessage(): the last word is 1 + the number of the call that came
     * before it at the point, under the name that is operand `name`. */
    bool follows;
    uint32_t name;
};
/* Of grids on devices, added to the number of the call in a record: the point asks, and has stopped
 * until it is told what was answered (asl_host_ask). */
#define ASL_ASKED 0x80000000u
struct asl_emitted_loop { /* numbered from 0 */
    struct src_pos at;
    const char *layer;
};
/* Of grids on devices: words that the host says before points run (asl_host_answers). */
struct asl_emitted_answer {
    uint32_t word, words; /* where among the answers */
    /* space: the matrix from a space to another: 1 and its 16 numbers, of normals the transposed
     * inverse; else 1 in its place after 0 where a space is unknown, after 2 where there is no
     * inverse. A name that is NULL: so for each of the first `strings` strings, of both names row
     * by row. */
    bool space, normal, construct; /* construct: of `from` alone, as constructors have it */
    const char *from, *to;
    size_t layer;
    /* Else: the results of a call for each of those strings as its operand moving[0], and of two
     * (`movers`) as moving[1], row by row; the others as given. */
    uint32_t call, strings, moving[2], movers;
    const uint32_t *operands;
};
/* Of grids on devices: data of a point, which the host says before it runs (asl_host_row). */
struct asl_emitted_row {
    uint32_t call, word;      /* word: where in the point's row: the result, then what is written */
    const uint32_t *operands; /* which are constants */
};
struct asl_emitted {
    const char *const *strings; /* the numbers of constant strings; 0 is "" */
    size_t string_count;
    const struct asl_emitted_host *hosts;
    size_t host_count;
    const struct asl_emitted_loop *loops;
    size_t loop_count;
    size_t out_words;     /* of one point */
    uint64_t cell_words;  /* of one point: all variables, which stand on the stack */
    size_t message_words; /* surfaces: of all tables */
    /* Of surfaces, and of grids on devices: the images that it reads. Word arg_count + i of the
     * argument area is where image i begins (device/asl/texture.h; of grids in the area itself), or
     * 0 where there is none; where `subimage` names one of its subimages, that one's number, as
     * asl_image_subimage_number gives it. */
    const struct asl_emitted_image {
        const char *name, *subimage; /* subimage: or NULL */
    } * images;
    size_t image_count;
    const struct asl_emitted_answer *answers; /* behind the images' words */
    size_t answer_count, answer_words;
    /* Of asl_emit_options.uniform: the words that asl_uniform fills, with host from word
     * uniform_first of the argument area on; the instructions that it runs for that in place of the
     * layers, and about how many sums take as long. */
    uint32_t uniform_first, uniform_words;
    size_t uniform_operations, uniform_cost;
    /* The word behind the answers says where in the area the row of a launch's first point begins;
     * row_words each. The next says where the replies to the points' questions do, 0 before there
     * are any: a word a point, which is where its replies begin or 0; there their number, then
     * each as asl_host_ask gave it. A point asks its questions in one order. */
    const struct asl_emitted_row *rows;
    size_t row_count, row_words;
    /* Of surfaces in C: what Ci may hold, each once: "diffuse"; "principled.sheen" where a
     * component is given that value by name; "=beckmann" where a string may be this. */
    const char *const *components;
    size_t component_count;
    bool traces; /* rays: the kernel needs K_FEATURE_RAYS */
    /* Of a text that is called: its outputs. `changes`: two rows more, of n words each. */
    const struct asl_emitted_output {
        uint32_t at, n;
        bool changes;
    } * outputs;
    const bool *reads; /* of texts in C: by slot of the argument area, whether the text reads it */
    bool sends;        /* surfaces: messages between layers, which a layer alone cannot have */
    /* What occlusion() without a point asks, where it is known before a point runs: constants, or
     * slots of the argument area. The first of them: others are asked in place. */
    struct asl_emitted_occlusion {
        bool asked;
        struct asl_emitted_number {
            bool is_arg, is_int;
            uint32_t arg;
            float value;
        } maxdist, samples;
    } occlusion;
};

/* Appends C in the dialect of device/portable.h: a function for each layer, a_shade for
 * all, a_outputs; #line marks name the shader's files. What *out points to lives in the arena.
 * Fails: UNSUPPORTED, MISSING (no such output), MEMORY, LIMIT. */
enum status asl_emit_c(struct arena *a, const struct asl_code *code,
                       const struct asl_emit_options *opt, struct text *text,
                       struct asl_emitted *out, struct error *err);
/* Appends LLVM IR, as text that LLVM 15 and 19 both read, for rows of `lanes` points, to be linked
 * with device/linked/shade_library.c: al_shade and what it asks for. Everything runs: what the
 * library lacks is asked of the host. Else as asl_emit_c. */
enum status asl_emit_llvm(struct arena *a, const struct asl_code *code,
                          const struct asl_emit_options *opt, struct text *text,
                          struct asl_emitted *out, struct error *err);
/* The library of emitted programs, and their entries, which stand behind the emitted text. */
extern const char asl_device_source[], asl_device_source_hash[33];
extern const char asl_entry_source[], asl_entry_source_hash[33];

/* The host's side of native emitted code: one thread's, for a stretch of at most ASL_HOST_POINTS
 * points at a time. */
struct asl_host;
enum { ASL_HOST_POINTS = 1024 };
enum status asl_host_new(const struct asl_code *code, const struct asl_emitted *emitted,
                         const struct asl_context_options *opt, struct asl_host **out,
                         struct error *err);
void asl_host_free(struct asl_host *h); /* takes NULL */
/* The number of a string that stays (before points run): of the argument area. */
uint32_t asl_host_string(struct asl_host *h, const char *text);
/* Fills asl_emitted.answer_words words. Before points run; nothing is said. */
void asl_host_answers(struct asl_host *h, uint32_t *words);
/* Fills the row of a point, asl_emitted.row_words words. Before it runs; nothing is said. */
void asl_host_row(struct asl_host *h, const struct asl_globals *g, uint32_t *words);
/* The reply to what a point of a device asks: of call `call`, given the words of its record. The
 * results, then the rows that are written: asl_emitted_host.reply words. Nothing is said; strings
 * in it stay. Afterwards asl_host_failed knows whether it could be made. */
void asl_host_ask(struct asl_host *h, const struct asl_globals *g, uint32_t call,
                  const uint32_t *words, size_t count, uint32_t *reply);
/* Would the last asl_host_ask have printed or reported anything? */
bool asl_host_spoke(const struct asl_host *h);
/* A new stretch: strings and closures of the one before are gone. */
void asl_host_begin(struct asl_host *h);
/* Call `call` of asl_emitted.hosts at point `point` of the stretch. io: operands, then results;
 * rows: of arguments that are places. */
void asl_host_call(struct asl_host *h, size_t point, const struct asl_globals *g, uint32_t call,
                   uint32_t *io, uint32_t *rows);
/* Did a call fail in this stretch (MEMORY)? Calls after it do nothing. */
bool asl_host_failed(const struct asl_host *h, size_t *point, struct error *err);
/* The layer that speaks, while services.message is called. */
const char *asl_host_layer(const struct asl_host *h);
struct src_pos asl_host_place(const struct asl_host *h); /* and where in the text */
const char *asl_host_text(const struct asl_host *h, uint32_t id);
const struct asl_closure *asl_host_closure(const struct asl_host *h, uint32_t id);

/* ---- noise, as a function (Noise) ----------------------------------------------------------- */

enum asl_noise {
    ASL_NOISE_PERLIN,
    ASL_NOISE_UPERLIN,
    ASL_NOISE_SIMPLEX,
    ASL_NOISE_USIMPLEX,
    ASL_NOISE_CELL,
    ASL_NOISE_HASH,
    ASL_NOISE_COUNT
};

/* dims 1 to 4; period NULL or dims numbers; `triple`: three channels, else one. */
void asl_noise_eval(enum asl_noise kind, unsigned dims, const struct asl_dual *x,
                    const float *period, bool triple, struct asl_dual *out);
/* The word of a float that is hashed: its bits; of any NaN those of 0x7fc00000, for which NaN an
 * operation gives is the machine's affair. */
uint32_t asl_hashed_bits(float x);
/* The hash of up to 5 words that the noises use. */
uint32_t asl_hash_words(const uint32_t *words, unsigned count);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif

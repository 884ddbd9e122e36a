/* SPDX-License-Identifier: Apache-2.0 */
/* emit.h: what the files of the C emitter share. The text that they write is in the dialect of
 * device/portable.h with device/asl/ before it. */
#ifndef ASL_EMIT_H
#define ASL_EMIT_H

#include "ir/offers.h"

#include <setjmp.h>

/* What a value is in the text: a condition is an int 0 or 1 to the IR. */
enum emit_kind { EMIT_FLOAT, EMIT_INT, EMIT_CONDITION };

enum { EMIT_POINT_WORDS = 63 }; /* A_POINT_WORDS of device/asl/point.h */

struct emit {
    const struct asl_code *code;
    const struct asl_emit_options *opt;
    struct arena *arena;
    struct asl_emitted *out;
    struct error *err;
    enum status status;
    jmp_buf fail;
    struct text body;     /* layers */
    struct text variants; /* functions that calls need, each once */
    /* of the layer being written */
    const struct ir_layer *layer;
    uint32_t layer_index;
    const struct ir_inst **defs; /* by value */
    uint8_t *kinds;              /* enum emit_kind by value */
    struct src_pos line;         /* of the last #line */
    unsigned depth;              /* of regions, for names of masks */
    struct emit_region *region;
    const struct ir_block **homes; /* by cell: the smallest block that holds all its accesses */
    bool *used;                    /* by cell: a layer or the result touches it */
    bool point_words[EMIT_POINT_WORDS];
    unsigned masked;               /* texts around that have a copy for whole rows */
    uint32_t **uniforms, *uniform; /* by layer, and of this one: by value, emit_uniform.c */
    const uint32_t *pulls;         /* by layer: PULL instructions that name it, plus entries */
    size_t strings_cap, hosts_cap, loops_cap, images_cap, components_cap, answers_cap, rows_cap,
        messages_cap;
    uint32_t program_strings; /* grids on devices: all strings are below it, but for those that */
    bool makes_strings;       /* calls make while points run */
    bool asks;                /* and calls are asked of the host then */
    unsigned name_count;      /* of emit_by_string */
    struct emit_message *messages; /* emit_messages.c */
    uint32_t message_count;
    const char *suffix;  /* never NULL */
    unsigned loop_depth; /* loops around what is being written (surfaces) */
    /* emit_closure.c: fields of the state that hold nodes (of grids: messages), what sets them
     * back, and what a_lobes does for each */
    struct text nodes, resets, visits;
    uint32_t node_count, node_loops; /* all, and those in loops */
    uint32_t metal_count;
};

/* A block being written: which mask holds in it (wide texts). */
struct emit_region {
    struct emit_region *up;
    const struct ir_block *block;
    unsigned mask; /* its name is m<mask> */
    bool shrunk;   /* lanes may have left since the block began */
    /* Of a loop that all lanes leave together: the test by which they do. The mask is the one of
     * the region around. */
    const struct ir_inst *test;
    unsigned out; /* LLVM: the label behind that loop */
};

_Noreturn void emit_fail(struct emit *e, enum status s, struct src_pos at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void *emit_alloc(struct emit *e, size_t count, size_t size);
/* An operand as a float (its bits, when it is an int), an int, or a condition; constants as they
 * are. The text lives in the arena. */
const char *emit_float(struct emit *e, ir_value v);
const char *emit_int(struct emit *e, ir_value v);
const char *emit_condition(struct emit *e, ir_value v);
/* Bits as an int, whatever the value is. */
const char *emit_bits(struct emit *e, ir_value v);
/* The string that a value always is; NULL when that is not known. */
const char *emit_constant_string(const struct emit *e, ir_value v);
bool emit_constant_int(const struct emit *e, ir_value v, int32_t *out);
uint32_t emit_string_id(struct emit *e, const char *s);
/* Adds to asl_emitted.components; the name lives as long as the arena. */
void emit_component(struct emit *e, const char *name);
/* A cell's row as an expression that is a pointer. */
const char *emit_cell(struct emit *e, uint32_t cell);
bool emit_cell_is_int(const struct emit *e, uint32_t cell);
/* The slot of a place for an instruction's operands, as a text: a number, or an int expression. */
const char *emit_slot(struct emit *e, const struct ir_inst *i, const struct ir_place *p,
                      uint32_t more, bool *dynamic);
/* "m3", or NULL when everything in sight may be written. */
const char *emit_mask(struct emit *e);
void emit_store(struct emit *e, const struct ir_inst *i, const struct ir_place *p, uint32_t more,
                enum emit_kind kind, const char *value);
const char *emit_load(struct emit *e, const struct ir_inst *i, const struct ir_place *p,
                      uint32_t more);
void emit_set(struct emit *e, ir_value v, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
#define EMIT(...) text_printf(&e->body, __VA_ARGS__)
const char *emit_text(struct emit *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *emit_vtext(struct emit *e, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));

/* emit_closure.c, surfaces: closures and their sums; false for other instructions. */
bool emit_closure(struct emit *e, const struct ir_inst *i);
/* The function that walks Ci. */
void emit_closure_walk(struct emit *e, struct text *out);
uint32_t emit_image_number(struct emit *e, const char *name, const char *subimage);
enum { EMIT_NODE_COPIES = 16 }; /* nodes of an instruction in a loop */
/* Names that pairs of principled() may have, EMIT_PAIR_COUNT of them. */
enum { EMIT_PAIR_COUNT = 11 };
extern const char *const emit_pair_names[EMIT_PAIR_COUNT];
/* emit_surface.c: what a renderer answers at a hit; false when it is no such call. */
bool emit_surface_call(struct emit *e, const struct ir_inst *i);
/* texture() and environment(); gettextureinfo(): in texts for one point, without a host. */
bool emit_image(struct emit *e, const struct ir_inst *i);
bool emit_image_answer(struct emit *e, const struct ir_inst *i);
/* The word of the argument area that says where the image of the call begins. */
uint32_t emit_image_argument(struct emit *e, const struct ir_inst *i);
/* The places that a lookup's "alpha" and "errormessage" write, or NULL; whether values of the
 * lookup change with s, t; the message where there is no image, else "". */
const struct ir_arg *emit_image_message(const struct ir_call *c);
#define EMIT_NO_SUCH_IMAGE "there is no such image"
#define EMIT_PLAIN_TEXTURE "Plain Texture"
const struct ir_arg *emit_image_alpha(const struct ir_call *c);
bool emit_image_changes(const struct ir_call *c);
/* What a call of gettextureinfo() writes: so many slots of a kind, words of a_texture_fact; or a
 * string, count 1. 0: no answer. Fails where the question must be known and is not. */
struct emit_facts {
    uint32_t count;
    uint8_t words[4];
    enum emit_kind kind;
    const char *string; /* or NULL */
    bool always;        /* written when there is no image, too */
    const struct ir_arg *to;
};
struct emit_facts emit_image_facts(struct emit *e, const struct ir_inst *i);

/* The name of an image call's option, at that argument; fails where it or its value must be known
 * and is not. */
const char *emit_option_key(struct emit *e, const struct ir_inst *i, uint32_t argument);
/* The fields of struct a_texture that the option sets: their number, 0 for none. */
size_t emit_option_fields(const char *key, const char *fields[2]);
bool emit_option_is_int(const char *field);
/* Does the option take an int as it is, and no number? */
bool emit_option_counts(const char *key);
/* What "wrap" or "interp" given as a string means. */
int emit_option_number(const char *key, const char *value);
/* Has a run something to report of the pair at that argument, as far as it is known? Fails as
 * emit_option_key does. */
bool emit_pair_is_wrong(struct emit *e, const struct ir_inst *i, uint32_t argument);
/* Is "subimage" among an image call's pairs? Does that operand of a call give its number? */
bool emit_has_subimage(struct emit *e, const struct ir_inst *i);
bool emit_is_subimage(struct emit *e, const struct ir_inst *i, uint32_t operand);
/* The word of the argument area with the number of a call's subimage that has this name. */
uint32_t emit_subimage_argument(struct emit *e, const struct ir_inst *i, const char *name);
/* Geometry data that a hit has: where among the point's words it and its changes begin. */
bool emit_userdata_word(const struct ir_inst *i, uint32_t *word);
/* Do all names of spaces mean the same in this call, so that its last argument is its value? */
bool emit_is_space_change(const struct ir_call *c);
/* getmatrix() and matrix(from, to) of names that are known now; *known: all are spaces of a scene,
 * which are common. */
bool emit_is_matrix_between(const struct emit *e, const struct ir_inst *i, bool *known);
/* A colour of the spectrum, of one number. */
bool emit_is_spectrum(const struct ir_call *c);
bool emit_spectrum(struct emit *e, const struct ir_inst *i);
/* Word `w` of the point (device/asl/point.h numbers them). */
const char *emit_point_word(struct emit *e, uint32_t w);

/* Slot k of a call's argument a as a float: its value (d 0), or its change in x (1) or y (2). A
 * number stands for all components of a triple. */
const char *emit_part(struct emit *e, const struct ir_inst *i, uint32_t a, uint32_t k, uint32_t d);
/* Inverses and spectra are made in doubles, which only texts for one point have. */
void emit_needs_doubles(struct emit *e, const struct ir_inst *i);
/* emit_attribute.c: getattribute() of a surface, and geometry data but s and t; false for other
 * instructions. */
bool emit_attribute(struct emit *e, const struct ir_inst *i);
bool emit_geometry_data(struct emit *e, const struct ir_inst *i);
struct emit_attribute {
    const char *name;
    uint32_t word, n;    /* the first word of k_attribute, and how many slots there are */
    enum emit_kind kind; /* of a slot */
    uint32_t there;      /* the word that is not 0 where there is an answer; 0: always */
    uint32_t value;      /* not 0: what the one slot is, in place of a word */
    bool string;         /* the word is the number of a projection */
};
enum { EMIT_PROJECTIONS = 3 };
/* The numbers of their names; all emitters give strings the same ones. */
void emit_projection_ids(struct emit *e, uint32_t id[EMIT_PROJECTIONS]);
/* What a call asks for, or a parameter of the geometry is; NULL: there is no answer. */
const struct emit_attribute *emit_attribute_asked(struct emit *e, const struct ir_inst *i);
const struct emit_attribute *emit_attribute_userdata(const struct ir_inst *i);
/* The surface's state has the hit (s->g). */
void emit_hit_needed(struct emit *e);
/* emit_rays.c: trace(), occlusion(), getmessage("trace", ...); false for other instructions. */
bool emit_ray(struct emit *e, const struct ir_inst *i);
bool emit_is_ray(const struct ir_inst *i);
/* The value that the pair of that name has; false: it is not given. */
bool emit_ray_option(const struct emit *e, const struct ir_inst *i, const char *name,
                     ir_value *out);
/* Does a stage of its own ask it, where the kernel has one (asl_emitted.occlusion)? */
bool emit_is_known_occlusion(struct emit *e, const struct ir_inst *i);
/* The words of struct k_traced (device/surface/shade.h) that getmessage() reads: n 0 for none. */
struct emit_traced {
    const char *name;
    uint32_t word, n;
    enum emit_kind kind;
};
struct emit_traced emit_traced_message(struct emit *e, const struct ir_inst *i);
/* ---- what both emitters ask of the IR -------------------------------------------------------- */

/* The layer becomes the one being written: defs, kinds, homes and used of all in it, numbers of
 * loops. */
struct ir_layer *emit_layer_begin(struct emit *e, uint32_t index);
/* Does anything in the block leave it for somewhere outside `within`? */
bool emit_leaves(const struct ir_block *b, const struct ir_inst *within);
/* emit_even.c: the test by which all lanes leave the loop in the same turn, or NULL; whether they
 * stay where its condition holds. */
const struct ir_inst *emit_even_test(const struct emit *e, const struct ir_inst *loop);
bool emit_even_stays(const struct ir_inst *test);
/* emit_uniform.c: writes what of the layer is the same at all points, before its own text. write:
 * false where the text cannot compute the instruction without the host; keep: value v goes to word k
 * of asl_emitted.uniform_words. */
struct emit_uniform {
    bool (*write)(struct emit *e, const struct ir_inst *i);
    void (*keep)(struct emit *e, ir_value v, uint32_t k);
};
void emit_uniform_layer(struct emit *e, const struct emit_uniform *by);
/* Has that been computed? Its values are words of those then, or (false) nobody reads them. */
bool emit_is_uniform(const struct emit *e, const struct ir_inst *i);
bool emit_uniform_word(const struct emit *e, ir_value v, uint32_t *word);
uint32_t emit_loop_number(struct emit *e, const struct ir_inst *i);
uint32_t emit_host_number(struct emit *e, const struct ir_inst *i);
/* Does it print or report? */
bool emit_is_message(const struct ir_inst *i);
/* Which operands a message's words hold: all, or strings, which are all that its text is made of. */
enum emit_words { EMIT_ALL, EMIT_NAMES };
/* Of a surface: gives it a table. */
struct asl_emitted_host emit_message_table(struct emit *e, const struct ir_inst *i,
                                           enum emit_words which);
/* Writes an argument that is a place to to[at ...]; where the next one goes. */
uint32_t emit_message_row(struct emit *e, const struct ir_inst *i, const struct ir_arg *a,
                          const char *to, uint32_t at);
/* What both begin with: pulls, homes, used, numbers of constant strings. */
void emit_begin(struct emit *e);
const char *emit_call_name(const struct ir_inst *i);
bool emit_stores_freely(const struct emit *e, uint32_t cell);
void emit_count_pulls(uint32_t *pulls, const struct ir_block *b);
const struct ir_cell *emit_output_cell(struct emit *e, const char *name, uint32_t *cell);

/* A call of a noise function that the device library has. */
struct emit_noise {
    int kind; /* a_noise of device/asl/noise.h */
    bool periodic;
    uint32_t first, count,
        dims; /* coordinates: arguments first .. first + count - 1, then as many periods */
};
bool emit_noise_call(const struct emit *e, const struct ir_inst *i, struct emit_noise *out);
/* A call of Gabor noise with options that are known: the numbers that the library's a_gabor takes.
 * An int stands for the float next to it. */
enum { EMIT_GABOR_OPTIONS = 7 };
struct emit_gabor {
    struct emit_noise noise; /* kind aside */
    struct {
        bool given;
        ir_value value;
        float otherwise;
    } option[EMIT_GABOR_OPTIONS];
};
bool emit_gabor_call(const struct emit *e, const struct ir_inst *i, struct emit_gabor *out);
int emit_colour_space(const char *name); /* a_space of device/asl/pattern.h, -1 if unknown */
int emit_spline_basis(const char *name); /* a_basis, -1 if unknown */
/* "sin" for BI_SIN ...; NULL where the library has no a_NAME and a_slope_NAME. */
extern const char *const emit_functions_of_one[BI_COUNT];

/* emit_grid.c: calls at points of a grid on a device; false when it is no such text or call. */
bool emit_grid_call(struct emit *e, const struct ir_inst *i);
/* The call is made by the host, which the point stops for; false when it cannot be. */
bool emit_ask(struct emit *e, const struct ir_inst *i);
/* Can a device ask its host to make the call? Closures live as long as a point's stretch, and the
 * state of messages is the device's. */
bool emit_can_ask(const struct emit *e, const struct ir_inst *i);
/* How long the reply to call `number` is, which its row keeps; statements that take it from
 * `words`, from `reply` on, or leave zeros where that is 0. */
uint32_t emit_reply_words(const struct emit *e, const struct ir_inst *i, uint32_t number);
void emit_reply_take(struct emit *e, const struct ir_inst *i, const char *words, const char *reply);
/* emit_surface.c: the same at a hit, which has the reply from the launch before, or 0. */
bool emit_question(struct emit *e, const struct ir_inst *i);
/* Names of spaces that are constants and known, at a hit: nothing to report. */
bool emit_spaces_are_known(const struct emit *e, const struct ir_inst *i);
/* transformc(), or a colour that is given in a space by name. */
bool emit_is_colour_change(const struct ir_call *c);
/* Of such a call: are its spaces constants, and each known, or one not? */
enum emit_colours { EMIT_COLOURS_LATE, EMIT_COLOURS_KNOWN, EMIT_COLOURS_LOST };
enum emit_colours emit_colours_of(const struct emit *e, const struct ir_inst *i);
/* One that is lost, and whose result is a value. */
bool emit_is_lost_colour(const struct emit *e, const struct ir_inst *i);
/* Does a call of the block make strings? */
bool emit_makes_strings(const struct ir_layer *l, const struct ir_block *b);
bool emit_is_grid(const struct emit *e);
/* An int expression: the number of the string that v is, which for grids may be known at run time
 * alone; `otherwise` that of all strings that are not the program's. Elsewhere v must be constant.
 */
typedef int emit_string_number(struct emit *e, const void *ctx, const char *s);
/* Is the string constant, or one of the program's on a device's grid? */
bool emit_is_listed(const struct emit *e, ir_value v);
const char *emit_by_string(struct emit *e, ir_value v, emit_string_number *number, const void *ctx,
                           int otherwise);
/* A statement: the call goes down in the log, and the host makes it afterwards for what it says. */
void emit_record(struct emit *e, const struct ir_inst *i);
/* With a number of the call that emit_host_number gave. */
void emit_record_as(struct emit *e, const struct ir_inst *i, uint32_t call);
/* Room for one more in a list of the arena: the list, or a longer copy. */
void *emit_grow(struct emit *e, const void *old, size_t count, size_t *cap, size_t size);

/* emit_messages.c: messages between layers, on devices. */
struct emit_message {
    const struct ir_inst *inst;
    const char *name;
    uint32_t layer, host, number; /* number: of the name, the first message that has it */
    uint32_t row;                 /* LLVM: of the state, the value behind it */
};
void emit_messages_begin(struct emit *e);   /* numbers those of all layers */
void emit_messages_declare(struct emit *e); /* fields of the state */
uint32_t emit_message_words(const struct emit *e, uint32_t number); /* of the longest value */
const struct ir_arg *emit_message_value(const struct emit_message *m);
bool emit_message_sets(const struct emit_message *m);
/* Is it an error to read at m what `by` set, or asked for in vain? */
bool emit_message_is_error(const struct emit_message *m, const struct emit_message *by);
const struct emit_message *emit_message_of(const struct emit *e, const struct ir_inst *i);
/* False when it is no such call. */
bool emit_message(struct emit *e, const struct ir_inst *i);
/* emit_surface.c: a statement that keeps what the call has to say; last: its last word, of
 * messages, or NULL. */
void emit_say(struct emit *e, const struct ir_inst *i, enum emit_words which, const char *last);

/* emit_call.c: a call of what device/asl/ has; false when it has not. */
bool emit_device_call(struct emit *e, const struct ir_inst *i);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The system's C compiler, and the kernel compiled by it. */
#ifndef ISOPHOTE_NATIVE_COMPILER_H
#define ISOPHOTE_NATIVE_COMPILER_H

#include "api/offers.h"

struct compiler {
    char program[256]; /* "cc" */
    char version[128]; /* first line of --version */
    char flags[160];   /* after the kernel's own ones; "" */
};

/* ISOPHOTE_CC where set, else the first of cc, gcc, clang that answers. MISSING, saying what was
 * tried. */
enum status compiler_find(struct compiler *out, struct error *err);

/* The processor as /proc/cpuinfo names it, and a hash of its name and features: what -march=native
 * depends on. */
void processor_describe(char *name, size_t size, uint32_t *mhz, char features_hex[33]);

/* One part of the kernel as a shared object, loaded (dlclose ends it): compiled now unless the cache
 * holds it whole. ISOPHOTE_CFLAGS is appended to the flags. Fails: BUILD (info->log holds what the
 * compiler said), IO, MISSING. */
enum status compiler_load(const struct compiler *c, const struct program_request *request,
                          void **library, struct build_info *info, struct error *err);
/* A text that mutants are made of. Its head is the same in many programs; edits are of it. */
struct edit;
struct edited_text {
    const char *text, *hash; /* as it is */
    size_t head;             /* bytes of the head */
    const struct edit *edit; /* at offsets of the text; NULL: none */
    const char *marked_head; /* in place of the head; then there is no edit. NULL: the head */
    bool helpers;            /* are helpers apart, too? A kernel calls them too often for that */
};
/* compiler_load with an edit (NULL: none) of the kernel's text or of the library behind it. The
 * compiler's flags ask for an object whose functions can be replaced. Linked are one of the head and one
 * of the rest, which are kept, and one of the function that the edit is in. marked: the head has marks,
 * and no edit. */
enum status compiler_load_edited(const struct compiler *c, const struct program_request *request,
                                 const struct edit *edit, bool marked, void **library,
                                 struct build_info *info, struct error *err);
/* The same for any text, with these options. */
enum status compiler_load_edited_text(const struct compiler *c, const char *options,
                                      const struct edited_text *t, void **library,
                                      struct build_info *info, struct error *err);
/* A hash of what the compiler makes of the text. Nothing is kept. Fails as compiler_load does. */
enum status compiler_object_hash(const struct compiler *c, const struct program_request *request,
                                 char *hash, struct error *err);
/* The same for any text, with these options. */
enum status compiler_text_hash(const struct compiler *c, const char *options, const char *text,
                               char hash[33], struct error *err);
/* As compiler_load, for any text and with these options; text_hash (hash_bytes) tells texts apart in the cache.
 * A BUILD error has the place that the compiler names. */
enum status compiler_load_text(const struct compiler *c, const char *options, const char *text,
                               const char text_hash[33], void **library, struct build_info *info,
                               struct error *err);

#endif

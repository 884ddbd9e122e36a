/* SPDX-License-Identifier: Apache-2.0 */
/* base: what every other folder stands on. Status codes and errors, arenas, strings and files, the
 * counter-based generator, parallel loops, clocks, hashing, JSON.
 *
 * Rules that hold in all of Isophote:
 *   - functions that can fail return `enum status`; on failure outputs are untouched and *err (may
 *     be NULL) is filled; only cli/ prints or exits;
 *   - results live in the arena passed in, for as long as it does. */
#ifndef ISOPHOTE_BASE_H
#define ISOPHOTE_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
#include <atomic>
using std::atomic_int;
extern "C" {
#else
#include <stdatomic.h>
#endif

/* What users of libisophote-shaders.so need of base is visible there, and nothing else. */
#pragma GCC visibility push(default)

/* ---- status and errors ------------------------------------------------------------------- */

#define STATUS_LIST(X)                                                                             \
    X(OK, "no error")                                                                              \
    X(ARG, "caller broke the contract")                                                            \
    X(MEMORY, "out of memory")                                                                     \
    X(IO, "a file could not be read or written")                                                   \
    X(PARSE, "input is not well-formed")                                                           \
    X(TYPE, "input is well-formed but means nothing")                                              \
    X(RANGE, "a value is outside its domain")                                                      \
    X(LIMIT, "input is larger than a limit of this program")                                       \
    X(UNSUPPORTED, "the device or the program lacks the feature")                                  \
    X(MISSING, "a device, library or file is not here")                                            \
    X(BUILD, "a device compiler refused the kernel")                                               \
    X(DEVICE, "a driver call failed")                                                              \
    X(TIMEOUT, "a budget ran out")                                                                 \
    X(CANCELLED, "stopped on request")                                                             \
    X(MISMATCH, "two results that must agree differ")                                              \
    X(INTERNAL, "a defect of Isophote")

enum status {
#define X(name, text) STATUS_##name,
    STATUS_LIST(X)
#undef X
        STATUS_COUNT
};

/* Of lists like this one: the texts in their order, for a table of names. */
#define LIST_TEXT(name, text) text,
/* The place of `name` in such a table; -1: it is not there. */
int name_index(const char *name, const char *const *names, int count);

const char *status_name(enum status s); /* "ARG" */
const char *status_text(enum status s); /* "caller broke the contract" */

/* A place in a text. line and col count from 1, col in characters; line 0: no position. file is
 * borrowed. */
struct src_pos {
    const char *file;
    uint32_t line, col;
};

/* On the caller's stack; owns nothing but itself. */
struct error {
    enum status code;
    int native;     /* cl_int, CUresult, errno ...; 0 if none */
    char file[256]; /* copy of the position's file; "" if none */
    uint32_t line, col;
    char path[160]; /* key path inside a JSON document ("materials.red.roughness"); "" if none */
    char msg[1024]; /* what was found and what was expected, one line, no full stop */
};

/* Fills *err (if not NULL) and returns `code`, so that `return error_set(...)` reads well. */
enum status error_set(struct error *err, enum status code, struct src_pos pos, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
enum status error_setv(struct error *err, enum status code, struct src_pos pos, const char *fmt,
                       va_list ap) __attribute__((format(printf, 4, 0)));
/* The same without a position. */
enum status error_msg(struct error *err, enum status code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* "file:line:col: error: msg (at path)": what a user reads. Always NUL-terminated. */
void error_format(const struct error *err, char *buf, size_t size);

/* Returns on failure: for sequences of steps of which each may fail. */
#define TRY(step)                                                                                  \
    do {                                                                                           \
        enum status status_of_step_ = (step);                                                      \
        if (status_of_step_ != STATUS_OK)                                                          \
            return status_of_step_;                                                                \
    } while (0)

/* ---- arenas -------------------------------------------------------------------------------- */

/* A growing region with one lifetime. A zeroed struct is a valid empty arena. */
struct arena {
    struct arena_block *head;
    size_t total; /* bytes handed out */
    size_t limit; /* 0: none; beyond it allocations fail */
};

/* Zeroed memory for `count` objects of `size` bytes; NULL when out of memory, on overflow, or past
 * the limit. align: a power of two, 0 for the platform's maximum. count*size == 0 gives non-NULL.
 */
void *arena_alloc(struct arena *a, size_t count, size_t size, size_t align);
#define ARENA_NEW(a, type)      ((type *)arena_alloc((a), 1, sizeof(type), _Alignof(type)))
#define ARENA_ARRAY(a, type, n) ((type *)arena_alloc((a), (n), sizeof(type), _Alignof(type)))
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Frees everything; the arena is empty and usable again. */
void arena_free(struct arena *a);

/* ---- growing text ---------------------------------------------------------------------------- */

/* A heap string that grows. Zeroed is valid and empty. After a failed growth `failed` is set and
 * further writes do nothing, so callers check once at the end. */
struct text {
    char *data; /* NUL-terminated once anything was written; NULL before */
    size_t len, cap;
    bool failed;
};
void text_append(struct text *t, const char *s, size_t n);
void text_puts(struct text *t, const char *s);
/* A word of a command line as a POSIX shell reads it back: bare, or in quotes; one with control
 * characters as bash, zsh and ksh do ($'a\nb'). */
void text_shell(struct text *t, const char *word);
const char *shell_word(struct arena *a, const char *word); /* the same, in the arena */
/* Text as a terminal may show it: control characters (but newlines and tabs where `lines`), those
 * that turn the direction of writing, and what is no UTF-8, become \x1b, \u202e. */
void text_shown(struct text *t, const char *s, size_t n, bool lines);
void text_printf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_free(struct text *t);

#pragma GCC visibility pop

/* ---- bytes, digits and characters ----------------------------------------------------------- */

/* Numbers that stand with their low byte first. */
static inline uint32_t little16(const void *at)
{
    const uint8_t *p = (const uint8_t *)at;
    return p[0] | (uint32_t)p[1] << 8;
}
static inline uint32_t little32(const void *at)
{
    return little16(at) | little16((const uint8_t *)at + 2) << 16;
}
/* 0..15, of either case; -1 for what is no digit. */
int hex_digit(char c);

/* Base64 (RFC 4648) onto t. */
void base64_write(struct text *t, const void *data, size_t size);
/* The bytes that s stands for, in the arena; NULL if it is not base64. lax: the digits of base64url
 * are digits too, padding may be missing, and what stands behind its first sign does not count. */
uint8_t *base64_read(struct arena *a, const char *s, bool lax, size_t *size);

/* UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF. */
/* Bytes of the character at s, of which n >= 1 are there, and in *c (may be NULL) its number; 0
 * when it is not valid UTF-8. */
size_t utf8_read(const char *s, size_t n, uint32_t *c);
/* The bytes of character c: how many. */
size_t utf8_write(char to[4], uint32_t c);
/* The length of s without a last character that was cut short. */
size_t utf8_whole(const char *s, size_t n);

/* ---- files ---------------------------------------------------------------------------------- */

/* Opens a regular file for reading; a pipe or a device is refused at once. Fails: MISSING, IO. */
enum status input_open(const char *path, int *fd, struct error *err);
/* Reads a whole file; the data is followed by a NUL that size does not count. Fails: MISSING if
 * there is no such file, IO, LIMIT when larger than max_bytes (0: 4 GiB), MEMORY. */
enum status file_read(struct arena *a, const char *path, size_t max_bytes, char **data,
                      size_t *size, struct error *err);
/* Up to `size` bytes of an open regular file from `offset` on: fewer where it ends; -1, and errno,
 * if it cannot be read. */
int64_t file_read_at(int fd, void *to, size_t size, size_t offset);
/* Writes to a temporary name beside path, syncs, renames: path holds all or what it held before.
 * Links are followed, but for those that file_link_check refuses. A device or pipe (/dev/null) is
 * written to and stays what it is. */
enum status file_write(const char *path, const void *data, size_t size, struct error *err);
/* For writers that need a stream or a path of their own: makes a temporary file, readable by its
 * user alone, of a name that nobody can foresee; then either commits it (the usual mode, rename) or
 * removes it. `tmp` must hold 4096 bytes. What a process that was killed left of the same output is
 * removed first. _open: the file is open for reading and writing. */
enum status file_temp_name(const char *path, char *tmp, size_t tmp_size, struct error *err);
enum status file_temp_open(const char *path, char *tmp, size_t tmp_size, int *fd,
                           struct error *err);
/* Before a file is written, whoever named it: ARG for a link whose target cannot be opened (writing
 * would put a file where nobody looks, or replace the link), and for one that another user may have
 * planted. */
enum status file_link_check(const char *path, struct error *err);
/* Before a file is written under a name that the user did not say: ARG where something stands there
 * that is a link, no file, or begins otherwise than what would be written. */
enum status file_kind_check(const char *path, const void *head, size_t size, struct error *err);
/* From now on file_kind_check lets all pass (--force). */
void file_kinds_forced(void);
/* write(2) until all is written; false, and errno says why: also of a pipe that nobody reads. */
bool write_full(int fd, const void *data, size_t size);
enum status file_commit(const char *tmp, const char *path, struct error *err);
void file_discard(const char *tmp);
/* A new folder in $TMPDIR, else /tmp, that only its user can look into; removed with all it holds,
 * by the next one made after a crash at the latest. Fails: IO, LIMIT. */
enum status scratch_make(char *folder, size_t size, struct error *err);
/* The same in a folder of the caller's. */
enum status scratch_make_in(const char *in, char *folder, size_t size, struct error *err);
void scratch_remove(const char *folder);
/* Removes what processes of this user that were killed left in a folder of temporary files: those
 * for outputs whose name ends so, or (NULL) all. Once in a process. */
void temporary_sweep(const char *folder, const char *tail);
/* mkdir -p. */
enum status dir_make(const char *path, struct error *err);
/* "$ISOPHOTE_CACHE", else "$XDG_CACHE_HOME/isophote", else "$HOME/.cache/isophote", else
 * "/tmp/isophote-<uid>", joined with `sub` (may be ""); made if it is not there. IO when others than
 * this user own or can write it: then nothing may be believed that lies there. */
enum status cache_dir(const char *sub, char *buf, size_t size, struct error *err);
/* What was kept under a key (hash_bytes), in the arena. False when there is nothing of use: the file
 * is absent, cut, spoilt, of another key, or not this user's own. */
bool cache_read(struct arena *a, const char *path, const char key[33], const void **data,
                size_t *size);
/* Keeps it, with its key, length and hash. A failure costs the next start some time, no more. */
void cache_write(const char *path, const char key[33], const void *data, size_t size);
/* Held from before something that takes long is made until it is kept, so that of the threads and
 * processes that need it one makes it: who got the lock looks again for what another has kept
 * meanwhile. In the folder of `path`, one for each key. -1 where there is none to be had (no room,
 * a folder that cannot be written, a holder that hangs): then it is made all the same. Who ends,
 * however, lets go. cache_unlock takes -1. */
int cache_lock(const char *path, const char key[33]);
void cache_unlock(int lock);
/* Truths: what devices are judged by and took long to make, kept under a key as by cache_write, in
 * "$ISOPHOTE_TRUTHS", else "truth" in the cache folder. They are the same on every machine: files
 * may be copied from one to another. All of them together take $ISOPHOTE_TRUTHS_MIB at most
 * (default 4096; 0: none is kept): what was used longest ago goes. */
enum status truths_dir(char *buf, size_t size, struct error *err);
bool truths_read(struct arena *a, const char key[33], const void **data, size_t *size);
void truths_write(const char key[33], const void *data, size_t size);
/* The same form for files that a user names; `magic` says of what kind they are. Believed by the
 * same rules. sealed_read: whatever its key, which is told. Fails: MISSING (no such file), IO (not
 * this user's own, a link), PARSE (another kind, cut short, damaged), MEMORY. sealed_write: as
 * file_write, of pieces that stand one behind the other; path holds what it held before when it
 * fails. Not `synced` it is sooner there, and cut short by a power failure. */
struct file_piece {
    const void *data;
    size_t size;
};
enum status sealed_read(struct arena *a, const char *path, const char magic[8], char key[33],
                        const void **data, size_t *size, struct error *err);
enum status sealed_write(const char *path, const char magic[8], const char key[33],
                         const struct file_piece *pieces, size_t count, bool synced,
                         struct error *err);
/* Takes what a user should know though nothing failed; NULL (at first): nobody listens. */
extern void (*note_say)(const char *text);
/* What stands behind the last '/' of a path. */
const char *path_name(const char *path);
/* ".json" of "dir/a.b.json": the last point of the name and what follows; "" when there is none
 * but at its start. */
const char *path_ending(const char *path);
/* Does the path end so, in letters of either case, with something before it? */
bool path_ends(const char *path, const char *ending);
/* "a.b" of "dir/a.b.json". In the arena. */
char *path_stem(struct arena *a, const char *path);
/* "dir" of "dir/a", "." of "a", "/" of "/a". In the arena. */
char *path_folder(struct arena *a, const char *path);
/* The folder of path joined with rel, or rel itself when absolute. In the arena. */
char *path_beside(struct arena *a, const char *path, const char *rel);

/* ---- files that a result depends on --------------------------------------------------------- */

/* Scenes and shaders are read by these, so that a result can say by which bytes it was made. From
 * now on each file met is told to fd as a JSON line, {"input":PATH,"hash":HASH}, by all threads and
 * by the processes that this one forks; the hash "" is of a file that was looked for in vain. fd
 * -1: no longer. */
void inputs_watch(int fd);
enum status input_file_read(struct arena *a, const char *path, size_t max_bytes, char **data,
                            size_t *size, struct error *err); /* file_read, told */
bool input_file_there(const char *path); /* is there such a file? Told when there is none */
void input_file_note(const char *path,
                     int fd); /* of a file that is open, however it will be read */
void input_file_hash(const char *path, char hex[33]); /* of a file as it is now; "" of none */
/* A place of this process' own for what is told: watched from now on until it is closed. -1, and
 * nothing is watched, when the system has none. inputs_told: its lines so far, in the arena; ""
 * when there are none, NULL when out of memory. */
int inputs_open(void);
const char *inputs_told(struct arena *a, int fd);
void inputs_close(int fd); /* accepts -1 */
struct input_file {
    const char *path;
    char hash[33];
};
/* The lines that were told: each path once, sorted. A path with two hashes gets one that no file
 * has. In the arena. Fails: PARSE, TYPE, MEMORY. */
enum status inputs_list(struct arena *a, const char *lines, size_t size, struct input_file **out,
                        size_t *count, struct error *err);

/* ---- files that come with the program ------------------------------------------------------- */

/* The program that runs; "" if the system does not tell. */
const char *program_path(void);
/* The folder that holds scenes/, shaders/ and conformance/, joined with `sub`:
 * "$ISOPHOTE_DATA_DIR", else where an install tree has it, seen from the program (or from the
 * library that holds this code), else the source tree, for what runs in its build tree. In the
 * arena. MISSING, saying where it looked, if there is no such folder; `sub` is not looked at.
 * MEMORY, also when sub is NULL. */
enum status data_path(struct arena *a, const char *sub, const char **path, struct error *err);
/* Path of a program or module that only Isophote opens, installed with it or built with it.
 * MISSING, saying where it looked, if it is not there. */
enum status helper_path(const char *name, char *path, size_t size, struct error *err);

/* ---- hashing -------------------------------------------------------------------------------- */

/* XXH3 128 bits, as 32 lower-case hexadecimal digits. hash_open gives NULL when out of memory;
 * then hash_add does nothing and hash_close gives "". */
struct hash;
struct hash *hash_open(void);
void hash_add(struct hash *h, const void *data, size_t size);
void hash_close(struct hash *h, char hex[33]); /* h is freed */
void hash_bytes(const void *data, size_t size, char hex[33]);
/* FNV-1a, 32 bits (Fowler, Noll, Vo): of tables in memory, and of strings in ASL. */
uint32_t hash_fnv(const void *data, size_t size);
uint32_t hash_text(const char *text); /* without its final NUL */

/* ---- numbers at random ---------------------------------------------------------------------- */

/* Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel Random Numbers: As Easy as 1, 2, 3", SC
 * 2011): a bijection of the counter under the key. Passes BigCrush. Vectors:
 * docs/reference/protocol.md section 3. */
void philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);
/* The number in [0,1) that the protocol makes of a word: (word >> 8) * 2^-24, exact in float. */
double u01(uint32_t word);

/* ---- parallel loops ------------------------------------------------------------------------- */

/* Processors this process may use, at least 1. Environment ISOPHOTE_THREADS overrides. */
unsigned parallel_threads(void);
/* Calls body(ctx, i, thread) for i in [0, n), each once, in any order, on up to `threads` threads
 * (0: parallel_threads()); thread < threads. Returns when all are done. Nesting runs serially. */
void parallel_for(size_t n, unsigned threads, void (*body)(void *ctx, size_t i, unsigned thread),
                  void *ctx);

/* part(ctx, begin, end) added up over pieces of [0, n), which n alone decides: the same bits for any
 * number of threads. */
double parallel_sum(size_t n, double (*part)(const void *ctx, size_t begin, size_t end),
                    const void *ctx);

/* For main, before it has threads: all threads, those of libraries too, get stacks of 64 MiB. */
void stacks_deepen(void);
/* Bytes of its stack that a thread may use for one thing: half of the smallest one's. */
uint64_t stack_room(void);

/* ---- clocks --------------------------------------------------------------------------------- */

double clock_s(void);         /* monotonic, seconds */
void clock_utc(char buf[32]); /* "2026-11-21T04:05:06Z" */
size_t memory_peak(void);     /* peak resident bytes of this process (VmHWM) */

/* ---- stopping ------------------------------------------------------------------------------- */

/* The number of the signal that asked this process to stop, SIGALRM when its time was up; long work,
 * in any thread, looks at it and returns STATUS_CANCELLED. Lock-free, as a signal handler needs it.
 */
extern atomic_int cancel_requested;
/* For main, before it has threads: SIGINT, SIGTERM and SIGHUP set cancel_requested from here on. A
 * second one, or 0.7 s after the first, ends the process, whatever runs in it, with 128 and the
 * first one's number. However it ends, by SIGKILL too, a second process clears away what it noted
 * (guard_) and ends what it had started. */
void stop_begin(void);
/* The same when so many seconds have passed, with a message and the status 1. 0: never. */
void stop_after(double seconds);
double stop_limit(void); /* those seconds, once they have passed; else 0 */

/* The note of a group of processes, to be made before the fork; -1: nobody guards. The child makes
 * itself its leader and calls _begin; _gone when it has ended. */
int guard_group(void);
void guard_group_begin(int slot);
void guard_group_gone(int slot);
/* Clears away what a forked process, which has ended, had noted. */
void guard_end_of(int pid);

/* A child that does become(what), to be another program, and ends with what that returns. Until
 * then it has this process' memory, as vfork's has, and this thread waits: a copy of a large process
 * takes long to make. So only calls that are safe between fork and exec. It leads a group of its
 * own, noted in *slot (guard_group_gone, when it has ended), ends with this process, and has all
 * signals as a program starts with them. Returns its number; -1 with errno, and nothing is noted. */
int child_spawn(int (*become)(void *what), void *what, int *slot);

/* Runs argv (ends with NULL; argv[0] is looked up in PATH) with an empty standard input; its
 * standard output and error go to `out` (cut at size - 1 bytes). *exit_code is minus the signal's
 * number when a signal ended it. It ends with this process, and so does what it starts. folder: for
 * its temporary files (TMPDIR), which it leaves when it is killed; NULL: as this process has it.
 * Fails: MISSING if the program cannot be started, CANCELLED, IO, MEMORY. */
enum status child_run(char *const argv[], const char *folder, char *out, size_t size,
                      int *exit_code, struct error *err);
/* The same for a tool that may ask somebody: its input is the file `in`, or (NULL) ours, and it has
 * the foreground of our terminal until it ends; what it says goes to the file `out`, which is
 * replaced, or (NULL) to our standard error. */
enum status child_run_on(char *const argv[], const char *in, const char *out, int *exit_code,
                         struct error *err);

/* ---- memory --------------------------------------------------------------------------------- */

/* Bytes that this process may have in use: what was allowed, else $ISOPHOTE_MEMORY, else nine tenths
 * of what the machine, its control groups and RLIMIT_AS have left. */
uint64_t memory_allowed(void);
void memory_allow(uint64_t bytes); /* of processes that are started too */
uint64_t memory_room(void);        /* what of it is not in use now */
/* "1.5G" or "1.5GiB", "800M", "4096": a power of 1024 behind the number; false: it is none. */
bool memory_read(const char *text, uint64_t *bytes);
const char *memory_text(uint64_t bytes, char text[32]); /* "14.7 GiB" */
/* To be asked before so much is taken. Fails: LIMIT, saying how much it would be and what for:
 * "a film of 32768x32768 pixels". */
enum status memory_plan_at(uint64_t bytes, struct src_pos at, struct error *err, const char *fmt,
                           ...) __attribute__((format(printf, 4, 5)));
#define memory_plan(bytes, err, ...)                                                               \
    memory_plan_at((bytes), (struct src_pos){0}, (err), __VA_ARGS__)

/* `bytes` of any contents, 64-byte aligned, for free(); much of it in large pages where the system
 * has them: a tenth of the faults, and fewer addresses to look up. NULL: there is no memory. */
void *memory_large(size_t bytes);

/* ---- JSON ----------------------------------------------------------------------------------- */

enum json_type { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

/* A parsed value that knows its place. Members of an object stand in file order. */
struct json {
    enum json_type type;
    uint32_t line, col;
    const char *key;           /* its name in the parent object; NULL otherwise */
    const struct json *parent; /* NULL for the root */
    uint32_t index;            /* position in the parent */
    bool boolean;
    double number;
    bool is_integer; /* written without '.', 'e' and inside int64 */
    int64_t integer;
    const char *string;        /* NUL-terminated UTF-8; contains no other NUL (refused as PARSE) */
    size_t count;              /* children of an array or object */
    struct json *first, *next; /* children as a list */
};

/* Parses one document; `file` is remembered for messages. Fails: PARSE (with place), LIMIT (depth
 * over 256), MEMORY. Duplicate keys in one object are PARSE errors. */
enum status json_parse(struct arena *a, const char *file, const char *data, size_t size,
                       const struct json **root, struct error *err);
const struct json *json_get(const struct json *object, const char *key); /* NULL if absent */
/* "materials.red.texture[2]" into buf. */
void json_path(const struct json *v, char *buf, size_t size);
/* error_set at v's place with v's path. `file` as given to json_parse. */
enum status json_error(struct error *err, const char *file, const struct json *v, enum status code,
                       const char *fmt, ...) __attribute__((format(printf, 5, 6)));
const char *json_type_name(enum json_type t); /* "an object", "a number" ... */

/* Writing: calls nest as the document does; commas and escapes are taken care of. Numbers print so
 * that reading gives the same double; NaN and infinities become null. */
struct json_writer {
    struct text out;
    bool pretty;
    unsigned depth;
    uint8_t state[64];
};
void json_begin_object(struct json_writer *w);
void json_end_object(struct json_writer *w);
void json_begin_array(struct json_writer *w);
void json_end_array(struct json_writer *w);
void json_key(struct json_writer *w, const char *key);
void json_string(struct json_writer *w,
                 const char *s); /* NULL gives null; bad UTF-8 becomes U+FFFD */
void json_number(struct json_writer *w, double v);
void json_integer(struct json_writer *w, int64_t v);
void json_bool(struct json_writer *w, bool v);
void json_null(struct json_writer *w);
/* key and value at once */
void json_key_string(struct json_writer *w, const char *key, const char *s);
void json_key_number(struct json_writer *w, const char *key, double v);
void json_key_integer(struct json_writer *w, const char *key, int64_t v);
void json_key_bool(struct json_writer *w, const char *key, bool v);
void json_key_pair(struct json_writer *w, const char *key, double a, double b); /* [a, b] */
/* A value that was read, with its key if it has one. */
void json_copy(struct json_writer *w, const struct json *v);

/* ---- JSON lines that one process appends to ------------------------------------------------- */

/* A journal: one object a line, each with the sum of all that stands before it in the file and in
 * itself, as its last member "sum". So a line that was changed, left out or moved by hand is
 * noticed; whoever reckons the sums anew can write any. */
struct json_lines;
struct json_line {
    uint32_t number; /* from 1 */
    const char *text;
    size_t size; /* of the text, up to its sum: an object without its last brace */
    const struct json *value;
};
/* Opens, makes and locks. resume: each line that is there is told to `line`, and stays; its text and
 * value live until the close. A torn last one, of a process that ended as it wrote, is cut off. Not
 * resume: all of it is. The first line is told before its sum is looked at: so `line` can say that
 * the file is of another kind. Fails, and the file stays: IO, LIMIT (another process has it open),
 * PARSE (a bad line that is not the last), TYPE (a sum is not the line's), what `line` says, with
 * the line's number. */
enum status json_lines_open(const char *path, bool resume,
                            enum status (*line)(void *ctx, const struct json_line *l,
                                                struct error *err),
                            void *ctx, struct json_lines **out, struct error *err);
bool json_lines_none(const struct json_lines *j); /* no line is there yet */
/* Appends the object that w holds, and frees it. synced: nothing written until now is lost any
 * more. Fails: IO (what was written of the line is cut off again), MEMORY. */
enum status json_lines_add(struct json_lines *j, struct json_writer *w, bool synced,
                           struct error *err);
void json_lines_close(struct json_lines *j); /* accepts NULL */

/* ---- identities ----------------------------------------------------------------------------- */

/* What determines a result: named parts in order, of which some are identities themselves. Two
 * results with one key were made by the same program, driver, compiler, files and settings. */
struct identity_part {
    const char *name, *value;  /* of an identity: its kind and its key */
    const struct identity *of; /* NULL: the value says all, or the identity is not known here */
};
struct identity {
    struct arena *arena;
    const char *kind; /* "program", "environment", "device", "inputs", "case" ... */
    struct identity_part *parts;
    size_t count, cap;
    bool failed;
    char key[33]; /* hash_bytes of the kind, the names and the values, each with its final NUL */
};
/* Made in the arena: new, then parts, then close. What is NULL or fails on the way shows when it is
 * closed, which gives NULL. A part without a value (NULL, "") is left out. */
struct identity *identity_new(struct arena *a, const char *kind);
void identity_add(struct identity *id, const char *name, const char *value);
void identity_add_of(struct identity *id, const struct identity *of);
const struct identity *identity_close(struct identity *id, struct error *err);
/* The parts as one object, inner identities as their keys; and all of it, with the key, nested. */
void identity_parts_write(struct json_writer *w, const struct identity *id);
void identity_write(struct json_writer *w, const struct identity *id);
/* identity_write as text in the arena; NULL: out of memory. */
const char *identity_text(struct arena *a, const struct identity *id);
/* Back from identity_parts_write. Inner identities are looked for among those known. Fails: TYPE
 * when the parts do not give the key, MEMORY. */
enum status identity_read(struct arena *a, const char *file, const char *kind, const char *key,
                          const struct json *parts, const struct identity *const *known,
                          size_t known_count, const struct identity **out, struct error *err);
/* Back from identity_write. Fails: TYPE when parts do not give their key, MEMORY. */
enum status identity_back(struct arena *a, const char *file, const char *kind,
                          const struct json *nested, const struct identity **out,
                          struct error *err);
const struct identity *identity_find(const struct identity *const *known, size_t count,
                                     const char *key); /* NULL: not among them */
/* "device compiler was gcc 12.2.0, is clang 15.0.6; ...": the first three of what differs. */
void identity_difference(const struct identity *before, const struct identity *after,
                         struct text *out);
/* The variables of this process that can change an answer, by the table of variables.c: of the kind
 * "environment". NULL: out of memory. */
const struct identity *identity_environment(struct arena *a, struct error *err);
/* The i-th row of that table; false behind the last. */
bool variable_row_at(size_t i, const char **pattern, bool *is_decisive, const char **reason);

#ifdef __cplusplus
}
#endif
#endif

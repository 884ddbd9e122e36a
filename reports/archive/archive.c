/* SPDX-License-Identifier: Apache-2.0 */
/* An archive is a tar file (POSIX ustar) of which each byte follows from the members: reading makes
 * every header again and compares, so that links, devices, paths, other dialects, and what stands
 * twice, out of order or behind the end are one refusal. */
#include "reports.h"

#include <string.h>

enum { BLOCK = 512, VERSION = 1, NAME_MOST = 32 };
static const size_t member_most = (size_t)1 << 30;

static const char *const names[] = {ARCHIVE_MEMBER_LIST(LIST_TEXT)};
static const char manifest_name[] = "manifest.json";

const char *archive_member_name(enum archive_member m) { return names[m]; }

static void header_make(const char *name, size_t size, char block[BLOCK])
{
    unsigned sum = 0;
    memset(block, 0, BLOCK);
    (void)snprintf(block, 100, "%s", name);
    memcpy(block + 100, "0000644", 8);
    memcpy(block + 108, "0000000", 8);
    memcpy(block + 116, "0000000", 8);
    (void)snprintf(block + 124, 12, "%011llo", (unsigned long long)size);
    memcpy(block + 136, "00000000000", 12);
    memset(block + 148, ' ', 8);
    block[156] = '0';
    memcpy(block + 257, "ustar", 6);
    block[263] = block[264] = '0'; /* the version, without a final NUL */
    for (int i = 0; i < BLOCK; i++)
        sum += (unsigned char)block[i];
    (void)snprintf(block + 148, 8, "%06o", sum);
}

static size_t padding(size_t size) { return (BLOCK - size % BLOCK) % BLOCK; }

static void member_put(struct text *out, const char *name, const char *data, size_t size)
{
    static const char zeros[BLOCK];
    char block[BLOCK];
    header_make(name, size, block);
    text_append(out, block, BLOCK);
    text_append(out, data, size);
    text_append(out, zeros, padding(size));
}

static void manifest_make(const struct archive *in, struct json_writer *w)
{
    json_begin_object(w);
    json_key_integer(w, "isophote_archive", VERSION);
    json_key(w, "members");
    json_begin_array(w);
    for (int i = 0; i < ARCHIVE_COUNT; i++) {
        struct sum s;
        char hex[65];
        if (!in->members[i].data)
            continue;
        sum_of(in->members[i].data, in->members[i].size, &s);
        sum_hex(&s, hex);
        json_begin_object(w);
        json_key_string(w, "name", names[i]);
        json_key_integer(w, "bytes", (int64_t)in->members[i].size);
        json_key_string(w, "sha256", hex);
        json_end_object(w);
    }
    json_end_array(w);
    json_end_object(w);
    text_puts(&w->out, "\n");
}

enum status archive_write(const struct archive *in, struct text *out, struct error *err)
{
    static const char end[2 * BLOCK];
    struct json_writer w = {0};
    for (int i = 0; i < ARCHIVE_COUNT; i++)
        if (in->members[i].data && in->members[i].size > member_most)
            return error_msg(err, STATUS_LIMIT, "%s has %zu bytes; an archive takes %zu", names[i],
                             in->members[i].size, member_most);
    manifest_make(in, &w);
    if (!w.out.failed)
        member_put(out, manifest_name, w.out.data, w.out.len);
    for (int i = 0; i < ARCHIVE_COUNT; i++)
        if (in->members[i].data)
            member_put(out, names[i], in->members[i].data, in->members[i].size);
    text_append(out, end, sizeof end);
    bool failed = w.out.failed || out->failed;
    text_free(&w.out);
    return failed ? error_msg(err, STATUS_MEMORY, "out of memory for an archive") : STATUS_OK;
}

/* ---- reading -------------------------------------------------------------------------------- */

struct reader {
    const char *path, *data;
    size_t size, at;
};

static enum status refuse(const struct reader *r, struct error *err, const char *why)
{
    return error_msg(err, STATUS_PARSE, "%s: at byte %zu: %s", r->path, r->at, why);
}

/* The member that begins here: its name and its bytes. */
static enum status member_next(struct reader *r, char name[NAME_MOST], const char **data,
                               size_t *size, struct error *err)
{
    char block[BLOCK];
    const char *head = r->data + r->at;
    size_t n = 0;
    if (r->size - r->at < BLOCK)
        return refuse(r, err, "the file ends within a member's header: it was cut short");
    size_t length = strnlen(head, NAME_MOST);
    if (length == NAME_MOST || length == 0)
        return refuse(r, err, "no member of an archive of isophote has such a name");
    memcpy(name, head, length + 1);
    for (int i = 0; i < 11; i++) {
        char c = head[124 + i];
        if (c < '0' || c > '7')
            return refuse(r, err, "a member's size is no octal number");
        n = n * 8 + (size_t)(c - '0');
    }
    header_make(name, n, block);
    if (memcmp(block, head, BLOCK) != 0)
        return refuse(r, err,
                      "a member's header is not the one that isophote writes: only plain "
                      "files of one form are taken");
    r->at += BLOCK;
    if (n > member_most)
        return refuse(r, err, "a member is larger than 1 GiB");
    if (r->size - r->at < n + padding(n))
        return refuse(r, err, "the file ends within a member: it was cut short");
    *data = r->data + r->at;
    *size = n;
    for (size_t i = n; i < n + padding(n); i++)
        if ((*data)[i])
            return refuse(r, err, "bytes behind the end of a member");
    r->at += n + padding(n);
    return STATUS_OK;
}

static enum status member_take(struct reader *r, const char *name, int *last, struct archive *out,
                               const char *data, size_t size, struct error *err)
{
    int i = name_index(name, names, ARCHIVE_COUNT);
    if (i < 0)
        return refuse(r, err, "a member of a name that archives do not have");
    if (out->members[i].data)
        return refuse(r, err, "a member stands twice");
    if (i < *last)
        return refuse(r, err, "members stand in another order");
    *last = i;
    out->members[i].data = data;
    out->members[i].size = size;
    return STATUS_OK;
}

static enum status manifest_check(struct arena *a, const struct reader *r, const char *manifest,
                                  size_t size, const struct archive *in, struct error *err)
{
    struct json_writer w = {0};
    const struct json *root;
    TRY(json_parse(a, manifest_name, manifest, size, &root, err));
    const struct json *version =
        root->type == JSON_OBJECT ? json_get(root, "isophote_archive") : NULL;
    if (!version || !version->is_integer || version->integer != VERSION)
        return error_msg(err, STATUS_PARSE, "%s: the manifest is not of an archive of version %d",
                         r->path, VERSION);
    manifest_make(in, &w);
    bool failed = w.out.failed;
    bool same = !failed && w.out.len == size && memcmp(w.out.data, manifest, size) == 0;
    text_free(&w.out);
    if (failed)
        return error_msg(err, STATUS_MEMORY, "out of memory for a manifest");
    return same ? STATUS_OK
                : error_msg(err, STATUS_MISMATCH,
                            "%s: the manifest does not say what the members are: names, lengths or "
                            "sums differ",
                            r->path);
}

enum status archive_read(struct arena *a, const char *path, const char *data, size_t size,
                         struct archive *out, struct error *err)
{
    struct reader r = {path, data, size, 0};
    struct archive got = {0};
    char name[NAME_MOST];
    const char *manifest = NULL, *bytes;
    size_t manifest_size = 0, n;
    int last = -1;
    TRY(member_next(&r, name, &manifest, &manifest_size, err));
    if (strcmp(name, manifest_name) != 0)
        return refuse(&r, err, "the first member is not the manifest");
    while (r.at < size && data[r.at]) {
        TRY(member_next(&r, name, &bytes, &n, err));
        TRY(member_take(&r, name, &last, &got, bytes, n, err));
    }
    for (n = 0; n < 2 * BLOCK && r.at + n < size && !data[r.at + n];)
        n++;
    if (n < 2 * BLOCK)
        return refuse(&r, err, "the file ends before its end mark: it was cut short");
    if (size - r.at != 2 * BLOCK)
        return refuse(&r, err, "bytes behind the end of the archive");
    if (!got.members[ARCHIVE_RESULTS].data)
        return refuse(&r, err, "results.jsonl is missing");
    TRY(manifest_check(a, &r, manifest, manifest_size, &got, err));
    *out = got;
    return STATUS_OK;
}

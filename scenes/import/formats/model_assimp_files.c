/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "model_assimp_files.h"
#include "model_3ds.h"
#include "model_collada.h"
#include "model_far.h"
#include "model_obj.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include <assimp/cfileio.h>

/* ---- a file in memory ----------------------------------------------------------------------- */

struct memory_file {
    struct aiFile file;
    char *data;
    size_t size, at;
};

static struct memory_file *memory_file(struct aiFile *f)
{
    return (struct memory_file *)f->UserData;
}

static size_t file_read_items(struct aiFile *f, char *to, size_t size, size_t count)
{
    struct memory_file *m = memory_file(f);
    size_t n = size ? (m->size - m->at) / size : 0;
    n = n < count ? n : count;
    memcpy(to, m->data + m->at, n * size);
    m->at += n * size;
    return n;
}

static size_t file_write_items(struct aiFile *f, const char *from, size_t size, size_t count)
{
    (void)f, (void)from, (void)size, (void)count;
    return 0;
}

static size_t file_tell(struct aiFile *f) { return memory_file(f)->at; }
static size_t file_size(struct aiFile *f) { return memory_file(f)->size; }
static void file_flush(struct aiFile *f) { (void)f; }

static enum aiReturn file_seek(struct aiFile *f, size_t offset, enum aiOrigin origin)
{
    struct memory_file *m = memory_file(f);
    size_t from = origin == aiOrigin_CUR ? m->at : origin == aiOrigin_END ? m->size : 0;
    if (offset > m->size - from)
        return aiReturn_FAILURE;
    m->at = from + offset;
    return aiReturn_SUCCESS;
}

/* ---- what is mended ------------------------------------------------------------------------- */

/* With a byte order mark of 16 bits: as UTF-8. */
static void decode_utf16(struct source *s, char **data, size_t *size)
{
    const unsigned char *in = (const unsigned char *)*data;
    if (*size < 2 || !((in[0] == 0xFE && in[1] == 0xFF) || (in[0] == 0xFF && in[1] == 0xFE)))
        return;
    bool big = in[0] == 0xFE;
    char *out = source_alloc(s, *size / 2 * 3 + 1, 1);
    size_t n = 0;
    uint32_t high = 0;
    for (size_t i = 2; i + 1 < *size; i += 2) {
        uint32_t c = big ? (uint32_t)in[i] << 8 | in[i + 1] : (uint32_t)in[i + 1] << 8 | in[i];
        if (c >= 0xD800 && c < 0xDC00) {
            high = c;
            continue;
        }
        if (c >= 0xDC00 && c < 0xE000)
            c = high ? 0x10000 + ((high - 0xD800) << 10) + (c - 0xDC00) : 0xFFFD;
        high = 0;
        n += utf8_write(out + n, c);
    }
    *data = out;
    *size = n;
}

/* "a.mtl b.mtl" behind a folder: the text of all that are there. */
static bool read_libraries(struct source *s, const char *path, char **data, size_t *size)
{
    const char *at = path_name(path);
    struct text all = {0};
    for (const char *end; *at; at = end) {
        at += strspn(at, " \t");
        end = at + strcspn(at, " \t");
        char *one, *name = arena_strndup(&s->arena, at, (size_t)(end - at));
        name = name ? path_beside(&s->arena, path, name) : NULL;
        size_t n;
        if (name && end > at && input_file_read(&s->arena, name, 0, &one, &n, NULL) == STATUS_OK) {
            text_append(&all, one, n);
            text_puts(&all, "\n");
        }
    }
    bool any = all.len > 0;
    source_text(s, &all, data, size);
    return any;
}

/* Assimp passes over them without a word. */
static void note_free_form(struct source *s, const char *data, size_t size)
{
    static const char word[] = "cstype";
    const char *end = data + size;
    for (const char *at = data; (at = memmem(at, (size_t)(end - at), word, sizeof word - 1)); at++)
        if (at == data || at[-1] == '\n' || at[-1] == '\r') {
            source_note(s, "free-form curves and surfaces");
            return;
        }
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* Lines of OBJ that begin with blanks, which Assimp leaves out. */
static void unindent(char *data, size_t *size)
{
    size_t n = 0;
    char last = '\n';
    for (size_t i = 0; i < *size; i++) {
        char c = data[i];
        if (last == '\n' && is_blank(c))
            continue;
        data[n++] = c;
        if (c != '\r')
            last = c;
    }
    *size = n;
}

/* Old Macs end lines with \r alone. */
static void mend_ends(char *data, size_t size)
{
    bool mac = !memchr(data, '\n', size);
    for (size_t i = 0; i < size && mac; i++)
        data[i] = data[i] == '\r' ? '\n' : data[i];
}

/* Lines that go on; blanks take the place of what says so. A comment that ends so (with a folder of
 * Windows) does not, whatever Assimp thinks. */
static void join_lines(char *data, size_t size)
{
    bool begins = true, comment = false;
    for (size_t i = 0; i < size; i++) {
        char c = data[i];
        if (begins && !is_blank(c)) {
            comment = c == '#';
            begins = false;
        }
        begins = begins || c == '\n';
        size_t end = i + 1 < size && data[i + 1] == '\r' ? i + 2 : i + 1;
        if (c == '\\' && end < size && data[end] == '\n')
            memset(data + i, ' ', comment ? 1 : end + 1 - i);
    }
}

/* Comments behind faces, and words such as "lod" that are neither line nor point, are no numbers to
 * Assimp. */
static void mend_faces(char *data, size_t size)
{
    char *end = data + size;
    for (char *line = data, *next; line < end; line = next) {
        char *newline = memchr(line, '\n', (size_t)(end - line));
        next = newline ? newline + 1 : end;
        if ((*line != 'f' && *line != 'l' && *line != 'p') || next - line < 2)
            continue;
        char *comment = is_blank(line[1]) ? memchr(line, '#', (size_t)(next - line)) : NULL;
        if (comment)
            memset(comment, ' ', (size_t)((newline ? newline : end) - comment));
        else if (*line != 'f' && !isspace((unsigned char)line[1]))
            *line = '#';
    }
}

/* A line "vt u", whose v is 0. */
static bool is_short_coordinate(const char *at, const char *end)
{
    unsigned words = 0;
    if (end - at < 4 || at[0] != 'v' || at[1] != 't')
        return false;
    for (at += 3; at < end && at[-1] != '\n'; at++)
        words += is_blank(at[-1]) && !isspace((unsigned char)*at);
    return words == 1;
}

enum { VERTEX_NUMBERS = 6 };

/* What Assimp refuses in vertices of OBJ: numbers that begin with their point become 0.5, what
 * stands behind x y z r g b (an alpha) is left out, and texture coordinates of one number get a
 * second. */
static void mend_vertices(struct source *s, char **data, size_t *size)
{
    const char *in = *data;
    size_t more = 0, n = 0;
    for (size_t i = 1; i < *size; i++) {
        more += in[i] == '.' && is_blank(in[i - 1]);
        more += in[i - 1] == '\n' && is_short_coordinate(in + i, in + *size) ? 2 : 0;
    }
    char *out = more ? source_alloc(s, *size + more, 1) : *data;
    bool vertex = false, position = false; /* the line begins with v; with v and a blank */
    bool lacks = false;                    /* a number at its end */
    unsigned numbers = 0;
    for (size_t i = 0; i < *size; i++) {
        char c = in[i], last = i ? in[i - 1] : '\n';
        if (last == '\n') {
            vertex = c == 'v';
            position = vertex && i + 1 < *size && is_blank(in[i + 1]);
            numbers = 0;
            lacks = i > 0 && is_short_coordinate(in + i, in + *size);
        }
        bool starts = vertex && is_blank(last) && !isspace((unsigned char)c);
        numbers += starts;
        if (position && numbers > VERTEX_NUMBERS && c != '\n')
            continue;
        if (lacks && (c == '\r' || c == '\n')) {
            out[n++] = ' ';
            out[n++] = '0';
            lacks = false;
        }
        if (starts && c == '.')
            out[n++] = '0';
        out[n++] = c;
    }
    *data = out;
    *size = n;
}

/* Blanks between a tag of Collada and the text behind it, on which Assimp refuses numbers. */
static void trim_elements(char *data, size_t *size)
{
    size_t n = 0;
    for (size_t i = 0; i < *size;) {
        char c = data[i++];
        data[n++] = c;
        size_t text = i;
        while (c == '>' && text < *size && isspace((unsigned char)data[text]))
            text++;
        if (text < *size && data[text] != '<')
            i = text;
    }
    *size = n;
}

enum { STL_HEAD = 84, STL_FACET = 50 };

/* The size that the number of facets behind the head of a binary STL file asks for. */
static uint64_t stl_size(const unsigned char *head)
{
    const unsigned char *p = head + STL_HEAD - 4;
    return STL_HEAD + (uint64_t)STL_FACET * little32(p);
}

/* A head of Materialise Magics', which says the colour of all facets that have none. */
static bool has_magics_color(const unsigned char *head)
{
    return memmem(head, STL_HEAD - 4, "COLOR=", 6) != NULL;
}

/* Magics clears the highest bit of a facet's word where its other 15 are a colour; VisCAM,
 * SolidView and Assimp, of all files, set it. Where all words are 0 nobody wrote any. Where no
 * facet has a colour Assimp forgets the head's: all get it, to the nearest of a word's 31 steps. */
static void mend_magics_colors(unsigned char *data, size_t size)
{
    const unsigned char *rgb = (unsigned char *)memmem(data, STL_HEAD - 4, "COLOR=", 6) + 6;
    uint16_t own = 0x8000, some = 0, all = 0x8000;
    for (int c = 0; c < 3; c++)
        own = (uint16_t)(own | (rgb[c] * 31 + 127) / 255 << 5 * c);
    for (size_t at = STL_HEAD + STL_FACET; at <= size; at += STL_FACET) {
        uint16_t word = (uint16_t)(data[at - 2] | data[at - 1] << 8);
        some |= word;
        all &= word;
    }
    bool none = some == 0 || all;
    for (size_t at = STL_HEAD + STL_FACET; at <= size; at += STL_FACET) {
        data[at - 2] = none ? (unsigned char)own : data[at - 2];
        data[at - 1] = none ? own >> 8 : data[at - 1] ^ 0x80;
    }
}

/* What C's libraries print for normals without length ("-nan(ind)", "1.#QNAN0") becomes 0. */
static void mend_normals(char *data, size_t size)
{
    static const char word[] = "normal";
    const char *end = data + size;
    for (char *at = data; (at = memmem(at, (size_t)(end - at), word, sizeof word - 1));) {
        at += sizeof word - 1;
        while (at < end && *at != '\n' && *at != '\r') {
            char *first = at;
            while (at < end && !isspace((unsigned char)*at))
                at++;
            if (memchr(first, '#', (size_t)(at - first)) ||
                memchr(first, '(', (size_t)(at - first))) {
                memset(first, ' ', (size_t)(at - first));
                *first = '0';
            }
            while (at < end && isspace((unsigned char)*at) && *at != '\n' && *at != '\r')
                at++;
        }
    }
}

/* Text in capitals becomes small, what stands behind the last binary facet is left out. */
static void mend_stl(struct source *s, char **buffer, size_t *size)
{
    char *data = *buffer;
    size_t blank = 0, look = *size < 1 << 16 ? *size : 1 << 16;
    while (blank < look && isspace((unsigned char)data[blank]))
        blank++;
    bool text = false;
    for (size_t i = blank; i + 5 <= look && strncasecmp(data + blank, "solid", 5) == 0; i++)
        text = text || strncasecmp(data + i, "facet", 5) == 0;
    text = text && !memchr(data, 0, look);
    if (text) {
        *buffer = data += blank; /* Assimp takes it for no text behind blanks */
        *size -= blank;
        size_t capitals = *data == 'S' ? *size : 0;
        for (size_t i = 0; i < capitals; i++)
            data[i] = (char)tolower((unsigned char)data[i]);
        mend_normals(data, *size);
        bring_near(s, "vertex", NULL, 0, buffer, size);
    }
    if (text || *size < STL_HEAD)
        return;
    uint64_t whole = stl_size((const unsigned char *)data);
    if (*size < whole)
        source_refuse(s, STATUS_PARSE,
                      "cannot read the model %s: it ends after %llu of %llu triangles", s->path,
                      (unsigned long long)(*size - STL_HEAD) / STL_FACET,
                      (unsigned long long)(whole - STL_HEAD) / STL_FACET);
    *size = (size_t)whole;
    if (has_magics_color((const unsigned char *)data))
        mend_magics_colors((unsigned char *)data, *size);
}

bool assimp_files_mends(const char *path)
{
    if (!path_ends(path, ".stl"))
        return path_ends(path, ".obj") || path_ends(path, ".dae") || path_ends(path, ".3ds");
    unsigned char head[STL_HEAD];
    FILE *f = fopen(path, "rbe");
    bool whole = f && fread(head, 1, sizeof head, f) == sizeof head &&
                 fseeko(f, 0, SEEK_END) == 0 && (uint64_t)ftello(f) == stl_size(head);
    if (f)
        fclose(f);
    return !whole || has_magics_color(head);
}

/* ---- for Assimp ----------------------------------------------------------------------------- */

static void mend(struct assimp_files *files, const char *path, char **data, size_t *size)
{
    struct source *s = files->s;
    bool obj = path_ends(path, ".obj"), mtl = path_ends(path, ".mtl");
    decode_utf16(s, data, size);
    if ((obj || mtl) && *size >= 3 && memcmp(*data, "\xEF\xBB\xBF", 3) == 0) {
        *data += 3;
        *size -= 3;
    }
    if (obj || mtl) {
        mend_ends(*data, *size);
        join_lines(*data, *size);
    }
    if (mtl) {
        mtl_mend(s, data, size);
        mtl_read(s, *data, &files->mtls);
    } else if (path_ends(path, ".stl"))
        mend_stl(s, data, size);
    else if (obj) {
        unindent(*data, size);
        mend_faces(*data, *size);
        mend_vertices(s, data, size);
        size_t count;
        const bool *used = obj_used(s, *data, *size, &count);
        bring_near(s, "v", used, count, data, size);
        arena_free(&s->scratch);
        note_free_form(s, *data, *size);
        files->says_smoothing = s->layout == MODEL_PARTS && obj_smooth(s, data, size);
    } else if (path_ends(path, ".dae")) {
        collada_mend(s, data, size);
        trim_elements(*data, size);
    } else if (path_ends(path, ".3ds") && s->layout == MODEL_PARTS)
        files->smoothing = read_smoothing_3ds(s, *data, *size, &files->smoothing_count);
}

static struct aiFile *open_file(struct aiFileIO *io, const char *path, const char *mode)
{
    struct assimp_files *files = (struct assimp_files *)io->UserData;
    struct source *s = files->s;
    bool model = strcmp(path, s->path) == 0;
    struct memory_file *m = source_alloc(s, 1, sizeof *m);
    *m = (struct memory_file){{file_read_items, file_write_items, file_tell, file_size, file_seek,
                               file_flush, (aiUserData)m},
                              files->model,
                              files->model_size,
                              0};
    if (strchr(mode, 'w'))
        return NULL;
    if (model && files->model) /* before it is read Assimp looks into it some times */
        return &m->file;
    if (input_file_read(&s->arena, path, 0, &m->data, &m->size, NULL) != STATUS_OK &&
        !(path_ends(path, ".mtl") && read_libraries(s, path, &m->data, &m->size))) {
        if (path_ends(path, ".mtl") && !files->missing_library[0])
            snprintf(files->missing_library, sizeof files->missing_library, "%s", path_name(path));
        return NULL;
    }
    mend(files, path, &m->data, &m->size);
    if (model) {
        files->model = m->data;
        files->model_size = m->size;
    }
    return &m->file;
}

static void close_file(struct aiFileIO *io, struct aiFile *f) { (void)io, (void)f; }

void assimp_files_open(struct assimp_files *files, struct aiFileIO *out)
{
    *out = (struct aiFileIO){open_file, close_file, (aiUserData)files};
}

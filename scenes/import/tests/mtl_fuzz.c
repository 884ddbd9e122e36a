/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an MTL file: materials with names and finite numbers, or a refusal; the lines that
 * stay are those of the file. Or, where they begin with "v ", as an OBJ file: no fewer lines, or a
 * refusal. Seeds: tests/fuzz/mtl_fuzz and scenes/tests/cube.mtl. */
#define _GNU_SOURCE
#include "import/formats/model_far.h"
#include "import/formats/model_mtl.h"
#include "import/formats/model_obj.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static jmp_buf refusal;

static void on_refusal(struct source *s)
{
    (void)s;
    longjmp(refusal, 1); // NOLINT(cert-err52-cpp): out of the reader, which expects no return
}

static void check(const struct mtl *m)
{
    bool ok = strnlen(m->name, sizeof m->name) < sizeof m->name && isfinite(m->strength) &&
              isfinite(m->rotation);
    for (int k = 0; k < MTL_MAPS; k++) {
        const struct mtl_map *map = &m->maps[k];
        ok = ok && strnlen(map->file, sizeof map->file) < sizeof map->file &&
             (map->channel[0] == '\0' || strchr("rgba", map->channel[0]));
        for (int c = 0; c < 2; c++)
            ok = ok && isfinite(map->scale[c]) && isfinite(map->offset[c]);
        ok = ok && isfinite(map->multiplier);
    }
    if (!ok)
        abort();
}

static void read_obj(struct source *s, const uint8_t *data, size_t size)
{
    static char *text; /* static: what setjmp may not lose */
    static size_t lines, length;
    lines = 0;
    length = size;
    text = malloc(size);
    if (!text)
        abort();
    memcpy(text, data, size);
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    char *mended = text;
    if (setjmp(refusal) == 0) { // NOLINT(cert-err52-cpp)
        size_t count;
        const bool *used = obj_used(s, mended, length, &count);
        bring_near(s, "v", used, count, &mended, &length);
        arena_free(&s->scratch);
        obj_smooth(s, &mended, &length);
        for (size_t i = 0; i < length; i++)
            lines -= lines && mended[i] == '\n';
        if (lines)
            abort();
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct source s; /* static: what setjmp may not lose */
    static char *text;
    static struct mtl *list;
    memset(&s, 0, sizeof s);
    list = NULL;
    s.path = "m.obj";
    s.refused = on_refusal;
    s.arena.limit = (size_t)64 << 20;
    source_begin(&s);
    if (size > 1 && data[0] == 'v' && data[1] == ' ') {
        read_obj(&s, data, size);
        source_end(&s);
        return 0;
    }
    text = malloc(size + 1);
    if (!text)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    if (setjmp(refusal) == 0) { // NOLINT(cert-err52-cpp)
        size_t length = strlen(text);
        char *mended = text;
        mtl_mend(&s, &mended, &length);
        const char *before = arena_printf(&s.arena, "%s", mended);
        mtl_read(&s, mended, &list);
        for (const struct mtl *m = list; m; m = m->next)
            check(m);
        for (size_t i = 0; i < length && before; i++)
            if (mended[i] != before[i] && mended[i] != '#')
                abort();
    }
    free(text);
    source_end(&s);
    return 0;
}

/* Any bytes as an MTL file: materials with names and finite numbers, or a refusal; the lines that
 * stay are those of the file. Seeds: tests/fuzz/mtl_fuzz and scenes/tests/cube.mtl. */
#define _GNU_SOURCE
#include "model_mtl.h"

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
    text = malloc(size + 1);
    if (!text)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    size_t length = strlen(text);
    if (setjmp(refusal) == 0) { // NOLINT(cert-err52-cpp)
        mtl_read(&s, text, &list);
        for (const struct mtl *m = list; m; m = m->next)
            check(m);
        for (size_t i = 0; i < length; i++)
            if (text[i] != (char)data[i] && text[i] != '#')
                abort();
    }
    free(text);
    source_end(&s);
    return 0;
}

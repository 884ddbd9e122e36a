/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a file that a reader of our own takes, glTF 2 (JSON or GLB) or PLY: a model whose
 * arrays agree with each other, or a refusal with words. In this process, without the child that it
 * is read in otherwise. Seeds: tests/fuzz/model_fuzz and scenes/tests/cube.gltf. */
#define _GNU_SOURCE
#include "import/formats/formats.h"
#include "import/gltf/model_gltf.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/isophote-model-fuzz-XXXXXX";
static char model[64], beside[64];
static jmp_buf refusal;

static void remove_folder(void)
{
    unlink(model);
    unlink(beside);
    rmdir(folder);
}

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wbe");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0)
        abort();
}

/* A buffer and an image that files may name. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    uint8_t bytes[256];
    if (!mkdtemp(folder))
        abort();
    snprintf(model, sizeof model, "%s/m.gltf", folder);
    snprintf(beside, sizeof beside, "%s/b.bin", folder);
    for (int i = 0; i < 256; i++)
        bytes[i] = (uint8_t)(i % 3 ? i : 0);
    write_file(beside, bytes, sizeof bytes);
    atexit(remove_folder);
    return 0;
}

static void on_refusal(struct source *s)
{
    (void)s;
    longjmp(refusal, 1); // NOLINT(cert-err52-cpp): out of the reader, which expects no return
}

/* What the parent would take, if anything. */
static void check(int fd)
{
    struct model m;
    struct error err = {0};
    if (import_take(fd, model, &m, &err) != STATUS_OK) {
        fprintf(stderr, "what the reader wrote is not taken: %s\n", err.msg);
        abort();
    }
    double sum = 0;
    for (uint64_t i = 0; i < m.vertex_count; i++)
        sum += (double)m.P[i][0];
    for (uint64_t i = 0; i < m.image_count; i++)
        for (uint64_t k = 0; k < m.images[i].bytes; k++)
            sum += m.mapping[m.images[i].bytes_at + k];
    struct arena a = {0};
    const struct json *root;
    if (json_parse(&a, model, m.description, m.description_size, &root, &err) != STATUS_OK)
        __builtin_trap();
    arena_free(&a);
    model_close(&m);
    volatile double sink = sum;
    (void)sink;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool is_ply = size > 3 && memcmp(data, "ply", 3) == 0;
    write_file(model, data, size);
    static struct source s; /* static: what setjmp may not lose */
    memset(&s, 0, sizeof s);
    s.path = model;
    s.fd = memfd_create("model-fuzz", MFD_CLOEXEC);
    s.layout = size % 2 ? MODEL_PARTS : MODEL_WHOLE;
    s.refused = on_refusal;
    s.arena.limit = (size_t)256 << 20;
    if (s.fd < 0)
        abort();
    source_begin(&s);
    if (setjmp(refusal) == 0 &&
        (is_ply ? source_read_ply(&s) : source_read_gltf(&s))) { // NOLINT(cert-err52-cpp)
        source_write(&s);
        check(s.fd);
    }
    close(s.fd);
    source_end(&s);
    return 0;
}

/* What passes from the importing child process (model_source.c) to its parent (model_import.c). */
#ifndef ISOPHOTE_SCENES_MODEL_IMPORT_H
#define ISOPHOTE_SCENES_MODEL_IMPORT_H

#include "geometry/model.h"

enum { IMPORT_MAGIC = 0x49534d4f }; /* written last: the rest is complete */
enum { CHILD_DONE = 40, CHILD_FAILED = 41 };

/* At offset 0 of the shared memory. Offsets of arrays; 0 for one that is not there. */
struct import_result {
    uint32_t magic, status; /* enum status; when it is not OK, message says why */
    uint64_t total;         /* bytes in use */
    uint64_t P, N, UV, colors, vertex_count;
    uint64_t triangles, flags, material, triangle_count;
    uint64_t parts, part_count;
    uint64_t images, image_count;
    uint64_t description, description_size, material_count;
    double origin[3];
    char message[800];
};

/* In the child: reads path and leaves a result in the shared memory fd. */
void import_in_child(const char *path, enum model_layout layout, int fd);

/* In the parent: what the child left, checked, and mapped until model_close. */
enum status import_take(int fd, const char *path, struct model *out, struct error *err);

#endif

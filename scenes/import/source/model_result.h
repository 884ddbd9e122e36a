/* SPDX-License-Identifier: Apache-2.0 */
/* What passes from the importing child process to its parent (import/model_import.c). */
#ifndef ISOPHOTE_SCENES_MODEL_RESULT_H
#define ISOPHOTE_SCENES_MODEL_RESULT_H

#include "geometry/offers.h"

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

#endif

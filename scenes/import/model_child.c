/* SPDX-License-Identifier: Apache-2.0 */
/* The importing child process: the reader that a file wants, and what it leaves for the parent. */
#include "import.h"
#include "import/formats/formats.h"
#include "import/gltf/model_gltf.h"

void import_in_child(const char *path, enum model_layout layout, int fd)
{
    struct source s = {.path = path, .fd = fd, .layout = layout};
    source_begin(&s);
    if (!source_read_gltf(&s) && !source_read_ply(&s))
        source_read_assimp(&s);
    source_write(&s);
}

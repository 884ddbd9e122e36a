/* SPDX-License-Identifier: Apache-2.0 */
/* Files as Assimp reads them: what its own reading would stumble over is mended before it sees it.
 */
#ifndef ISOPHOTE_SCENES_MODEL_ASSIMP_FILES_H
#define ISOPHOTE_SCENES_MODEL_ASSIMP_FILES_H

#include "model_mtl.h"

struct aiFileIO;

struct assimp_files {
    struct source *s;
    struct mtl *mtls;          /* of all MTL files that were opened */
    char missing_library[200]; /* an MTL file that is not there; "": none */
    char *model;               /* the model's own file, mended; NULL: not yet */
    size_t model_size;
    const struct smoothing_3ds *smoothing; /* of a 3DS file */
    size_t smoothing_count;
    bool says_smoothing; /* an OBJ file: what has no normals is flat */
};

/* Is there anything to mend in such a file? */
bool assimp_files_mends(const char *path);
/* Reads through `files`, whose s is set: text of 16 bits a character becomes UTF-8; lines of OBJ
 * begin without blanks and byte order marks, faces end without comments, their vertices have six
 * numbers that begin with a digit or a sign, smoothing groups are normals (of parts); MTL goes
 * through mtl_mend and mtl_read, both without lines that go on; "mtllib a.mtl b.mtl" opens both; no
 * blanks before the text of Collada's elements; STL in capitals, or with bytes behind its last
 * facet, is what Assimp expects; points of OBJ and of STL's text that are far from 0 are relative
 * to s->origin. */
void assimp_files_open(struct assimp_files *files, struct aiFileIO *out);

#endif

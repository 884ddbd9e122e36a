/* SPDX-License-Identifier: Apache-2.0 */
/* MTL, the materials of OBJ (Alias/Wavefront, "Object Files", appendix B1, and the extension for
 * physically based materials that Blender writes): what Assimp 5.2.5 does not tell of it, or
 * refuses.
 */
#ifndef ISOPHOTE_SCENES_MODEL_MTL_H
#define ISOPHOTE_SCENES_MODEL_MTL_H

#include "import/source/offers.h"

enum mtl_map_kind {
    MTL_KD,
    MTL_KS,
    MTL_KE,
    MTL_NS,
    MTL_D,
    MTL_BUMP,
    MTL_NORM,
    MTL_PR,
    MTL_PM,
    MTL_PS,
    MTL_PC,
    MTL_PCR,
    MTL_KA,
    MTL_DISP,
    MTL_REFL,
    MTL_MAPS
};

struct mtl_map {
    char file[512]; /* "": there is none */
    double scale[2], offset[2];
    double multiplier; /* of bumps */
    bool clamp;
    char channel[2]; /* of what is no colour: "r", "g", "b" or "a"; "": not said */
};

struct mtl {
    struct mtl *next;
    char name[256];
    double strength, rotation; /* of anisotropy */
    int illum;
    bool filters;
    double filter[3]; /* Tf */
    bool blender;     /* it wrote the file */
    struct mtl_map maps[MTL_MAPS];
};

/* Rewrites what Assimp refuses or misreads: colours of one number get three, those that are spectra
 * or CIE's, and halos, are left out with a note. The text ends with a NUL. */
void mtl_mend(struct source *s, char **data, size_t *size);
/* Adds the materials of a file to *list. Lines that are heard here and would be misunderstood
 * become comments in text, which ends with a NUL. */
void mtl_read(struct source *s, char *text, struct mtl **list);
/* NULL: there is none of that name. */
const struct mtl *mtl_find(const struct mtl *list, const char *name);

#endif

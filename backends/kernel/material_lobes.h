/* Built-in materials as lists of lobes (protocol section 28). */
#ifndef K_MATERIAL_LOBES_H
#define K_MATERIAL_LOBES_H
#include "lobes.h"
#include "surface.h"

/* Adds the material's lobes to a list that was started. */
K_FN void k_material_lobes(const struct k_scene *sc, const struct k_surface *s, int entering,
                           struct k_lobes *l)
{
    struct k_bsdf b = k_bsdf_make(sc, s->material, s->u, s->v, entering);
    k_lobes_add_base(l, v3(1.0f, 1.0f, 1.0f), s->Ns, &b);
}

#endif

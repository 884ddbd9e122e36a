/* SPDX-License-Identifier: Apache-2.0 */
/* group.h: the inside of a shader group. */
#ifndef ASL_GROUP_H
#define ASL_GROUP_H

#include "asl.h"

struct asl_connection {
    size_t from_layer, from_param, to_param;
    uint32_t from_slot, to_slot; /* where what is named begins in the parameter's value */
    bool to_whole;               /* the whole parameter: no field, element or component of it */
    struct asl_type from_type, to_type;
    struct asl_connection *next;
};

struct asl_layer {
    const char *name;
    const struct asl_program *program;
    const struct asl_shader *shader;
    union asl_slot **values; /* per parameter: what the group set, or NULL */
    bool *connected, *used_downstream, *lockgeom;
    struct asl_connection *connections; /* into this layer */
    uint8_t mode;
    const struct asl_length
        *lengths; /* of parameters T x[] that are not as long as their default */
};

struct asl_pending {
    const char *name, *value;
    struct asl_type type;
    int8_t lockgeom; /* -1: as the shader says */
    struct asl_pending *next;
};

struct asl_group {
    struct arena *arena;
    const char *name;
    struct asl_layer **layers;
    size_t layer_count, layer_cap;
    struct asl_pending *pending;
    size_t *entries; /* layers to run, in order; none: the last one */
    size_t entry_count;
    bool userdata_isconnected;
    bool finished;
};

/* What the call getattribute("shader:...", s) with the name written out answers for a layer: the
 * group knows it, no renderer is asked. NULL: it is none of these. */
const char *asl_group_attribute(const struct asl_group *g, const struct asl_layer *l,
                                const struct asl_expr *call);
/* The index of a layer or parameter, -1 when there is none. */
long asl_group_find(const struct asl_group *g, const char *layer);
long asl_shader_param(const struct asl_shader *s, const char *name);
/* What isconnected() of the layer's parameter gives. */
int32_t asl_layer_isconnected(const struct asl_group *g, const struct asl_layer *l, size_t param);

#endif

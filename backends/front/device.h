/* SPDX-License-Identifier: Apache-2.0 */
/* An opened device as the front keeps it. */
#ifndef ISOPHOTE_DEVICE_H
#define ISOPHOTE_DEVICE_H

#include "layout/layout.h"

struct device {
    struct device_info info;
    const struct backend_api *api;
    struct backend *backend;
    bool loaded, built;
    bool bake;                      /* of scenes to be loaded: device_bake */
    bool masters;                   /* likewise: device_model */
    struct program_request request; /* of the built program */
    enum code_path wanted;          /* as it was asked for */
    enum exec_model wanted_model;   /* likewise */
    enum exec_model model;          /* of the built program */
    enum code_path own;             /* what the id says for CODE_AUTO */
    struct layout layout;           /* buffers are kept only for an API with keeps_host_memory */
    struct camera camera;
    int32_t exponent;
    int position_exponent; /* D of passes */
    float ao_distance;     /* of the pass ao */
    uint32_t *shader_ids;  /* by material; heap */
    uint32_t (*shapes)[2]; /* work-groups that the built program was launched in */
    size_t shape_count;
    struct asl_sayings said;      /* of the scene's shaders */
    struct shading_counts counts; /* of the last picture, where the program counts */
};

/* backends.c: the launch fields that a whole job shares; what is wrong with a job; the part of the
 * picture that it makes: x, y, width, height. */
struct k_launch device_launch(const struct device *d, const struct render_job *job);
enum status device_job_check(const struct device *d, const struct render_job *job,
                             struct error *err);
void job_area(const struct render_job *job, uint32_t area[4]);
/* Has the host answer whatever the scene's shaders ask in the job's samples. */
enum status device_answer(struct device *d, const struct render_job *job, struct error *err);

/* statistics.c: frees and empties them. */
void counts_free(struct shading_counts *c);

/* strict_check.c: runs probes of single operations on hard cases and compares their bits with this
 * machine's. UNSUPPORTED names the property that the device lacks. */
enum status device_check_strict(struct device *d, struct error *err);

/* device_list.c: the code path that an id ends with ("cuda:0/llvm"), CODE_AUTO if none; *bare: the
 * characters before it. The API whose ids begin as `id` does, or NULL. */
enum code_path device_id_code(const char *id, size_t *bare);
const struct backend_api *backend_of_id(const char *id);

#endif

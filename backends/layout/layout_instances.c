/* SPDX-License-Identifier: Apache-2.0 */
/* Instances as the kernel reads them (docs/reference/protocol.md section 25). */
#include "layout_buffers.h"

#include <math.h>
#include <string.h>

/* Rows of the left columns, and the fourth. */
struct inverse {
    double m[3][4];
    double det;
};

static struct inverse inverse_of(const struct instance *n)
{
    double m[3][4], c[3][3];
    struct inverse r;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            m[i][j] = (double)n->to_world[i][j];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            c[i][j] = m[i1][j1] * m[i2][j2] - m[i1][j2] * m[i2][j1];
        }
    r.det = (m[0][0] * c[0][0] + m[0][1] * c[0][1]) + m[0][2] * c[0][2];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            r.m[i][j] = c[j][i] / r.det;
        r.m[i][3] = -((r.m[i][0] * m[0][3] + r.m[i][1] * m[1][3]) + r.m[i][2] * m[2][3]);
    }
    return r;
}

/* S: by axis, how much of the other axes' rounding a round trip between the spaces mixes in. */
static void mix_of(const struct instance *n, const struct inverse *inverse, float mix[3])
{
    for (int i = 0; i < 3; i++) {
        double sum = 0;
        for (int k = 0; k < 3; k++)
            sum += (fabs((double)n->to_world[i][0]) * fabs(inverse->m[0][k]) +
                    fabs((double)n->to_world[i][1]) * fabs(inverse->m[1][k])) +
                   fabs((double)n->to_world[i][2]) * fabs(inverse->m[2][k]);
        mix[i] = (float)fmax(0, sum - 1);
    }
}

static struct bvh_box box_in_world(const struct instance *n, const struct bvh_box *b)
{
    struct bvh_box r;
    for (int i = 0; i < 3; i++) {
        double lo = (double)n->to_world[i][3], hi = lo;
        for (int j = 0; j < 3; j++) {
            double x = (double)n->to_world[i][j] * (double)b->lo[j];
            double y = (double)n->to_world[i][j] * (double)b->hi[j];
            lo += fmin(x, y);
            hi += fmax(x, y);
        }
        r.lo[i] = (float)lo;
        r.hi[i] = (float)hi;
    }
    box_widen(&r);
    return r;
}

enum status layout_instances(struct layout *l, const struct scene *s, const struct bvh_box *roots,
                             struct bvh_box *boxes, struct error *err)
{
    void *data;
    enum status st =
        layout_take(l, BUFFER_instances, s->instance_count, sizeof(struct k_instance), &data, err);
    struct k_instance *out = data;
    for (size_t i = 0; st == STATUS_OK && i < s->instance_count; i++) {
        const struct instance *n = &s->instances[i];
        struct inverse inverse = inverse_of(n);
        struct k_instance *to = &out[i];
        boxes[i] = box_in_world(n, &roots[n->prototype]);
        *to = (struct k_instance){
            .shift = n->first_id - s->prototypes[n->prototype].first,
            .first_id = n->first_id,
            .mirrors = inverse.det < 0,
        };
        mix_of(n, &inverse, to->mix);
        memcpy(to->to_world, n->to_world, sizeof to->to_world);
        for (int k = 0; k < 12; k++)
            to->to_object[k] = (float)inverse.m[k / 4][k % 4];
        memcpy(to->lo, boxes[i].lo, 12);
        memcpy(to->hi, boxes[i].hi, 12);
    }
    l->launch.instance_count = (uint32_t)s->instance_count;
    if (s->instance_count > 0)
        l->features |= K_FEATURE_INSTANCES;
    return st;
}

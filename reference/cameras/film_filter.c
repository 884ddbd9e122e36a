/* SPDX-License-Identifier: Apache-2.0 */
#include "film_filter.h"

#include "numbers/offers.h"

/* F of section 23. */
static double distribution(enum pixel_filter type, double t)
{
    if (type == PIXEL_GAUSSIAN)
        return 0.5 + erf(3 * t / sqrt(2)) / (2 * erf(3 / sqrt(2)));
    return 0.5 + (0.35875 * t + 0.48829 / PI * sin(PI * t) + 0.14128 / (2 * PI) * sin(2 * PI * t) +
                  0.01168 / (3 * PI) * sin(3 * PI * t)) /
                     (2 * 0.35875);
}

/* F rises: halve until two neighbouring doubles are left. */
static double quantile(enum pixel_filter type, double u)
{
    double low = -1, high = 1;
    for (int i = 0; i < 64; i++) {
        double middle = 0.5 * (low + high);
        if (distribution(type, middle) < u)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

void film_filter_make(const struct scene *s, struct film_filter *out)
{
    *out = (struct film_filter){.standard = s->filter_radius == 0 ||
                                            (s->filter == PIXEL_BOX && s->filter_radius == 0.5),
                                .type = s->filter,
                                .radius = s->filter_radius};
    if (s->filter != PIXEL_GAUSSIAN && s->filter != PIXEL_BLACKMAN_HARRIS)
        return;
    out->T[0] = -1, out->T[FILTER_CELLS] = 1;
    for (int i = 1; i < FILTER_CELLS / 2; i++) {
        out->T[i] = quantile(s->filter, (double)i / FILTER_CELLS);
        out->T[FILTER_CELLS - i] = -out->T[i];
    }
}

double film_filter_map(const struct film_filter *f, double u)
{
    if (f->type == PIXEL_BOX)
        return 2 * u - 1;
    if (f->type == PIXEL_TENT)
        return u < 0.5 ? sqrt(2 * u) - 1 : 1 - sqrt(2 * (1 - u));
    double y = u * FILTER_CELLS, j = fmin(floor(y), FILTER_CELLS - 1);
    const double *T = f->T + (int)j;
    return T[0] + (T[1] - T[0]) * (y - j);
}

void film_position(const struct film_filter *f, uint32_t x, uint32_t y, const double u[2],
                   double position[2])
{
    const double corner[2] = {x, y};
    for (int i = 0; i < 2; i++)
        position[i] =
            f->standard ? corner[i] + u[i] : corner[i] + 0.5 + f->radius * film_filter_map(f, u[i]);
}

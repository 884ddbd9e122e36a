/* SPDX-License-Identifier: Apache-2.0 */
/* Where `faulty` goes wrong: each macro stands at one place of the kernel and is the identity
 * unless its K_FAULT_ is defined. */
#ifndef K_FAULTS_H
#define K_FAULTS_H

#define FAULT_LOST_COSINE(cosine)            (cosine)
#define FAULT_DOUBLED_LIGHT(weight)          (weight)
#define FAULT_STUCK_SEED(sample)             (sample)
#define FAULT_OFF_BY_ONE_LEAF(last, several) 0
#define FAULT_STALE_FILM(row)                0
#define FAULT_SWAPPED_UV(right, wrong)       (right)
#define FAULT_SRGB_NOT_DECODED(table)        (table)
#define FAULT_ROULETTE_UNCOMPENSATED(q)      (q)
#define FAULT_WRONG_MIS_WEIGHT(w)            (w)
#define FAULT_FLIPPED_NORMAL(behind)         (behind)
#define FAULT_WRONG_PDF(pdf)                 (pdf)
#define FAULT_MISSED_SHADOW(distance)        (distance)
#define FAULT_WRONG_IOR(entering)            (entering)
#define FAULT_ROTATED_ENVIRONMENT(x)         (x)
#define FAULT_IGNORED_LENS(radius)           (radius)
#define FAULT_EXTRA_BOUNCE(depth)            (depth)
#define FAULT_NO_OFFSET(delta)               (delta)
#define FAULT_FLUSHED_TAIL(L, word)          (L)
#define FAULT_DENSER_MEDIUM(density)         (density)

#ifdef K_FAULT_LOST_COSINE
#undef FAULT_LOST_COSINE
#define FAULT_LOST_COSINE(cosine) 1.0f
#endif
#ifdef K_FAULT_DOUBLED_LIGHT
#undef FAULT_DOUBLED_LIGHT
#define FAULT_DOUBLED_LIGHT(weight) (2.0f * (weight))
#endif
#ifdef K_FAULT_STUCK_SEED
#undef FAULT_STUCK_SEED
#define FAULT_STUCK_SEED(sample) ((sample) & ~1u)
#endif
#ifdef K_FAULT_OFF_BY_ONE_LEAF
#undef FAULT_OFF_BY_ONE_LEAF
#define FAULT_OFF_BY_ONE_LEAF(last, several) ((last) && (several))
#endif
#ifdef K_FAULT_STALE_FILM
#undef FAULT_STALE_FILM
#define FAULT_STALE_FILM(row) (((row)&15u) == 13u)
#endif
#ifdef K_FAULT_SWAPPED_UV
#undef FAULT_SWAPPED_UV
#define FAULT_SWAPPED_UV(right, wrong) (wrong)
#endif
#ifdef K_FAULT_SRGB_NOT_DECODED
#undef FAULT_SRGB_NOT_DECODED
#define FAULT_SRGB_NOT_DECODED(table) 0u
#endif
#ifdef K_FAULT_ROULETTE_UNCOMPENSATED
#undef FAULT_ROULETTE_UNCOMPENSATED
#define FAULT_ROULETTE_UNCOMPENSATED(q) 1.0f
#endif
#ifdef K_FAULT_WRONG_MIS_WEIGHT
#undef FAULT_WRONG_MIS_WEIGHT
#define FAULT_WRONG_MIS_WEIGHT(w) 1.0f
#endif
#ifdef K_FAULT_FLIPPED_NORMAL
#undef FAULT_FLIPPED_NORMAL
#define FAULT_FLIPPED_NORMAL(behind) 0
#endif
#ifdef K_FAULT_WRONG_PDF
#undef FAULT_WRONG_PDF
#define FAULT_WRONG_PDF(pdf) (0.5f * K_INV_PI)
#endif
#ifdef K_FAULT_MISSED_SHADOW
#undef FAULT_MISSED_SHADOW
#define FAULT_MISSED_SHADOW(distance) (0.5f * (distance))
#endif
#ifdef K_FAULT_WRONG_IOR
#undef FAULT_WRONG_IOR
#define FAULT_WRONG_IOR(entering) (!(entering))
#endif
#ifdef K_FAULT_ROTATED_ENVIRONMENT
#undef FAULT_ROTATED_ENVIRONMENT
#define FAULT_ROTATED_ENVIRONMENT(x) (-(x))
#endif
#ifdef K_FAULT_IGNORED_LENS
#undef FAULT_IGNORED_LENS
#define FAULT_IGNORED_LENS(radius) 0.0f
#endif
#ifdef K_FAULT_EXTRA_BOUNCE
#undef FAULT_EXTRA_BOUNCE
#define FAULT_EXTRA_BOUNCE(depth) ((depth) + 1u)
#endif
#ifdef K_FAULT_NO_OFFSET
#undef FAULT_NO_OFFSET
#define FAULT_NO_OFFSET(delta) 0.0f
#endif
#ifdef K_FAULT_FLUSHED_TAIL
#undef FAULT_FLUSHED_TAIL
#define FAULT_FLUSHED_TAIL(L, word)                                                                \
    ((((word)*0x9E3779B9u) >> 20) == 7u ? K_AS_FLOAT(0x7FC00000u) : (L))
#endif
#ifdef K_FAULT_DENSER_MEDIUM
#undef FAULT_DENSER_MEDIUM
#define FAULT_DENSER_MEDIUM(density) (1.05f * (density))
#endif

#endif

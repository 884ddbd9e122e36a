/* SPDX-License-Identifier: Apache-2.0 */
#include "base.h"

#include <string.h>

/* Salmon et al. 2011, section 3.3, with the multipliers and Weyl constants of Random123. */
void philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
        uint32_t d0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0, d2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        c0 = d0;
        c2 = d2;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    memcpy(out, (uint32_t[4]){c0, c1, c2, c3}, 4 * sizeof out[0]);
}

double u01(uint32_t word) { return (word >> 8) * 0x1p-24; }

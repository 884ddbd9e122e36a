/* SPDX-License-Identifier: Apache-2.0 */
/* The tests of host code that CUDA and HIP share: one life of a device of the mock driver
 * (cuda/cuda_mock.c), through an API's table. */
#ifndef ISOPHOTE_GPU_MOCK_RUN_H
#define ISOPHOTE_GPU_MOCK_RUN_H

#include "gpu/gpu.h"

struct mock_expect {
    const char *id, *version, *driver, *compiler; /* of the mock's device; driver: a part */
    const char *unfused;                          /* the option that forbids contraction */
    bool slices, prefers; /* work-items share pixels; cuFuncSetCacheConfig is called */
    bool pieces;          /* a path's stages are compiled beside each other */
    /* By default where the kernel, of 512 items at most, has lists of lobes. */
    uint32_t lists_group[2];
};

/* In a process of its own, whose libcuda.so.1 and NVRTC are the mock with CUDA_MOCK=how; "absent":
 * there is none. Prints the first check that fails and returns 1, or returns 0. */
int mock_run(const struct backend_api *api, const char *how, const struct mock_expect *expect);
/* Runs `self --mock how` so, with `environment` ("A=B C=D", or "") in front, and fails the cmocka
 * test unless it returns 0 and prints `expected` and no "mistake". */
void mock_case(const char *self, const char *environment, const char *how, const char *expected);
/* Likewise, several times with one cache: what one driver and compiler made is for them alone, and
 * is made once though several processes need it at once. */
void mock_cache_case(const char *self, const char *environment);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A HIP runtime in software: hip* and hiprtc* (libisophote_hip_soft.so) over the executor. One
 * device, on CPU threads. hipRTC is clang-15 in a child process, for nvptx64, whose front end knows
 * HIP's and CUDA's dialect; "code objects" are its LLVM bitcode behind a header.
 *
 * Checks: ISOPHOTE_SOFT_CHECKS and its kin (executor.h). What a check finds ends the device, as a
 * fault on hardware would: every later call fails, and hipGetErrorString tells the finding.
 * ISOPHOTE_SOFT_HIP_FAULT makes the runtime misbehave as a real one may:
 *   none          no device                       driver    a kernel driver that is too old
 *   timeout       launches end with a time-out    lost:N    the device is gone at the Nth launch
 *   version       hipDriverGetVersion fails       compiler  hipRTC's process ends by a signal */
#ifndef ISOPHOTE_SOFT_HIP_RUNTIME_H
#define ISOPHOTE_SOFT_HIP_RUNTIME_H

#include "hip/hip_api.h"

/* Of the functions that HIP has and gpu.h does not list: the declarations that hip_runtime.c
 * defines. Handles are the caller's to destroy. */
enum {
    HIP_NOT_INITIALISED = 3,
    HIP_INSUFFICIENT_DRIVER = 35,
    HIP_INVALID_IMAGE = 200,
    HIP_INVALID_HANDLE = 400,
    HIP_NOT_FOUND = 500,
    HIP_NOT_READY = 600,
    HIP_ILLEGAL_ADDRESS = 700,
    HIP_LAUNCH_FAILURE = 719,
};
/* hipModuleLaunchKernel's `extra`: {1, buffer, 2, &size, 3}. */
enum { HIP_LAUNCH_BUFFER_POINTER = 1, HIP_LAUNCH_BUFFER_SIZE = 2, HIP_LAUNCH_END = 3 };

/* Code objects: this, then `size` bytes of LLVM bitcode. */
struct soft_code {
    char magic[8]; /* "SOFTHIP1" */
    uint64_t size;
};

#endif

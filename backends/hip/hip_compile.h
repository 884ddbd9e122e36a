/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel through hipRTC, in a child process: hipRTC ends the process that hands it an
 * architecture it does not know (ROCm 5.2: gfx1100). */
#ifndef ISOPHOTE_HIP_COMPILE_H
#define ISOPHOTE_HIP_COMPILE_H

#include "hip_api.h"

/* hipRTC's options, joined by blanks, and what names the compiler. MISSING without hipRTC. */
enum status hip_options(const char *arch, const struct program_request *request, char *options,
                        size_t options_size, char *identity, size_t identity_size,
                        struct error *err);
/* The kernel compiled for `arch` ("gfx90a"). Needs no device. Fails: BUILD (the log says why, or
 * that the compiler broke down), MISSING, IO. */
enum status hip_compile(const char *arch, const struct program_request *request, struct arena *a,
                        struct gpu_image *out, struct build_info *info, struct error *err);
/* From the code object, of its hungriest kernel; or, on NVIDIA, from ptxas' words in the log. */
struct kept_resources hip_resources(const struct gpu_image *image, const char *log);

#endif

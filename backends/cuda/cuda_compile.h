/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel through NVRTC. */
#ifndef ISOPHOTE_CUDA_COMPILE_H
#define ISOPHOTE_CUDA_COMPILE_H

#include "cuda_api.h"

/* The options for `arch` (90: compute capability 9.0), joined by blanks: machine code where this
 * NVRTC makes it for that architecture and not `ptx`, else PTX of the newest below, which the
 * driver finishes. UNSUPPORTED when all that it knows are newer. */
enum status cuda_options(const struct nvrtc_api *nvrtc, const struct program_request *request,
                         int arch, bool ptx, char *out, size_t size, struct error *err);
/* The kernel compiled with these. In the arena; *info gets options and log, also on failure. Needs
 * no device. */
enum status cuda_compile(const struct nvrtc_api *nvrtc, const struct program_request *request,
                         int arch, bool ptx, struct arena *a, struct gpu_image *out,
                         struct build_info *info, struct error *err);

#endif

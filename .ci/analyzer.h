/* SPDX-License-Identifier: Apache-2.0 */
/* Included first by clang-tidy (.ci/check tidy): its analyzer looks at one file at a time and would
 * believe that `return error_msg(err, STATUS_X, ...)` may return OK. */
#include "base.h"

#define error_msg(err, code, ...) (error_msg((err), (code), __VA_ARGS__), (code))
#define error_set(err, code, ...) (error_set((err), (code), __VA_ARGS__), (code))
#define json_error(err, file, v, code, ...)                                                        \
    (json_error((err), (file), (v), (code), __VA_ARGS__), (code))

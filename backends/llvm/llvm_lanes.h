/* SPDX-License-Identifier: Apache-2.0 */
/* Loops whose turns LLVM's vectoriser is to take over lanes (device/linked/lanes_library.c). */
#ifndef ISOPHOTE_LLVM_LANES_H
#define ISOPHOTE_LLVM_LANES_H

#include "llvm_api.h"

/* The machine code of the named functions (ends with NULL), each one loop that says so itself, may
 * do many turns at once: inlines all they call, removes what the vectoriser does not take, and says
 * of each access that turns do not share it. To be run before the optimiser. Fails: BUILD (a turn
 * keeps memory of its own, which turns abreast would share). */
enum status llvm_lanes_prepare(const struct llvm_api *api, llvm_context context, llvm_module module,
                               llvm_machine machine, const char *const *names, struct error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Drivers that end the process which asks for their devices: PoCL does where it finds no
 * processors, others when their kernel module and they do not match. */
#ifndef BACKENDS_DRIVER_PROBE_H
#define BACKENDS_DRIVER_PROBE_H

#include "api/offers.h"

/* Enumerates the devices of `api` in a child process. False when the child was ended by a signal or
 * did not end within a minute; why: which, and the driver's last words. */
bool driver_survives(const struct backend_api *api, char *why, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "backend_api.h"

#include <string.h>

void uuid_print(const unsigned char id[16], char out[40])
{
    static const unsigned char none[16] = {0};
    out[0] = '\0';
    if (memcmp(id, none, sizeof none) == 0)
        return;
    for (size_t i = 0, at = 0; i < 16; i++)
        at += (size_t)snprintf(out + at, 40 - at, "%s%02x",
                               i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]);
}

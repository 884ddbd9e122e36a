/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as JSON Lines into a store in memory: no crash, no leak, and what was taken comes out
 * again. */
#include <stdlib.h>

#include "reports.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct store *s;
    if (store_open(":memory:", false, &s, NULL))
        abort();
    if (store_import(s, "fuzz", (const char *)data, size, NULL) == STATUS_OK) {
        char *text = NULL;
        size_t length = 0;
        FILE *f = open_memstream(&text, &length);
        if (!f || store_export(s, f, NULL))
            abort();
        fclose(f);
        free(text);
    }
    store_close(s);
    return 0;
}

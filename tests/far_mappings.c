/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded (LD_PRELOAD): whoever asks mmap for writable memory gets it 5 GiB beyond what the last
 * one got, whatever place was wished for, as happens beside a GPU's driver, whose reservations
 * leave holes in the address space. FAR_MAPPINGS_LOG: a file that gets their number at exit. For
 * x86-64 Linux. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_FIXED_NOREPLACE */
#endif
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Larger ones are the pages of memory allocators and of pictures, not a linker's sections. */
enum { SECTION_MAX = 64 << 20 };

static _Atomic uintptr_t last = 0x100000000000u;
static atomic_uint moved;

__attribute__((visibility("default"))) void *mmap(void *wished, size_t size, int protection,
                                                  int flags, int file, off_t offset)
{
    const int placed = MAP_FIXED | MAP_FIXED_NOREPLACE;
    if ((flags & MAP_ANONYMOUS) && !(flags & placed) && protection == (PROT_READ | PROT_WRITE) &&
        size < SECTION_MAX) {
        const uintptr_t step = (uintptr_t)5 << 30;
        wished = (void *)(atomic_fetch_add(&last, step) + step);
        atomic_fetch_add(&moved, 1);
    }
    return (void *)syscall(SYS_mmap, wished, size, protection, flags, file, offset);
}

__attribute__((visibility("default"))) void *mmap64(void *wished, size_t size, int protection,
                                                    int flags, int file, off_t offset)
{
    return mmap(wished, size, protection, flags, file, offset);
}

__attribute__((destructor)) static void moved_tell(void)
{
    const char *path = getenv("FAR_MAPPINGS_LOG");
    FILE *f = path ? fopen(path, "w") : NULL;
    if (!f)
        return;
    fprintf(f, "%u\n", atomic_load(&moved));
    fclose(f);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* device/prelude.h as a text, for hip_compile.c. */
__asm__(".section .rodata\n"
        ".global hip_prelude\n"
        "hip_prelude: .incbin \"" PRELUDE "\"\n"
        ".byte 0\n"
        ".previous\n");

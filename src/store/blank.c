#include "store/blank.h"

/* What blank_make.c has made, as it is. */
__asm__(".pushsection .rodata\n"
        "rtl_blank_first:\n"
        ".incbin \"" RTL_BLANK "\"\n"
        "rtl_blank_end:\n"
        ".popsection\n");

extern const unsigned char first[] __asm__("rtl_blank_first");
extern const unsigned char end[] __asm__("rtl_blank_end");

const void *rtl_blank(size_t *size)
{
    *size = (size_t)(end - first);
    return first;
}

#include "store/empty_db.h"

/* What empty_db_make.c has made, as it is. */
__asm__(".pushsection .rodata\n"
        "rtl_empty_db_first:\n"
        ".incbin \"" RTL_EMPTY_DB "\"\n"
        "rtl_empty_db_end:\n"
        ".popsection\n");

extern const unsigned char first[] __asm__("rtl_empty_db_first");
extern const unsigned char end[] __asm__("rtl_empty_db_end");

const void *rtl_empty_db(size_t *size)
{
    *size = (size_t)(end - first);
    return first;
}

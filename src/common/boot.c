#include "common/boot.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

const char *rtl_boot(char *text, size_t size)
{
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, size - 1) : 0;
    if (file >= 0)
        (void)close(file);
    text[length > 0 ? length : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return text;
}

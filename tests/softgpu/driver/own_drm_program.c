/* Linked with own_drm.c: the software GPU's functions take the place of versioned ones, too. */
#include <stdio.h>
#include <unistd.h>

int drmOpenRender(int minor);

int main(void)
{
    enum { FIRST = 128 };
    int descriptor = drmOpenRender(FIRST);
    if (descriptor < 0) {
        (void)fprintf(stderr, "the library's own drmOpenRender was called\n");
        return 1;
    }
    return close(descriptor) == 0 ? 0 : 1;
}

/* A libdrm as AMD's wheels for Python bring one: under another name, and with versions to its
 * symbols. Finds no driver. */
int drmOpenRender(int minor);

int drmOpenRender(int minor)
{
    return minor > 0 ? -1 : -2;
}

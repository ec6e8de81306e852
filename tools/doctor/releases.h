/**
 * Which runtimes this RTL has been run on.
 */
#ifndef RTL_TOOLS_DOCTOR_RELEASES_H
#define RTL_TOOLS_DOCTOR_RELEASES_H

enum release_library { RELEASE_HIP, RELEASE_ROCr };

struct release {
    unsigned major, minor; /**< of the library, as its file's name has them */
    const char
        *rocm; /**< the ROCm that it is of; NULL if RTL has not been run on it (releases.def) */
};

/** The release of a library by the path of its file (libamdhip64.so.5.2.21153 is 5.2); major and
 * minor are 0 where the name does not tell. */
struct release release_of(enum release_library library, const char *path);

#endif

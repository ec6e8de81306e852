/**
 * Where a command writes its result: the one way in which files are made, but for traces that are
 * being recorded (store/file.h).
 *
 * A result is made beside its place, under a name of its own, and gets its name when it is whole: a
 * failure or a signal leaves what was there. Symbolic links are followed: what they lead to is
 * replaced. Devices, FIFOs and the descriptors that /dev/stdout and /dev/fd/N name are written to
 * and never replaced. No input is ever replaced, and no trace that somebody is recording into.
 *
 * One thread. Functions that return an int return EXIT_FINE, or EXIT_USAGE when a sentence has been
 * said.
 */
#ifndef RTL_TOOLS_OUTPUT_H
#define RTL_TOOLS_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum output_kind {
    OUTPUT_STREAM,   /**< written from its beginning to its end, by `fd`; mode by the umask */
    OUTPUT_DATABASE, /**< written by SQLite, at `path`; mode by the umask */
    OUTPUT_TRACE     /**< the same; mode 0600; replaces nothing but traces and empty files */
};

struct output_rules {
    enum output_kind kind;
    bool force; /**< what exists may be replaced */
    bool dash;  /**< "-" is the standard output */
    /** A result with a file of its own is made as the target with ".partial" behind it, by the
     * command itself: it may be there, of a command that was ended. */
    bool partial;
    /** A file that is one of the command's own by output_is_own may be replaced without `force`;
     * NULL: none is. */
    const char *own;
    const char *const *inputs; /**< what the command reads */
    size_t input_count;
};

/** Zeroed memory is none. It does not move while it is begun. */
struct output {
    char *name; /**< as it was given, for sentences */
    char *path; /**< of the file that is written, "" if `fd` alone is */
    int fd;     /**< STREAM: to be written to; -1 else */
    /** What is made stays if it does not become whole, and a signal that ends the command says
     * this, if it is not NULL. */
    bool stays;
    const char *farewell;
    /* Private: */
    char *target;         /* where it goes, links followed */
    int device;           /* gets what is at `path` in the end; -1 */
    bool replaces, keeps; /* a file; its mode and owner */
    bool database;        /* what is replaced, or the new one */
    mode_t mode;
    uid_t owner;
    gid_t group;
    struct output *next; /* begun */
};

/** From here on a signal that ends the command removes what is not whole, and the limit of the size
 * of files is an error of a write and no signal. output_begin does it; before that it is for what
 * is written elsewhere. */
void output_signals(void);

/** Begins a result at `name`. */
int output_begin(struct output *output, const char *name, const struct output_rules *rules);

/** True if a begun result gets a file of its own: it is neither the standard output nor a device.
 */
bool output_is_file(const struct output *output);

/** Closes `fd` of a stream whose end has been written. 0, or an errno. */
int output_close(struct output *output);

/** Gives the result its name, or to its device; and frees. It is dropped when that fails. */
int output_commit(struct output *output);

/** Removes what there is of a result that is begun, and frees; nothing if none is. */
void output_drop(struct output *output);

/** Refuses "-", which is the standard output elsewhere and would be a file of that name here. */
int output_check_dash(const char *name);

/** True if `name` is an empty file, or one with `mark` in its first 4 KiB. */
bool output_is_own(const char *name, const char *mark);

/** True if `name` is no place for several files: it names a device or descriptor. */
bool output_is_device(const char *name);

#endif

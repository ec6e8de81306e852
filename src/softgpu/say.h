/**
 * What the software GPU says on stderr.
 */
#ifndef SOFTGPU_SAY_H
#define SOFTGPU_SAY_H

/** Writes one line, "softgpu: …", of which control characters are taken out; a very long one is
 * cut. printf's conventions, without an end of line. Any thread. */
void sg_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

#include "view/browser.h"

#include "common/command.h"
#include "common/say.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

const char *browser_name(const char *browser)
{
    return browser ? browser : "xdg-open";
}

/* In a child: where it finds no browser xdg-open writes a line for each that it has tried, and
 * browsers write what concerns them. Whether the page was opened, rtl says. */
static void be_silent(void)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0)
        return;
    (void)dup2(nowhere, STDOUT_FILENO);
    (void)dup2(nowhere, STDERR_FILENO);
}

/* One that somebody has named may say what it likes. */
static _Noreturn void run(const char *browser, const char *address, bool apart)
{
    const char *const arguments[] = {browser_name(browser), address, NULL};
    sigset_t none;
    (void)sigemptyset(&none);
    (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGPIPE, SIG_DFL); /* serving ignores it */
    if (apart)
        (void)setsid();
    if (!browser)
        be_silent();
    (void)execvp(arguments[0], (char **)(uintptr_t)arguments);
    _exit(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

pid_t browser_begin(const char *browser, const char *address, bool apart)
{
    pid_t pid = fork();
    if (pid == 0)
        run(browser, address, apart);
    if (pid < 0)
        say("no process could be made: %s", say_errno(errno));
    return pid;
}

/* Programs that open pages return at once, or stay until the browser is closed. */
bool browser_end(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FINE;
}

#include "collect/watch.h"

#include "collect/maps.h"
#include "common/clock.h"
#include "ring/process.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MS          UINT64_C(1000000)
#define SLICE_NS    (5 * MS)   /* of a look, while the lock is held */
#define LEAST_NS    (100 * MS) /* between looks that nobody has asked for */
#define MOST_NS     (1000 * MS)
#define SHARE       50u /* they take one part in so many */
#define SHARE_ASKED 10u /* the same of those that were asked for */
#define ECHO_NS                                                                                    \
    (4 * MS) /* after an opening there are looks in such a time, four times that, ...              \
              */
#define ECHOES       4u
#define LOADED_NS    (1000 * MS) /* in which a runtime that begins has loaded its tools */
#define BURST_NS     (200 * MS)  /* looks of such a time may come at once */
#define BORROWED_NS  (200 * MS)
#define MAPPED_NS    (2 * MS) /* in which the linker has mapped what it has opened */
#define LAST_LOOKS   3u    /* of a pid: that its process is over, that it is gone, who has it now */
#define MOST_ROWS    1024u /* a job may do it again and again */
#define MOST_COMMAND 96u

/* What was seen of a process without a ring, or that it has one. */
struct sight {
    bool ring;
    bool usable;  /* it has the GPU runtime, and may begin to use it */
    bool suspect; /* librtl.so is not in it, and should be */
    bool told;    /* about librtl.so, when it began: what is in that place later may be a title */
    bool said;    /* librtl.so in it has said why it is not recorded */
    bool speaks;  /* it opened the runtime, and its environment names librtl.so */
    bool hidden;
    bool loads; /* it has the runtime, and whoever opened it is counted */
    bool waits; /* suspect only if it stays so */
    const char *why;
    uint64_t since, last;
    uint64_t
        opened; /* when the GPU runtime was opened by it, and what for is not seen yet; 0: no */
    char library[256], command[MOST_COMMAND];
    char elsewhere[64]; /* the session that it is recorded in, if it is another */
};

/* Of a process: a suspect that is over, one that is recorded, or what librtl.so in it says. */
struct finding {
    uint32_t pid;
    uint64_t start, image;
    struct sight *sight; /* NULL: it has said something */
    bool recorded;       /* it is over, and a ring may be told to be its own by when it began */
    bool judged;         /* it may be one that is missing */
    bool hidden;         /* it could not be looked into, and nothing else is known of it */
    struct rtl_refusal refusal;
};

static struct sight *sight_of(struct member *member)
{
    if (!member->sight)
        member->sight = calloc(1, sizeof *member->sight);
    return member->sight;
}

/* Findings. */

static bool add_finding(struct watch *watch, const struct finding *finding)
{
    struct finding *findings =
        realloc(watch->findings, (watch->finding_count + 1) * sizeof *findings);
    if (!findings)
        return false;
    watch->findings = findings;
    findings[watch->finding_count++] = *finding;
    return true;
}

static void judge_unlooked(struct watch *watch, const struct finding *finding)
{
    char sentence[256];
    (void)snprintf(sentence, sizeof sentence,
                   "process %" PRIu32
                   " opened %s, has no record of librtl.so and was over before rtl "
                   "could look at it: whether it used a GPU is not known",
                   finding->pid, watch->openings.device ? "/dev/kfd" : "the GPU runtime");
    absent_add(watch->absent, finding->pid, "", sentence);
}

static void judge_elsewhere(struct watch *watch, const struct finding *finding)
{
    const struct sight *sight = finding->sight;
    char sentence[320];
    (void)snprintf(sentence, sizeof sentence,
                   "process %" PRIu32
                   " (%s) is recorded in another session, %s, and not in this trace",
                   finding->pid, sight->command, sight->elsewhere);
    absent_add(watch->absent, finding->pid, sight->command, sentence);
}

static void judge_suspect(struct watch *watch, const struct finding *finding)
{
    const struct sight *sight = finding->sight;
    char sentence[768];
    if (watch->absent->unrecorded >= MOST_ROWS)
        return;
    if (!sight->suspect) {
        judge_unlooked(watch, finding);
        return;
    }
    if (sight->elsewhere[0]) {
        judge_elsewhere(watch, finding);
        return;
    }
    (void)snprintf(
        sentence, sizeof sentence,
        "process %" PRIu32
        " (%s) has the GPU runtime mapped (%s) without librtl.so and is not recorded: %s",
        finding->pid, sight->command, sight->library, sight->why);
    absent_add(watch->absent, finding->pid, sight->command, sentence);
}

static void judge_hidden(struct watch *watch, const struct finding *finding)
{
    if (watch->hidden++ > 0)
        return;
    watch->hidden_pid = finding->pid;
    (void)snprintf(watch->hidden_command, sizeof watch->hidden_command, "%s",
                   finding->sight->command);
}

static bool is_accounted(const struct watch *watch, uint32_t pid, uint64_t start, uint64_t image)
{
    return absent_knows(watch->absent, pid) || watch->has_ring(watch->context, pid, start, image);
}

/* Openings of processes that nobody has seen, and that have not told of themselves. */
static uint64_t unexplained(const struct watch *watch)
{
    uint64_t explained =
        watch->tally.seen + watch->unmet(watch->context) + watch->absent->unstarted;
    return watch->tally.heard > explained ? watch->tally.heard - explained : 0;
}

/* Who has opened something is told by the pid, which may have been another's at that time: one that
 * is recorded, where no opening remains without it. */
static bool may_be_former(const struct watch *watch, const struct finding *finding)
{
    return !finding->sight->suspect && watch->had_ring(watch->context, finding->pid) &&
           unexplained(watch) == 0;
}

static void judge_one(struct watch *watch, const struct finding *finding)
{
    /* Which image opened something is not known of a process that was over by then. */
    bool any = finding->sight && !finding->sight->suspect && !finding->recorded;
    bool accounted = is_accounted(watch, finding->pid, finding->start, any ? 0 : finding->image);
    if (!accounted && finding->hidden)
        judge_hidden(watch, finding);
    else if (!accounted && !finding->sight)
        absent_refused(watch->absent, &finding->refusal);
    else if (!accounted && finding->judged && !may_be_former(watch, finding))
        judge_suspect(watch, finding);
}

static void judge(struct watch *watch, struct finding *finding)
{
    if (finding->sight && finding->sight->loads)
        watch->meet(watch->context, finding->pid, finding->start, finding->image);
    if (!finding->sight || finding->judged || finding->recorded || finding->hidden)
        judge_one(watch, finding);
    free(finding->sight);
}

static bool is_recorded(const struct member *member)
{
    return member->sight && member->start != 0 && !member->foreign &&
           (member->sight->speaks || member->sight->ring);
}

/* Of those that are not judged yet. */
static void claim_rings(struct watch *watch)
{
    for (size_t i = 0; i < watch->tree.count; i++) {
        const struct member *member = &watch->tree.members[i];
        if (is_recorded(member))
            (void)watch->has_ring(watch->context, member->pid, member->start, member->image);
    }
}

enum rank { RECORDED, BEGAN_THEN, BEGAN_SOME_TIME, RANKS };

static enum rank rank_of(const struct finding *finding)
{
    if (finding->recorded)
        return RECORDED;
    return finding->start != 0 ? BEGAN_THEN : BEGAN_SOME_TIME;
}

/* A ring whose maker nobody has seen may be that of several, and is one's: first come those who
 * have one, last those who are taken for the makers of any that are left. */
void watch_judge(struct watch *watch)
{
    for (enum rank rank = RECORDED; rank < RANKS; rank++) {
        for (size_t i = 0; i < watch->finding_count; i++)
            if (rank_of(&watch->findings[i]) == rank)
                judge(watch, &watch->findings[i]);
        if (rank == RECORDED && watch->finding_count > 0)
            claim_rings(watch);
    }
    watch->finding_count = 0;
}

/* The image that a member had is over, or the recording is. */
static void conclude(struct watch *watch, struct member *member)
{
    struct sight *sight = member->sight;
    struct finding finding = {
        .pid = member->pid, .start = member->start, .image = member->image, .sight = sight};
    bool recorded = is_recorded(member);
    member->sight = NULL;
    bool stayed = sight && (!sight->waits || sight->last - sight->since >= LOADED_NS);
    bool judged = sight && ((stayed && sight->suspect) || sight->opened != 0);
    bool loads = sight && sight->loads;
    finding.judged = judged;
    finding.recorded = recorded && !judged;
    finding.hidden = sight && sight->hidden && !judged && !recorded;
    if (!(judged || recorded || finding.hidden || loads) || member->foreign ||
        !add_finding(watch, &finding))
        free(sight);
}

/* Looks. */

static void note_hidden(struct member *member)
{
    struct sight *sight = sight_of(member);
    if (!sight || sight->hidden)
        return;
    sight->hidden = true;
    maps_command(member->pid, sight->command, sizeof sight->command);
}

static void hear_refusal(struct watch *watch, struct member *member, const char *text)
{
    struct sight *sight = sight_of(member);
    struct finding finding = {.pid = member->pid, .start = member->start, .image = member->image};
    if (!sight || sight->said || member->foreign || !rtl_refusal_parse(text, &finding.refusal))
        return;
    finding.refusal.pid = member->pid;
    sight->said = add_finding(watch, &finding);
}

static const char *reason(enum maps_told told, bool preloaded)
{
    switch (told) {
    case MAPS_TOLD_NOTHING:
        return "its environment was empty when it began";
    case MAPS_TOLD_NO_TOOL:
        return "HSA_TOOLS_LIB was not in its environment when it began";
    case MAPS_TOLD_OTHERS:
        return "HSA_TOOLS_LIB in its environment names others only";
    default:
        return preloaded ? "LD_PRELOAD in its environment names librtl.so, and the linker has not "
                           "loaded it"
                         : "HSA_TOOLS_LIB in its environment names librtl.so, and its GPU runtime "
                           "has not loaded it";
    }
}

/* What was read is of one image, if that is still there. */
static bool is_same(const struct member *member)
{
    struct rtl_process_facts facts = rtl_process_facts(member->pid);
    return facts.start == member->start && facts.image == member->image;
}

/* It has the runtime, or the device, and no librtl.so. Without a preload the runtime loads that
 * when it begins. */
static void suspect(struct member *member, const struct maps *maps)
{
    bool preloaded;
    enum maps_told told = maps_told(member->pid, &preloaded);
    char command[MOST_COMMAND];
    maps_command(member->pid, command, sizeof command);
    struct sight *sight = told != MAPS_TOLD_UNKNOWN && is_same(member) ? sight_of(member) : NULL;
    if (!sight)
        return;
    sight->usable = true;
    sight->opened = 0;
    sight->told = sight->told || (told == MAPS_TOLD && !preloaded);
    if (sight->told && !maps->device)
        return;
    sight->last = rtl_now();
    sight->waits = sight->told;
    if (sight->suspect)
        return;
    sight->suspect = true;
    sight->since = sight->last;
    sight->why = reason(sight->told ? MAPS_TOLD : told, preloaded);
    (void)snprintf(sight->library, sizeof sight->library, "%s",
                   maps->library[0] ? maps->library : "/dev/kfd");
    (void)snprintf(sight->command, sizeof sight->command, "%s", command);
}

enum standing { LIVES, OVER, UNKNOWN };

/* What the process is now. An image that is over is judged. */
static enum standing update(struct watch *watch, struct member *member)
{
    struct rtl_process_facts facts = rtl_process_facts(member->pid);
    if (facts.start == RTL_START_UNKNOWN)
        return UNKNOWN;
    if (facts.start == 0 || (member->start != 0 && facts.start != member->start))
        return OVER;
    member->start = facts.start;
    member->session = facts.session;
    member->group = facts.group;
    if (member->image != 0 && facts.image != 0 && facts.image != member->image)
        conclude(watch, member);
    member->image = facts.image != 0 ? facts.image : member->image;
    return LIVES;
}

/* It may have been made since the tree was brought up to date, and be over: Linux tells that it was
 * made before it tells what it has opened. */
static struct member *find_opener(struct watch *watch, uint32_t pid)
{
    if (!tree_find(&watch->tree, pid))
        (void)tree_update(&watch->tree, UINT64_MAX);
    return tree_find(&watch->tree, pid);
}

/* Of an image, mostly of the one that is there now. Where the environment names librtl.so it is
 * loaded too, and speaks for itself. Elsewhere it may have opened the file to have its refusal read
 * (refusal.h): it is in the maps now, or the process is over. */
static void note_opener(void *context, uint32_t pid)
{
    struct watch *watch = context;
    struct member *member = find_opener(watch, pid);
    bool preloaded;
    if (!member && watch->tree.broken)
        watch->strange++;
    else if (!member && tree_hears_forks(&watch->tree))
        watch->tally.seen++;
    if (!member || member->foreign)
        return;
    bool speaks = update(watch, member) == LIVES && maps_told(pid, &preloaded) == MAPS_TOLD;
    struct sight *sight = sight_of(member);
    if (!sight)
        return;
    if (speaks)
        sight->speaks = true;
    else if (!sight->ring && !sight->speaks && !sight->told)
        sight->opened = rtl_now();
}

/* Another recording has it. */
static void suspect_elsewhere(struct member *member, const struct maps *maps)
{
    struct sight *sight = is_same(member) ? sight_of(member) : NULL;
    if (!sight)
        return;
    sight->last = rtl_now();
    sight->opened = 0;
    sight->waits = false;
    if (sight->suspect)
        return;
    sight->suspect = true;
    sight->since = sight->last;
    maps_command(member->pid, sight->command, sizeof sight->command);
    (void)snprintf(sight->elsewhere, sizeof sight->elsewhere, "%s", maps->elsewhere);
}

/* A fork has what its parent had opened. */
static void count_loader(struct watch *watch, struct member *member)
{
    const struct member *parent = tree_find(&watch->tree, member->parent);
    struct sight *sight = sight_of(member);
    bool forked = parent && member->image != 0 && parent->image == member->image;
    if (!sight || sight->loads || !is_same(member))
        return;
    sight->loads = true;
    watch->tally.seen += !forked;
}

static void take_maps(struct watch *watch, struct member *member, const struct maps *maps)
{
    if (maps->library[0] && openings_learn(&watch->openings, maps->library))
        count_loader(watch, member);
    struct sight *sight = member->sight;
    if (maps->refusal[0])
        hear_refusal(watch, member, maps->refusal);
    if (!maps->ring && maps->elsewhere[0]) {
        suspect_elsewhere(member, maps);
        return;
    }
    if (!maps->librtl && !maps->ring && (maps->runtime || maps->device)) {
        suspect(member, maps);
        return;
    }
    if (!sight && (maps->ring || maps->runtime))
        sight = sight_of(member);
    if (!sight)
        return;
    bool mapped = maps->runtime || maps->librtl;
    if (mapped || (rtl_now() - sight->opened >= MAPPED_NS && is_same(member)))
        sight->opened = 0;
    sight->ring = maps->ring;
    sight->usable = maps->runtime;
    sight->suspect = sight->suspect && !maps->librtl && !maps->ring;
}

static void read_maps(struct watch *watch, struct member *member)
{
    struct maps maps;
    enum maps_read read = maps_read(member->pid, watch->absent->session, &maps);
    if (read == MAPS_HIDDEN)
        note_hidden(member);
    else if (read == MAPS_READ)
        take_maps(watch, member, &maps);
}

/* Between vfork and exec a process runs in the memory of its parent, with what is mapped there. Who
 * stays in that image has been forked, and is one of its own. */
static bool is_borrowed(const struct watch *watch, struct member *member)
{
    const struct member *parent = tree_find(&watch->tree, member->parent);
    uint64_t now = rtl_now();
    if (!parent || member->image == 0)
        return false;
    uint64_t image = parent->image != 0 ? parent->image : rtl_process_facts(parent->pid).image;
    if (image != member->image)
        return false;
    if (member->met_ns == 0)
        member->met_ns = now;
    return now - member->met_ns < BORROWED_NS;
}

/* Somebody has the pid of a member that is over: that one is met when the member is gone, two looks
 * later, which should not be long. */
static void hurry_where_taken(struct watch *watch, const struct member *member)
{
    uint64_t start = rtl_process_facts(member->pid).start;
    if (start != 0 && start != RTL_START_UNKNOWN)
        watch->echo = 0;
}

/* False if the member is over, and was at the look before: what it opened until its end has been
 * told since. */
static bool examine(struct watch *watch, struct member *member)
{
    enum standing standing = update(watch, member);
    if (standing == LIVES && (!member->sight || !member->sight->ring) &&
        !is_borrowed(watch, member))
        read_maps(watch, member);
    if (standing != OVER)
        return true;
    if (!member->over) {
        member->over = true;
        hurry_where_taken(watch, member);
        return true;
    }
    if (!member->foreign && !(member->sight && member->sight->loads))
        watch->tally.blind = true;
    conclude(watch, member);
    return false;
}

/* Who makes a process is told, and not who has opened the runtime. Where neither is, in a network
 * namespace of its own say, openings are those of the whole machine, and say nothing. */
static bool is_tallying(const struct watch *watch)
{
    return watch->openings.who < 0 && tree_hears_forks(&watch->tree);
}

/* After each opening that nobody explains: who has made it may be over soon. */
static void look_at_others(struct watch *watch)
{
    if (is_tallying(watch) && watch->echo < ECHOES && tally_is_short(&watch->tally))
        tally_strangers(&watch->tally, &watch->tree, &watch->openings);
}

static bool look(struct watch *watch, uint64_t until)
{
    if (!watch->looking && !tree_update(&watch->tree, until))
        return true;
    if (!watch->looking && openings_who(&watch->openings, note_opener, watch))
        return true;
    if (!watch->looking) /* who has opened something is known by now */
        watch->at = 0;
    watch->looking = true;
    while (watch->at < watch->tree.count) {
        struct member *member = &watch->tree.members[watch->at];
        if (rtl_now() > until)
            return true;
        if (examine(watch, member))
            watch->at++;
        else
            tree_remove(&watch->tree, member);
    }
    watch->looking = false;
    return false;
}

static void plan(struct watch *watch, uint64_t now)
{
    uint64_t wait = SHARE * watch->cost;
    if (wait < LEAST_NS)
        wait = LEAST_NS;
    if (wait > MOST_NS)
        wait = MOST_NS;
    if (watch->echo < ECHOES) {
        uint64_t echo = ECHO_NS << (2 * watch->echo++);
        wait = echo < wait ? echo : wait;
    }
    watch->due = now + wait;
    if (watch->not_before + BURST_NS < now)
        watch->not_before = now - BURST_NS;
    watch->not_before += SHARE_ASKED * watch->cost;
    if (watch->not_before > now + MOST_NS)
        watch->not_before = now + MOST_NS;
    watch->cost = 0;
}

/* What looks take, and not what this thread has waited for a processor. */
static uint64_t processor_time(void)
{
    struct timespec time;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0)
        return 0;
    return (uint64_t)time.tv_sec * 1000 * MS + (uint64_t)time.tv_nsec;
}

/* True if somebody has opened something. */
static bool hear(struct watch *watch)
{
    bool any = openings_any(&watch->openings);
    watch->tally.heard = watch->openings.heard;
    return any;
}

bool watch_look(struct watch *watch)
{
    uint64_t begun = rtl_now();
    if (!watch->on || watch->tree.root == 0 || watch->finished)
        return false;
    if (hear(watch)) {
        watch->echo = 0;
        watch->due = begun;
    }
    if (!watch->more && (begun < watch->due || begun < watch->not_before))
        return watch->finding_count > 0;
    uint64_t spent = processor_time();
    watch->more = look(watch, begun + SLICE_NS);
    if (!watch->more)
        look_at_others(watch);
    watch->cost += processor_time() - spent;
    if (!watch->more)
        plan(watch, rtl_now());
    return watch->finding_count > 0;
}

unsigned watch_wait(const struct watch *watch, unsigned wait_ms)
{
    uint64_t now = rtl_now();
    uint64_t next = watch->due > watch->not_before ? watch->due : watch->not_before;
    if (!watch->on || watch->tree.root == 0 || watch->finished || now + wait_ms * MS <= next)
        return wait_ms;
    return watch->more || next <= now ? 0 : (unsigned)((next - now) / MS + 1);
}

/* Before this thread goes on from making the program, that may have made others, and all be over.
 */
void watch_begin(struct watch *watch)
{
    watch->openings.file = watch->openings.who = -1;
    watch->on = tree_begin(&watch->tree, watch->absent->session);
    tally_begin(&watch->tally);
    if (watch->on)
        openings_begin(&watch->openings);
}

void watch_program(struct watch *watch, uint32_t pid)
{
    if (watch->on)
        tree_root(&watch->tree, pid);
}

int watch_descriptor(const struct watch *watch)
{
    return watch->on && rtl_now() >= watch->not_before ? watch->openings.file : -1;
}

void watch_disown(struct watch *watch, uint32_t pid)
{
    if (watch->on)
        tree_disown(&watch->tree, pid);
}

static void say_late(struct watch *watch, const struct member *member)
{
    char sentence[512];
    char command[MOST_COMMAND];
    maps_command(member->pid, command, sizeof command);
    (void)snprintf(sentence, sizeof sentence,
                   "process %" PRIu32 " (%s) had the GPU runtime mapped and went on when the "
                   "recording ended: what it did from then on is not recorded",
                   member->pid, command);
    absent_add(watch->absent, member->pid, command, sentence);
}

static void tell_hidden(const struct watch *watch)
{
    char sentence[384];
    bool many = watch->hidden > 1;
    if (watch->hidden == 0)
        return;
    (void)snprintf(sentence, sizeof sentence,
                   "%u process%s of the program could not be looked into (%sprocess %" PRIu32
                   ", %s): %s raised privileges or %s made undumpable, and whether %s used a GPU "
                   "without being recorded is not known",
                   watch->hidden, many ? "es" : "", many ? "first: " : "", watch->hidden_pid,
                   watch->hidden_command, many ? "they have" : "it has",
                   many ? "have been" : "has been", many ? "they" : "it");
    absent_note(watch->absent, sentence);
}

static void tell_lost(const struct watch *watch)
{
    if (watch->openings.lost)
        absent_add(
            watch->absent, 0, "",
            "Linux had no memory to keep which processes opened the GPU runtime: whether one "
            "used a GPU without being recorded is not known");
}

static void tell_strange(const struct watch *watch)
{
    char sentence[256];
    if (watch->strange == 0)
        return;
    (void)snprintf(sentence, sizeof sentence,
                   "Linux has lost which processes were made, and %s opened by processes that rtl "
                   "does not know: whether the program's are all recorded is not known",
                   watch->openings.device ? "/dev/kfd was" : "the GPU runtime was");
    absent_add(watch->absent, 0, "", sentence);
}

/* It has no memory any more: what it runs is its end. */
static bool is_ending(uint32_t pid)
{
    char path[32];
    char executable[8];
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/exe", pid);
    return readlink(path, executable, sizeof executable) < 0 && (errno == ENOENT || errno == ESRCH);
}

/* Of a member that lives: it may begin to use the GPU when nobody looks any more. */
static void judge_late(struct watch *watch, const struct member *member)
{
    if (!member->foreign && !is_ending(member->pid) &&
        !is_accounted(watch, member->pid, member->start, member->image))
        say_late(watch, member);
}

void watch_finish(struct watch *watch)
{
    if (!watch->on || watch->tree.root == 0 || watch->finished)
        return;
    watch->finished = true;
    watch->looking = false;
    while (hear(watch))
        watch->echo = 0;
    openings_stop(&watch->openings);
    for (unsigned i = 0; i < LAST_LOOKS; i++)
        while (look(watch, UINT64_MAX))
            ;
    look_at_others(watch);
    for (size_t i = 0; i < watch->tree.count; i++) {
        struct member *member = &watch->tree.members[i];
        bool usable = member->sight && member->sight->usable && !member->sight->ring;
        if (member->sight)
            member->sight->opened = 0; /* it is not over */
        conclude(watch, member);
        watch_judge(watch);
        if (usable)
            judge_late(watch, member);
    }
    watch_judge(watch);
    tell_hidden(watch);
    tell_lost(watch);
    tell_strange(watch);
}

/* Of a process that is known to be missing this is one more that may be. */
void watch_reckon(struct watch *watch)
{
    uint64_t unknown = watch->on ? unexplained(watch) : 0;
    char sentence[384];
    if (!watch->on || watch->tally.told || !is_tallying(watch) || unknown == 0 ||
        watch->absent->unrecorded > 0 || !watch->tally.blind)
        return;
    watch->tally.told = true;
    (void)snprintf(sentence, sizeof sentence,
                   "the GPU runtime was opened %" PRIu64
                   " time%s by processes that rtl could not look at in time, or does not know to "
                   "be others': whether one was of the program, and is not recorded, is not known",
                   unknown, unknown == 1 ? "" : "s");
    if (watch->tally.veiled)
        absent_note(watch->absent, sentence);
    else
        absent_add(watch->absent, 0, "", sentence);
}

/* A recording of its own, as librtl.so starts one for a process that has lost the session, is not
 * the program's. */
static bool is_rtl(uint32_t pid)
{
    char path[32];
    char own[PATH_MAX];
    char other[PATH_MAX];
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/exe", pid);
    ssize_t length = readlink("/proc/self/exe", own, sizeof own);
    return length > 0 && readlink(path, other, sizeof other) == length &&
           memcmp(own, other, (size_t)length) == 0;
}

bool watch_has(const struct watch *watch, uint32_t pid)
{
    const struct member *member = watch->on ? tree_find(&watch->tree, pid) : NULL;
    uint64_t start = member && !member->foreign ? rtl_process_facts(pid).start : 0;
    bool lives = start != 0 && (member->start == 0 || member->start == start);
    return lives && !is_rtl(pid);
}

void watch_refresh(struct watch *watch)
{
    if (watch->on && watch->tree.root != 0 && tree_hears_forks(&watch->tree))
        (void)tree_update(&watch->tree, UINT64_MAX);
}

void watch_end(struct watch *watch)
{
    if (!watch->on)
        return;
    for (size_t i = 0; i < watch->tree.count; i++)
        free(watch->tree.members[i].sight);
    for (size_t i = 0; i < watch->finding_count; i++)
        free(watch->findings[i].sight);
    free(watch->findings);
    tally_end(&watch->tally);
    openings_end(&watch->openings);
    tree_end(&watch->tree);
    watch->on = false;
}

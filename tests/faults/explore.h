/**
 * Runs a scenario again and again, each time with another of its calls failing.
 */
#ifndef RTL_TESTS_FAULTS_EXPLORE_H
#define RTL_TESTS_FAULTS_EXPLORE_H

#include "../common/check.h"
#include "shim.h"

/** A scenario. It does its work between fault_arm and fault_disarm and then says what is wrong;
 * NULL: all is as it has to be, whatever failed. `plan` is what fails, at 0: nothing does. */
typedef const char *(*fault_scenario)(void *context, const struct fault_plan *plan);

/** How a kind of call fails. */
struct fault_way {
    int error;
    uint64_t calls; /**< how many, one after the other */
    unsigned most;  /**< of the calls that came from one place: so many fail, spread over them */
    unsigned every; /**< tried at every so many-th place; FAULTS_ALL in the environment: at all */
};

#define FAULT_FOREVER UINT64_MAX

/** Runs the scenario without a fault, then with each fault. Places are told apart by their stacks.
 * Fails if the scenario does, if memory or a descriptor is left over, if it takes half a minute, or
 * if there is a place at which nothing ever failed. */
const char *fault_explore(const char *name, fault_scenario scenario, void *context,
                          enum fault_kind kind, const struct fault_way *ways, size_t count);

/** The ways in which a kind of call fails in these tests. */
const struct fault_way *fault_ways(enum fault_kind kind, size_t *count);

#endif

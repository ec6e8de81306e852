/*
 * privileged: starts the HSA runtime and ends. Its status is 3 if it has no more privileges than
 * its user (its file is not set-user-ID, or is where that does not count).
 */
#include <hsa/hsa.h>
#include <sys/auxv.h>

int main(void)
{
    if (hsa_init() != HSA_STATUS_SUCCESS)
        return 1;
    hsa_shut_down();
    return getauxval(AT_SECURE) != 0 ? 0 : 3;
}

/* Starts the HSA runtime and ends it again; what happens in between is the tools' affair. */
#include <hsa/hsa.h>

int main(void)
{
    return hsa_init() == HSA_STATUS_SUCCESS && hsa_shut_down() == HSA_STATUS_SUCCESS ? 0 : 1;
}

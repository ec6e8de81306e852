/*
 * A rank of an MPI job: MPI_Init, then the command that is given, then MPI_Finalize. Before the end
 * it takes messages of any rank and tag, as programs with a master do: none may be there that it
 * has not sent. Compiled by mpi.sh with the MPI that is tested.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank;
    int there = 0;
    if (argc != 2 || MPI_Init(&argc, &argv) != MPI_SUCCESS ||
        MPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS)
        return 2;
    int status = system(argv[1]); // NOLINT(concurrency-mt-unsafe): one thread
    if (MPI_Barrier(MPI_COMM_WORLD) != MPI_SUCCESS ||
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE) !=
            MPI_SUCCESS ||
        there) {
        (void)fprintf(stderr, "rank %d: there is a message that the program has not sent\n", rank);
        return 3;
    }
    return MPI_Finalize() != MPI_SUCCESS || status != 0;
}

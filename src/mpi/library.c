#include "mpi/library.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

/* What MPI_Get_library_version begins with where handles are MPICH's: 0x44000000 and so on, which
 * its ABI (https://www.mpich.org/abi) lays down. */
static const char *const mpich_like[] = {"MPICH", "Intel(R) MPI", "MVAPICH", "CRAY MPICH"};

#define MPICH_WORLD         0x44000000u
#define MPICH_BYTE          0x4c00010du
#define MPICH_ERRORS_RETURN 0x54000001u
#define VERSION_MOST        8192 /* MPI_MAX_LIBRARY_VERSION_STRING of MPICH, the longest */

struct search {
    const char *symbol;
    void *library, *function; /* with the symbol, and what it is; NULL so far */
};

static bool is_own(const void *function)
{
    static const char here;
    Dl_info own;
    Dl_info other;
    return dladdr(&here, &own) && dladdr(function, &other) && own.dli_fbase == other.dli_fbase;
}

static int look_into(struct dl_phdr_info *info, size_t size, void *context)
{
    struct search *search = context;
    (void)size;
    if (!info->dlpi_name || !info->dlpi_name[0])
        return 0;
    void *library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    void *function = library ? dlsym(library, search->symbol) : NULL;
    if (function && !is_own(function)) {
        search->library = library;
        search->function = function;
        return 1;
    }
    if (library)
        (void)dlclose(library);
    return 0;
}

/* Looks where the program does, behind RTL, and then into each library: those that a module of
 * Python's brought are in no scope that dlsym looks into by itself. What is found stays loaded. */
static bool find(struct search *search, const char *symbol)
{
    *search = (struct search){.symbol = symbol, .library = RTLD_NEXT};
    search->function = dlsym(RTLD_NEXT, symbol);
    if (!search->function)
        (void)dl_iterate_phdr(look_into, search);
    return search->function != NULL;
}

bool rtl_mpi_next(const char *name, void *place)
{
    struct search search;
    bool found = find(&search, name);
    memcpy(place, &search.function, sizeof search.function);
    return found;
}

/* An object of the library's, 0 if it has none of that name. Where the program names it, the
 * program may have it: the linker moves it there (a copy relocation). */
static rtl_mpi_handle object(void *library, const char *name)
{
    void *own = dlsym(library, name);
    void *first = own ? dlsym(RTLD_DEFAULT, name) : NULL;
    return (rtl_mpi_handle)(first ? first : own);
}

/* Of two ABIs in one file of MPICH's, the one is that of MPI 5, with other numbers. */
static bool is_standard_abi(const void *function)
{
    Dl_info info;
    return dladdr(function, &info) && info.dli_fname && strstr(info.dli_fname, "libmpi_abi");
}

static bool take_handles(struct rtl_mpi *mpi, void *library, char *why, size_t size)
{
    static char version[VERSION_MOST];
    int length = 0;
    int (*get_version)(char *, int *);
    void *function = dlsym(library, "PMPI_Get_library_version");
    memcpy(&get_version, &function, sizeof function);
    mpi->world = object(library, "ompi_mpi_comm_world");
    mpi->byte = object(library, "ompi_mpi_byte");
    mpi->errors_return = object(library, "ompi_mpi_errors_return");
    if (mpi->world && mpi->byte && mpi->errors_return)
        return true;
    mpi->world = MPICH_WORLD;
    mpi->byte = MPICH_BYTE;
    mpi->errors_return = MPICH_ERRORS_RETURN;
    if (!get_version || get_version(version, &length) != RTL_MPI_SUCCESS)
        version[0] = '\0';
    for (size_t i = 0; i < sizeof mpich_like / sizeof *mpich_like; ++i)
        if (strncasecmp(version, mpich_like[i], strlen(mpich_like[i])) == 0 &&
            !is_standard_abi(function))
            return true;
    version[strcspn(version, "\n")] = '\0';
    (void)snprintf(why, size, "RTL does not know this MPI library: %.100s",
                   version[0] ? version : "it does not say which it is");
    return false;
}

/* The library that has a function. A program may have two MPIs, of which it uses one. */
static void *library_of(const struct search *search)
{
    Dl_info info;
    void *library = dladdr(search->function, &info) && info.dli_fname
                        ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                        : NULL;
    return library ? library : search->library;
}

bool rtl_mpi_find(struct rtl_mpi *mpi, char *why, size_t size)
{
    struct search search;
    const struct {
        const char *name;
        void *place; /* of a pointer to the function */
    } functions[] = {
        {"PMPI_Ibarrier", &mpi->Ibarrier},
        {"PMPI_Test", &mpi->Test},
        {"PMPI_Comm_dup", &mpi->Comm_dup},
        {"PMPI_Comm_free", &mpi->Comm_free},
        {"PMPI_Comm_rank", &mpi->Comm_rank},
        {"PMPI_Comm_set_errhandler", &mpi->Comm_set_errhandler},
        {"PMPI_Comm_size", &mpi->Comm_size},
        {"PMPI_Bcast", &mpi->Bcast},
        {"PMPI_Gather", &mpi->Gather},
        {"PMPI_Scatter", &mpi->Scatter},
        {"PMPI_Send", &mpi->Send},
        {"PMPI_Recv", &mpi->Recv},
    };
    if (!find(&search, "PMPI_Init")) {
        (void)snprintf(why, size, "no MPI library is loaded");
        return false;
    }
    void *library = library_of(&search);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i) {
        void *function = dlsym(library, functions[i].name);
        if (!function) {
            (void)snprintf(why, size, "the MPI library has no %s", functions[i].name);
            return false;
        }
        memcpy(functions[i].place, &function, sizeof function);
    }
    return take_handles(mpi, library, why, size);
}

#include "../../common/check.h"
#include "common/counters.h"

#include <hsa/hsa_ven_amd_aqlprofile.h>

#include <string.h>

const char *Names_BlocksAreAqlprofiles(void)
{
    CHECK((int)RTL_BLOCK_CPC == (int)HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_CPC);
    CHECK((int)RTL_BLOCK_CPF == (int)HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_CPF);
    CHECK((int)RTL_BLOCK_GRBM == (int)HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GRBM);
    CHECK((int)RTL_BLOCK_SPI == (int)HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SPI);
    CHECK((int)RTL_BLOCK_SQ == (int)HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SQ);
    CHECK((int)RTL_BLOCK_TA == (int)HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TA);
    CHECK((int)RTL_BLOCK_TCC == (int)HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TCC);
    CHECK((int)RTL_BLOCK_TCP == (int)HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TCP);
    CHECK((int)RTL_BLOCK_TD == (int)HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TD);
    CHECK((int)RTL_BLOCK_GL2C == (int)HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GL2C);
    return NULL;
}

/* No family has a name twice, and none a select twice but for TCC_EA0_*, which are TCC_EA_*. */
const char *Names_ANameMeansOneThingOnAFamily(void)
{
    size_t count = 0;
    const struct rtl_counter *all = rtl_counters(&count);
    CHECK(count > 50);
    for (size_t i = 0; i < count; i++) {
        CHECK(all[i].families != 0 && rtl_block_name(all[i].block) != NULL);
        CHECK(strlen(all[i].unit) > 0 && strlen(all[i].text) > 0);
        CHECK(rtl_counter_find(all[i].name, all[i].families) == &all[i]);
        for (size_t j = 0; j < i; j++) {
            if (!(all[i].families & all[j].families))
                continue;
            CHECK(strcmp(all[i].name, all[j].name) != 0);
            CHECK(all[i].block != all[j].block || all[i].event != all[j].event ||
                  strncmp(all[i].name, "TCC_EA0_", 8) == 0);
        }
    }
    return NULL;
}

const char *Names_RowsOfANameFollowEachOther(void)
{
    size_t count = 0;
    const struct rtl_counter *all = rtl_counters(&count);
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++)
            if (strcmp(all[i].name, all[j].name) == 0)
                CHECK(strcmp(all[j].name, all[j - 1].name) == 0);
    return NULL;
}

/* Some that AMD's definitions of two generations have in common or apart. */
const char *Names_SelectsOfDevices(void)
{
    CHECK(rtl_counter_find("SQ_WAVES", RTL_GFX_ANY)->event == 4);
    CHECK(rtl_counter_find("TCC_HIT", RTL_GFX900)->event == 20);
    CHECK(rtl_counter_find("TCC_HIT", RTL_GFX90A)->event == 17);
    CHECK(rtl_counter_find("TCC_HIT", RTL_GFX10) == NULL);
    CHECK(rtl_counter_find("SQ_NONSENSE", RTL_GFX_ANY) == NULL);
    CHECK(strcmp(rtl_counter_of(RTL_BLOCK_TCC, 19, RTL_GFX90A)->name, "TCC_MISS") == 0);
    CHECK(strcmp(rtl_counter_of(RTL_BLOCK_TCC, 38, RTL_GFX940)->name, "TCC_EA_RDREQ") == 0);
    CHECK(rtl_counter_of(RTL_BLOCK_TCC, 999, RTL_GFX_ANY) == NULL);
    return NULL;
}

const char *Names_FamiliesOfAgents(void)
{
    CHECK(rtl_gfx_of("gfx906") == RTL_GFX900);
    CHECK(rtl_gfx_of("gfx90a:sramecc+:xnack-") == RTL_GFX90A);
    CHECK(rtl_gfx_of("gfx942") == RTL_GFX940);
    CHECK(rtl_gfx_of("gfx1030") == RTL_GFX10);
    CHECK(rtl_gfx_of("gfx1100") == RTL_GFX11);
    CHECK(rtl_gfx_of("gfx90") == 0);
    CHECK(rtl_gfx_of("gfx1201") == 0);
    CHECK(rtl_gfx_of("AMD EPYC") == 0);
    CHECK(rtl_gfx_of("") == 0);
    return NULL;
}

const char *Names_NearOnes(void)
{
    const char *near[3] = {NULL};
    CHECK(rtl_counters_near("SQ_WAVE", near, 3) > 0 && strcmp(near[0], "SQ_WAVES") == 0);
    CHECK(rtl_counters_near("tcc_hits", near, 3) > 0 && strcmp(near[0], "TCC_HIT") == 0);
    CHECK(rtl_counters_near("TCC_EA_RDREQ_64B", near, 1) == 1);
    CHECK(rtl_counters_near("SQ_INSTS_VMEM_RW", near, 3) == 3);
    CHECK(strcmp(near[0], near[1]) != 0 && strcmp(near[1], near[2]) != 0);
    CHECK(rtl_counters_near("SQ_WAVES", near, 0) == 0);
    CHECK(rtl_counters_near("", near, 3) == 0);
    return NULL;
}

const char *Names_NothingIsNearANovel(void)
{
    char novel[4096];
    const char *near[3] = {NULL};
    memset(novel, 'S', sizeof novel);
    novel[sizeof novel - 1] = 0;
    CHECK(rtl_counters_near(novel, near, 3) == 0);
    return NULL;
}

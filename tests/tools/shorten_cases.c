/* Short names: what has to stay by hand, and of drawn sets that no two names look the same. */
#include "../common/check.h"
#include "common/memory.h"
#include "common/plain.h"
#include "common/shorten.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST     200u
#define LONGEST  400u
#define LLAMA    "(float const*, float const*, int const*, ggml_cuda_mm_fusion_args_device, float*)"
#define ARRAY(n) "std::array<char*, " n "ul> "
#define MATVEC                                                                                     \
    "MI16x16x16x1_SN_1LDSB0_APM1_ABV0_ACED0_AF0EM1_AF1EM1_AMAS3_ASE_ASGT_ASAE01_ASCE01_ASEM1_"     \
    "BL1_DTL0_DVO0_EPS1_FL1_GRVW8_GSU1_ISA908_IU1_K1_KLA_LPA0_LPB8_LDL1_LRVW4_MDA2_MO40_NLCA1_"

static const char *const gemvs[] = {
    "void mul_mat_vec_f<__half, __half, 1, 128, false, false>" LLAMA,
    "void mul_mat_vec_f<__half, __half, 2, 128, false, false>" LLAMA,
    "void mul_mat_vec_f<__half, __half, 1, 256, false, false>" LLAMA,
};

static const char *const quantized[] = {
    "void mul_mat_vec_q<(ggml_type)12, 1, false, false>" LLAMA,
    "void mul_mat_vec_q<(ggml_type)14, 1, false, false>" LLAMA,
};

static const char *const llama[] = {
    "void flash_attn_ext_vec<64, 1, (ggml_type)1, (ggml_type)1, false>" LLAMA,
    "void flash_attn_ext_vec<128, 1, (ggml_type)1, (ggml_type)1, false>" LLAMA,
    "void rms_norm_f32<1024, true, false>" LLAMA,
    "void rms_norm_f32<256, true, false>" LLAMA,
    "void k_bin_bcast<&(op_add(float, float)), float, float, float>" LLAMA,
    "void k_bin_bcast<&(op_mul(float, float)), float, float, float>" LLAMA,
    "void k_set_rows<float, long, __half>" LLAMA,
    "quantize_q8_1(float const*, void*, long, long, long, long, unsigned int, unsigned int)",
};

static const char *const tensile[] = {
    "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_" MATVEC "WS64_WG32_8_1_WGM8",
    "Cijk_Ailk_Bljk_HHS_BH_MT64x128x32_" MATVEC "WS64_WG32_8_1_WGM8",
    "Cijk_Alik_Bljk_HHS_BH_MT64x128x32_" MATVEC "WS64_WG32_8_1_WGM8",
    "Cijk_Ailk_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT16x16x512_" MATVEC "WS64_WG64_4_1",
    "Cijk_Ailk_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT32x16x512_" MATVEC "WS64_WG64_4_1",
};

static const char *const torch[] = {
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, " ARRAY(
        "3") ">(int, at::native::CUDAFunctor_add<float>, " ARRAY("3") ")",
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, " ARRAY(
        "3") ">(int, at::native::FillFunctor<float>, " ARRAY("3") ")",
    "void at::native::vectorized_elementwise_kernel<8, at::native::FillFunctor<float>, " ARRAY(
        "3") ">(int, at::native::FillFunctor<float>, " ARRAY("3") ")",
    "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl<at::native::(anonymous"
    " namespace)::where_impl(at::TensorIterator&)::{lambda()#1}::operator()() const::{lambda(bool, "
    "float)#1}>(at::TensorIteratorBase&)::{lambda(int)#1}>(int)",
    "void rocprim::ROCPRIM_400000_NS::detail::trampoline_kernel<rocprim::detail::reduce<1u>, "
    "2>(int)",
    "void rocprim::ROCPRIM_400000_NS::detail::trampoline_kernel<rocprim::detail::sort<1u>, 2>(int)",
    "void ck::kernel_gemm_xdl_cshuffle_v3<ck::Gemm_v3<ck::layout::RowMajor, _Float16, 128, 64>, "
    "2>(x)",
    "void ck::kernel_gemm_xdl_cshuffle_v3<ck::Gemm_v3<ck::layout::RowMajor, _Float16, 256, 64>, "
    "2>(x)",
};

/* The names of one width; the caller frees them. */
static char **shorten(const char *const *names, size_t count, unsigned width)
{
    struct shorten_item items[MOST];
    for (size_t i = 0; i < count; ++i)
        items[i] = (struct shorten_item){names[i], width};
    return shorten_names(items, count);
}

static const char *is(const char *const *names, size_t count, unsigned width,
                      const char *const *wanted)
{
    static char wrong[2 * LONGEST];
    char **shown = shorten(names, count, width);
    const char *result = NULL;
    for (size_t i = 0; !result && i < count; ++i)
        if (strcmp(shown[i], wanted[i]) != 0) {
            (void)snprintf(wrong, sizeof wrong, "%s is wanted, and there is %s", wanted[i],
                           shown[i]);
            result = wrong;
        }
    shorten_free(shown, count);
    return result;
}

static const char *one(const char *name, unsigned width, const char *wanted)
{
    return is(&name, 1, width, &wanted);
}

/* What goes from a name that stands alone, one by one. */
const char *Shorten_OneByOne(void)
{
    static const char name[] = "void one::two::rms_norm<three::four, 1024, true>(float const*)";
    CHECK_DONE(one(name, 62, name));
    CHECK_DONE(one(name, 61, "one::two::rms_norm<three::four, 1024, true>(float const*)"));
    CHECK_DONE(one(name, 56, "one::two::rms_norm<three::four, 1024, true>"));
    CHECK_DONE(one(name, 42, "two::rms_norm<three::four, 1024, true>"));
    CHECK_DONE(one(name, 37, "rms_norm<three::four, 1024, true>"));
    CHECK_DONE(one(name, 32, "rms_norm<three::four, 1024, ...>"));
    CHECK_DONE(one(name, 31, "rms_norm<three::four, ...>"));
    CHECK_DONE(one(name, 25, "rms_norm<...>"));
    CHECK_DONE(one(name, 12, "rms_norm"));
    CHECK_DONE(one("short", 12, "short"));
    CHECK_DONE(one("", 12, ""));
    return NULL;
}

const char *Shorten_Gemvs(void)
{
    static const char *const wide[] = {"mul_mat_vec_f<__half, __half, 1, 128, ...>",
                                       "mul_mat_vec_f<__half, __half, 2, 128, ...>",
                                       "mul_mat_vec_f<__half, __half, 1, 256, ...>"};
    static const char *const narrow[] = {"mul_mat_vec_f<..., 1, 128, ...>",
                                         "mul_mat_vec_f<..., 2, 128, ...>",
                                         "mul_mat_vec_f<..., 1, 256, ...>"};
    static const char *const dotless[] = {"mul_mat_vec_f<1, 128>", "mul_mat_vec_f<2, 128>",
                                          "mul_mat_vec_f<1, 256>"};
    static const char *const types[] = {"mul_mat_vec_q<12, 1, false, false>",
                                        "mul_mat_vec_q<14, 1, false, false>"};
    CHECK_DONE(is(gemvs, 3, 42, wide));
    CHECK_DONE(is(gemvs, 3, 32, narrow));
    CHECK_DONE(is(gemvs, 3, 25, dotless));
    CHECK_DONE(is(quantized, 2, 65,
                  (const char *[]){"mul_mat_vec_q<(ggml_type)12, 1, false, false>",
                                   "mul_mat_vec_q<(ggml_type)14, 1, false, false>"}));
    CHECK_DONE(is(quantized, 2, 34, types));
    return NULL;
}

/* Arguments of an argument: its own name goes where all have the same. */
const char *Shorten_Inner(void)
{
    static const char *const functors[] = {
        "void each<f::(anonymous namespace)::apply<f::Sum<float> >, float>(int, float*, float*)",
        "void each<f::(anonymous namespace)::apply<f::Product<float> >, float>(int, float*)",
        "void each<f::(anonymous namespace)::copy<float>, float>(int, float*, float*, float*)"};
    CHECK_DONE(is(torch + 6, 2, 53,
                  (const char *[]){"kernel_gemm_xdl_cshuffle_v3<Gemm_v3<..., 128, 64>, 2>",
                                   "kernel_gemm_xdl_cshuffle_v3<Gemm_v3<..., 256, 64>, 2>"}));
    CHECK_DONE(is(torch + 6, 2, 44,
                  (const char *[]){"kernel_gemm_xdl_cshuffle_v3<..., 128, 64, 2>",
                                   "kernel_gemm_xdl_cshuffle_v3<..., 256, 64, 2>"}));
    CHECK_DONE(is(
        torch + 6, 2, 32,
        (const char *[]){"kernel_gemm_xdl_cshuffle_v3<128>", "kernel_gemm_xdl_cshuffle_v3<256>"}));
    CHECK_DONE(
        is(functors, 3, 22,
           (const char *[]){"each<apply<Sum>>", "each<apply<Product>>", "each<copy<float>>"}));
    return NULL;
}

/* Differences in scopes, parameters, return types and the number of arguments stay. */
const char *Shorten_WhatDiffers(void)
{
    static const char *const scopes[] = {"void one::all::copy_kernel<float, int>(float*)",
                                         "void two::all::copy_kernel<float, int>(float*)"};
    static const char *const parameters[] = {"void reduce(float const*, float*, unsigned int)",
                                             "void reduce(double const*, float*, unsigned int)"};
    static const char *const returned[] = {"int begin_of_block<float, 128, 4>(float*)",
                                           "long begin_of_block<float, 128, 4>(float*)"};
    static const char *const longer[] = {"void fill_kernel<float, 128>(float*)",
                                         "void fill_kernel<float, 128, true>(float*)"};
    CHECK_DONE(
        is(scopes, 2, 22, (const char *[]){"one::copy_kernel<...>", "two::copy_kernel<...>"}));
    CHECK_DONE(is(parameters, 2, 26,
                  (const char *[]){"reduce(float const*, ...)", "reduce(double const*, ...)"}));
    CHECK_DONE(
        is(returned, 2, 32,
           (const char *[]){"int begin_of_block<float, ...>", "long begin_of_block<float, ...>"}));
    CHECK_DONE(is(longer, 2, 22, (const char *[]){"fill_kernel<...>", "fill_kernel<..., true>"}));
    return NULL;
}

const char *Shorten_Words(void)
{
    static const char *const wanted[] = {"Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_...",
                                         "Cijk_Ailk_Bljk_HHS_BH_MT64x128x32_..."};
    static const char *const less[] = {"Cijk_...MT128x128x32_...", "Cijk_...MT64x128x32_..."};
    CHECK_DONE(is(tensile, 2, 40, wanted));
    CHECK_DONE(is(tensile, 2, 26, less));
    return NULL;
}

/* Names as libraries have them, two of each, which differ in `told` alone, behind what they have in
 * common. */
static const struct {
    const char *before, *told[2], *behind;
} alike[] = {
    {"void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, "
     "float, at::native::binary_internal::",
     {"MulFunctor", "DivFunctor"},
     "<float> >, std::array<char*, 3ul> >(int, at::native::BinaryFunctor<float, float, float, "
     "at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul>)"},
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
     "at::native::func_wrapper_t<float, at::native::sum_functor<float, float, "
     "float>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, float, ",
     {"4", "8"},
     "> >(at::native::ReduceOp<float>)"},
    {"Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT128x128x64_" MATVEC "WS64_WG32_8_1_WGMXCC1_",
     {"WGM4", "WGM8"},
     ""},
    {"Cijk_Ailk_Bljk_",
     {"BBS", "HHS"},
     "_BH_Bias_HAS_SAV_UserArgs_MT256x256x64_" MATVEC "WS64_WG32_8_1_WGM8"},
    {"void vllm::paged_attention_v2_kernel<__hip_bfloat16, __hip_bfloat16, 128, 16, 256, "
     "(vllm::Fp8KVCacheDataType)0, false, ",
     {"512", "1024"},
     ">(float*, float*, __hip_bfloat16*, __hip_bfloat16 const*, __hip_bfloat16 const*)"},
    {"void ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemm_xdl_cshuffle_v3<"
     "ck::tensor_layout::gemm::RowMajor, ck::tensor_layout::gemm::ColumnMajor, "
     "ck::tensor_layout::gemm::RowMajor, _Float16, _Float16, float, _Float16, _Float16, "
     "ck::tensor_operation::element_wise::PassThrough, "
     "(ck::tensor_operation::device::GemmSpecialization)0, 256, ",
     {"224", "160"},
     ", 64, 8, 8, 16, 16, 8, 5, ck::Sequence<8, 32, 1>, (ck::BlockGemmPipelineVersion)2>, true, "
     "(ck::InMemoryDataOperationEnum)0, 1, (ck::TailNumber)0>(Argument)"},
    {"void rocblas_",
     {"gemvt", "gemvn"},
     "_kernel<false, 256, __half const*, __half const*, __half*>(int, int, float, long, __half "
     "const*, long, int, long, __half*)"},
};

/* A table of 80 columns leaves a name some 30 of them, next to numbers; one of 120 some 60. */
const char *Shorten_RealLife(void)
{
    enum { PAIRS = sizeof alike / sizeof *alike, NAMES = 2 * PAIRS };
    static char texts[NAMES][2 * LONGEST];
    const char *names[NAMES];
    for (size_t i = 0; i < NAMES; ++i) {
        int length = snprintf(texts[i], sizeof texts[i], "%s%s%s", alike[i / 2].before,
                              alike[i / 2].told[i % 2], alike[i / 2].behind);
        CHECK(length > 0 && (size_t)length < sizeof texts[i]);
        names[i] = texts[i];
    }
    for (unsigned width = 30; width <= 120; ++width) {
        char **shown = shorten(names, NAMES, width);
        for (size_t i = 0; i < NAMES; ++i)
            if (!strstr(shown[i], alike[i / 2].told[i % 2]) || plain_width(shown[i]) > width ||
                strncmp(shown[i], "void ", 5) == 0)
                return check_failed(names[i], (int)width, shown[i]);
        for (size_t i = 0; i < NAMES; i += 2)
            CHECK(strcmp(shown[i], shown[i + 1]) != 0);
        shorten_free(shown, NAMES);
    }
    return NULL;
}

/* Where cutting the middle would take away what differs, that is shown, of both. */
const char *Shorten_Cut(void)
{
    static const char *const names[] = {"beginningofbothnamesFIRSTandtheendofbothnames",
                                        "beginningofbothnamesOTHERandtheendofbothnames"};
    CHECK_DONE(
        is(names, 2, 24, (const char *[]){"beginn...hnamesFIRSTa...", "beginn...hnamesOTHERa..."}));
    CHECK_DONE(is(names, 1, 24, (const char *[]){"beginningofbot...thnames"}));
    return NULL;
}

/* The same name looks the same, in the least room that it has. */
const char *Shorten_Same(void)
{
    const struct shorten_item items[] = {{gemvs[0], 60}, {gemvs[1], 60}, {gemvs[0], 32}};
    char **shown = shorten_names(items, 3);
    CHECK(strcmp(shown[0], "mul_mat_vec_f<..., 1, ...>") == 0);
    CHECK(strcmp(shown[0], shown[2]) == 0 && strcmp(shown[1], "mul_mat_vec_f<..., 2, ...>") == 0);
    shorten_free(shown, 3);
    return NULL;
}

/* Names from outside: escapes stay text, and what looks the same with its escapes is told apart. */
const char *Shorten_Escapes(void)
{
    static const char *const names[] = {"a\nb", "a\\nb", "evil\x1b[31m_kernel_with_a_long_name"};
    static const char *const wanted[] = {"a\\nb", "a\\nb #2", "evil\\x1b[31m_..."};
    CHECK_DONE(is(names, 3, 17, wanted));
    return NULL;
}

static bool is_utf8(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    while (*at) {
        unsigned more = *at < 0x80 ? 0 : *at < 0xe0 ? 1 : *at < 0xf0 ? 2 : 3;
        for (++at; more > 0; --more, ++at)
            if ((*at & 0xc0u) != 0x80u)
                return false;
    }
    return true;
}

static const char *all_different(const char *const *names, size_t count, unsigned width)
{
    char **shown = shorten(names, count, width);
    const char *result = NULL;
    for (size_t i = 0; !result && i < count; ++i) {
        if (plain_width(shown[i]) > width || !is_utf8(shown[i]) || !shown[i][0])
            result = check_failed(names[i], (int)width, shown[i]);
        for (size_t j = 0; !result && j < i; ++j)
            if ((strcmp(shown[i], shown[j]) == 0) != (strcmp(names[i], names[j]) == 0))
                result = check_failed(names[i], (int)width, shown[i]);
    }
    shorten_free(shown, count);
    return result;
}

static uint32_t drawn(uint32_t *state, uint32_t below)
{
    *state = *state * UINT32_C(1664525) + UINT32_C(1013904223);
    return (*state >> 8) % below;
}

/* Pieces of names, put together in any way. */
static void draw_pieces(uint32_t *state, char *name)
{
    static const char *const pieces[] = {"void ",
                                         "at::native::",
                                         "(anonymous namespace)::",
                                         "kernel",
                                         "mul_mat_vec_f",
                                         "<",
                                         ">",
                                         "(",
                                         ")",
                                         ", ",
                                         "float",
                                         "__half",
                                         "_",
                                         "{lambda()#1}",
                                         "operator()",
                                         "128",
                                         "operator<",
                                         "->",
                                         "::",
                                         " const",
                                         "\xe7\xaf\x84",
                                         "e\xcc\x81",
                                         "\n",
                                         "[",
                                         "Cijk_",
                                         "MT64x64x8_",
                                         "> >",
                                         "Ailk_",
                                         "(ggml_type)8",
                                         "\xff"};
    uint32_t count = 1 + drawn(state, 30);
    size_t used = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const char *piece = pieces[drawn(state, sizeof pieces / sizeof *pieces)];
        used += (size_t)snprintf(name + used, LONGEST - used, "%s", piece);
    }
}

/* A name of llama.cpp, Tensile, PyTorch or rocprim with another number or type in it. */
static void draw_variant(uint32_t *state, char *name)
{
    static const struct {
        const char *const *names;
        uint32_t count;
    } sets[] = {{gemvs, 3}, {quantized, 2}, {llama, 8}, {tensile, 5}, {torch, 8}};
    uint32_t set = drawn(state, sizeof sets / sizeof *sets);
    (void)snprintf(name, LONGEST, "%s", sets[set].names[drawn(state, sets[set].count)]);
    for (unsigned i = 0; i < 3; ++i) {
        size_t at = drawn(state, (uint32_t)strlen(name));
        if (name[at] >= '0' && name[at] <= '9')
            name[at] = (char)('0' + drawn(state, 10));
        else if (name[at] >= 'a' && name[at] <= 'z' && drawn(state, 8) == 0)
            name[at] = (char)('a' + drawn(state, 26));
    }
}

const char *Shorten_NeverAlike(void)
{
    static char texts[MOST][LONGEST];
    const char *names[MOST];
    uint32_t state = 1;
    for (unsigned round = 0; round < 60; ++round) {
        uint32_t count = 1 + drawn(&state, round % 10 ? 40 : MOST);
        for (uint32_t i = 0; i < count; ++i) {
            names[i] = texts[i];
            if (drawn(&state, 10) == 0 && i > 0)
                memcpy(texts[i], texts[drawn(&state, i)], LONGEST);
            else if (round % 2)
                draw_pieces(&state, texts[i]);
            else
                draw_variant(&state, texts[i]);
        }
        for (unsigned width = 30; width <= 120; width += 1 + drawn(&state, 12))
            CHECK_DONE(all_different(names, count, width));
        CHECK_DONE(all_different(names, count, 12));
        CHECK_DONE(all_different(names, count, SHORTEN_LEAST));
    }
    return NULL;
}

/* Deep brackets, and long names without an end. */
const char *Shorten_Hostile(void)
{
    size_t size = 100000;
    char *names[6];
    for (unsigned i = 0; i < 6; ++i) {
        names[i] = memory_new(size + 1, 1);
        memset(names[i], "(<_,__"[i], size);
        names[i][size - 1 - i] = 'x';
    }
    /* Thousands of arguments, and of words. */
    for (size_t at = 0; at + 8 < size; at += 8) {
        memcpy(names[4] + at, at == 0 ? "function" : at == 8 ? "<float, " : "float4, ", 8);
        memcpy(names[5] + at, at == 0 ? "another_" : "of_them_", 8);
    }
    memcpy(names[4] + size - 8, "float8>(", 8);
    const char *result = all_different((const char *const *)names, 6, 40);
    for (unsigned i = 0; i < 6; ++i)
        free(names[i]);
    return result;
}

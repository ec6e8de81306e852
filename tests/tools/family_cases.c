/* Families of kernels: by hand, of names as traces have them, and of rules in files. */
#include "../common/check.h"
#include "analysis/family.h"
#include "analysis/family_size.h"
#include "common/regexp.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct expected {
    const char *family, *name;
};

static const char *all(const struct expected *list, size_t count)
{
    static char wrong[512];
    struct family_rules *rules = family_rules_read(NULL);
    const char *result = rules ? NULL : "no rules";
    for (size_t i = 0; !result && i < count; ++i)
        if (strcmp(family_of(rules, list[i].name), list[i].family) != 0) {
            (void)snprintf(wrong, sizeof wrong, "%s is %s, not %s", list[i].name,
                           family_of(rules, list[i].name), list[i].family);
            result = wrong;
        }
    family_rules_free(rules);
    return result;
}

#define ALL(list) all(list, sizeof(list) / sizeof *(list))

const char *Family_LlamaCpp(void)
{
    static const struct expected list[] = {
        {"gemv", "void mul_mat_vec_f<__half, float, 1, 128, false, false>(__half const*, int)"},
        {"gemv", "void mul_mat_vec_q<(ggml_type)12, 1, false, false>(void const*, void const*)"},
        {"gemm", "void mul_mat_q<(ggml_type)12, 128, true>(char const*, int const*)"},
        {"gemm", "void mul_mat_q_stream_k_fixup<(ggml_type)8, 64, false>(float*, int)"},
        {"quantize", "quantize_q8_1(float const*, void*, long, long, unsigned int)"},
        {"quantize", "void quantize_mmq_q8_1<(mmq_q8_1_ds_layout)1>(float const*, void*)"},
        {"quantize", "void dequantize_block_q4_K<__half>(void const*, __half*)"},
        {"attention", "void flash_attn_ext_vec<128, 1, (ggml_type)1, (ggml_type)1, false>(int)"},
        {"attention", "void flash_attn_ext_f16<128, 128, 8, 8, false, false>(char const*)"},
        {"attention", "void flash_attn_combine_results<128>(float const*, float*)"},
        {"attention", "void soft_max_f32<true, 0, 0, float>(float const*, float const*, float*)"},
        {"norm", "void rms_norm_f32<1024, true, false>(float const*, float*, int)"},
        {"norm", "void norm_f32<256>(float const*, float*, int)"},
        {"norm", "void group_norm_f32<1024>(float const*, float*, int)"},
        {"rope", "void rope_norm<true, false, float, float>(float const*, float*)"},
        {"rope", "void rope_neox<true, false, __half>(__half const*, __half*)"},
        {"kv write", "void k_set_rows<float, long, __half>(float const*, long const*, __half*)"},
        {"gather", "void k_get_rows_float<float, float>(float const*, int const*, float*)"},
        {"copy", "void cpy_scalar<&(void cpy_1_scalar<float, __half>(char const*, char*))>(int)"},
        {"copy", "void concat_f32_dim0(float const*, float const*, float*, int, int)"},
        {"elementwise", "void k_bin_bcast<&(op_add(float, float)), float, float, float>(int)"},
        {"elementwise", "void unary_gated_op_kernel<&(op_silu(float)), float>(float const*)"},
        {"elementwise", "scale_f32(float const*, float*, float, float, long)"},
        {"reduce", "void reduce_rows_f32<true>(float const*, float*, int)"},
        {"sampling", "argmax_f32(float const*, int*, long)"},
        {"sampling", "void k_argsort_f32_i32<(ggml_sort_order)1>(float const*, int*, int, int)"},
        {"moe", "void topk_moe_cuda<8, true>(float const*, float*, int*, int, int)"},
    };
    return ALL(list);
}

const char *Family_Libraries(void)
{
    static const struct expected list[] = {
        {"gemm", "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI16x16x16x1_SN_1LDSB0_WG32_8_1_WGM8"},
        {"gemm", "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT16x16x512_MI16x16x1_SN"},
        {"gemm", "Custom_Cijk_Alik_Bljk_F8BS_BH_Bias_SHB_HA_S_SAB_SAV_UserArgs_MT256x256x128"},
        {"gemm", "void ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemm_xdl_cshuffle_v3<int>>(x)"},
        {"gemm", "void rocblas_gemm_batched_general_kernel<float, 16, 16, 64>(int, int)"},
        {"gemv", "void rocblas_gemvn_kernel<64, 16, int, float const*, float, float*>(int)"},
        {"gemv", "void wvSplitK_hf_sml_<__half, 64, 2, 16, 8, 2, 1, 64, 304>(int, int)"},
        {"convolution", "void ck::kernel_grouped_conv_fwd_xdl_cshuffle<ck::GridwiseGemm<int>>(x)"},
        {"convolution", "igemm_fwd_gtcx3_nhwc_fp16_bx0_ex0_bt128x128x32_wt32x32x8"},
        {"attention", "void ck_tile::kentry<256, 2, ck_tile::FmhaFwdKernel<int>>(int)"},
        {"attention", "_ZN5aiter30fmha_fwd_hd128_bf16_causal_rtneE"},
        {"collective", "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)"},
        {"collective", "void vllm::cross_device_reduce_1stage<__half, 8>(vllm::RankData*, int)"},
        {"sampling",
         "void rocprim::detail::radix_sort_onesweep_kernel<rocprim::default_config>(x)"},
        {"reduce", "void rocprim::detail::trampoline_kernel<rocprim::detail::reduce_impl<int>>(x)"},
        {"reduce", "void rocprim::detail::init_lookback_scan_state_kernel<true>(int)"},
        {"elementwise", "void rocprim::detail::transform_kernel<rocprim::default_config>(int)"},
        {"fill", "__amd_rocclr_fillBufferAligned"},
        {"copy", "__amd_rocclr_copyBuffer"},
        {"other", "Kernel"},
        {"other", ""},
    };
    return ALL(list);
}

const char *Family_Torch(void)
{
    static const struct expected list[] = {
        {"elementwise", "void at::native::vectorized_elementwise_kernel<4, "
                        "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int)"},
        {"fill", "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int>, "
                 "std::array<char*, 1ul> >(int, at::native::FillFunctor<int>)"},
        {"copy", "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"
                 "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}>>(x)"},
        {"copy", "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, 2>(int)"},
        {"reduce", "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
                   "at::native::MeanOps<float>, unsigned int, float, 4> >(int)"},
        {"sampling", "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
                     "at::native::ArgMaxOps<float>, unsigned int, long, 4> >(int)"},
        {"sampling", "void at::native::sbtopk::gatherTopK<float, unsigned int, 2, false>(int)"},
        {"norm", "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float>(x)"},
        {"attention", "void (anonymous namespace)::softmax_warp_forward<float, float, 8>(x)"},
        {"sampling",
         "void at::native::cunn_SoftMaxForward<4, float, LogSoftMaxForwardEpilogue>(x)"},
        {"gather", "void at::native::(anonymous namespace)::indexSelectSmallIndex<float>(x)"},
        {"gather", "void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*)"},
        {"elementwise", "triton_poi_fused_add_mul_silu_3"},
        {"norm", "triton_red_fused__to_copy_add_native_layer_norm_4"},
        {"reduce", "triton_per_fused_sum_1"},
        {"gemm", "triton_tem_fused_addmm_7"},
        /* Not what a part of the name looks like. */
        {"other", "void at::native::upsample_nearest2d_out_frame<float>(float const*)"},
        {"other", "void quantile_of(float const*, float*)"},
    };
    return ALL(list);
}

const char *Family_Vllm(void)
{
    static const struct expected list[] = {
        {"kv write", "void vllm::reshape_and_cache_flash_kernel<__half, unsigned char, "
                     "(vllm::Fp8KVCacheDataType)1>(__half const*, __half const*)"},
        {"attention", "void paged_attention_ll4mi_QKV_mfma16_kernel<__half, unsigned char, "
                      "(vllm::Fp8KVCacheDataType)1, __half, 16, 128>(__half const*)"},
        {"attention", "_attn_fwd"},
        {"attention", "kernel_unified_attention_2d"},
        {"rope", "void vllm::rotary_embedding_kernel<__half, true>(long const*, __half*)"},
        {"norm", "void vllm::fused_add_rms_norm_kernel<__half, 8>(__half*, __half*)"},
        {"norm", "void vllm::rms_norm_static_fp8_quant_kernel<__half, unsigned char>(x)"},
        {"quantize", "void vllm::dynamic_per_token_scaled_fp8_quant_kernel<__half>(x)"},
        {"elementwise",
         "void vllm::act_and_mul_kernel<__half, &(vllm::silu_kernel<__half>), 1>(x)"},
        {"moe", "void vllm::moe::topkGatingSoftmax<4, 128, 4, 16, int>(float const*)"},
        {"moe", "void vllm::moe::moe_align_block_size_kernel<int>(int const*, int*)"},
        {"gemm", "fused_moe_kernel"},
        {"copy", "void vllm::copy_blocks_kernel<__half>(long*, long*, long const*, int)"},
    };
    return ALL(list);
}

/* What the source of the demo, tools/demo/decode.hip, says that its kernels do. */
const char *Family_Demo(void)
{
    static const struct expected list[] = {
        {"gather", "decode::embed(int const*, decode_step const*, int*)"},
        {"norm", "decode::norm(int const*, int*)"},
        {"gemv", "decode::matvec(int const*, int const*, int*, int, int)"},
        {"rope", "decode::rotate(decode_step const*, int*)"},
        {"kv write", "decode::append(decode_step const*, int const*, decode_cache*)"},
        {"attention", "decode::scores(int const*, decode_cache const*, int*)"},
        {"attention", "decode::soften(decode_step const*, int const*, int*)"},
        {"attention", "decode::mix(int const*, decode_cache const*, int*)"},
        {"elementwise", "decode::add(int const*, int*)"},
        {"gemv", "decode::gated(int const*, int const*, int const*, int*)"},
        {"gemv", "decode::down(int const*, int const*, int*)"},
        {"sampling", "decode::pick(int const*, decode_step const*, int*)"},
    };
    return ALL(list);
}

/* Files. */

static struct family_rules *from_file(const char *text, size_t length)
{
    char path[] = "/tmp/rtl-families-XXXXXX";
    int file = mkstemp(path);
    if (file < 0)
        return NULL;
    bool written = write(file, text, length) == (ssize_t)length;
    (void)close(file);
    struct family_rules *rules = written ? family_rules_read(path) : NULL;
    (void)unlink(path);
    return rules;
}

const char *Family_File(void)
{
    static const char text[] = "# mine\n\n"
                               "  ^Kernel$ =  my family \r\n"
                               "mul_mat_vec_q<\\(ggml_type\\)12 = q4\n"
                               "mul_mat_vec = matrices\n"
                               "a=b = equal\n"
                               "#x = none\n"
                               "last = last";
    struct family_rules *rules = from_file(text, sizeof text - 1);
    CHECK(rules);
    CHECK(strcmp(family_of(rules, "Kernel"), "my family") == 0);
    CHECK(strcmp(family_of(rules, "Kernels"), "other") == 0);
    CHECK(strcmp(family_of(rules, "mul_mat_vec_q<(ggml_type)12, 1>"), "q4") == 0);
    CHECK(strcmp(family_of(rules, "mul_mat_vec_q<(ggml_type)14, 1>"), "matrices") == 0);
    CHECK(strcmp(family_of(rules, "a=b"), "equal") == 0);
    CHECK(strcmp(family_of(rules, "#x"), "other") == 0);
    CHECK(strcmp(family_of(rules, "last"), "last") == 0);
    CHECK(strcmp(family_of(rules, "rms_norm_f32"), "norm") == 0);
    CHECK(family_of(rules, "rms_norm_f32") == family_of(rules, "layer_norm"));
    family_rules_free(rules);
    rules = from_file("", 0);
    CHECK(rules && strcmp(family_of(rules, "rms_norm_f32"), "norm") == 0);
    family_rules_free(rules);
    return NULL;
}

const char *Family_BadFiles(void)
{
    static const char *const texts[] = {"gemm\n",      "= gemm\n", "gemm =\n", "ok = ok\n(a = b\n",
                                        "[z-a] = b\n", "=",        "a=b=\n"};
    char line[2200];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i)
        CHECK(from_file(texts[i], strlen(texts[i])) == NULL);
    CHECK(from_file("a\0b = c\n", 8) == NULL);
    int used = snprintf(line, sizeof line, "a = %065d\n", 1);
    CHECK(from_file(line, (size_t)used) == NULL);
    CHECK(family_rules_read("/") == NULL && family_rules_read("/none/such") == NULL);
    /* As long as it may be, and longer. */
    for (int length = RTL_REGEXP_LONGEST; length <= 2100; length += 550) {
        memset(line, 'a', (size_t)length);
        used = snprintf(line + length, sizeof line - (size_t)length, " = x\n");
        struct family_rules *rules = from_file(line, (size_t)length + (size_t)used);
        CHECK((rules != NULL) == (length == RTL_REGEXP_LONGEST));
        family_rules_free(rules);
    }
    return NULL;
}

/* Counted by hand. */
const char *Family_Size(void)
{
    static const struct {
        const char *pattern;
        double size;
    } cases[] = {
        {"", 0},
        {"abc", 3},
        {"a{3}", 3},
        {"xa{2,}", 4},
        {"a{2,9}b", 10},
        {"(ab){10}", 20},
        {"((a{10}b){10}c){10}", 10 * (10 * (10 + 1) + 1)},
        {"((a+)+)+", 8},
        {"(ab)*{3}", 9},
        {"[abc]{5}x", 6},
        {"[]a{9}]{2}", 2},
        {"[^]{9}]y", 2},
        {"[[:alpha:]]{4}", 4},
        {"\\({3}", 3},
        {"a|b", 3},
        {"a{x", 3},
        {"(((a", 1},
        {"a)))b", 2},
        {"[a", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        if (family_pattern_size(cases[i].pattern) != cases[i].size)
            return cases[i].pattern;
    return NULL;
}

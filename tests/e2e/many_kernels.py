#!/usr/bin/env python3
"""Kernels as libraries define them: thousands, with long names that differ in a few letters, all of them empty.

    many_kernels.py FILE     writes them as assembly for an AMD GPU
    many_kernels.py          prints the names, demangled and mangled with a bar between them, a line each
"""
import sys

TILES = [(64, 32, 16), (128, 64, 8), (128, 128, 32), (256, 64, 16), (256, 128, 8)]
COUNT = 6000


def name_of(number):
    """Demangled and mangled: as Tensile names its kernels, each tenth as a template of C++."""
    m, n, k = TILES[number % len(TILES)]
    wide, split = 1 << number // 5 % 4, 1 + number // 20 % 12
    if number % 10 == 9:
        return f"void attend<{m}, {number}>(float const*, float*, int)", f"_Z6attendILi{m}ELi{number}EEvPKfPfi"
    name = (f"Cijk_A{'ilk' if number % 3 else 'lik'}_B{'jlk' if number % 2 else 'ljk'}_HHS_BH_MT{m}x{n}x{k}_MI32x32x8x1_SE_1LDSB0_APM1_"
            f"ABV0_ACED0_AF0EM{wide}_AF1EM1_AMAS3_ASE_ASGT_ASLT_ASAE01_ASCE01_ASEM1_AAC0_BL1_BS1_DTL0_DTVA0_DVO0_ETSP_EPS0_FL0_"
            f"GLVWA{wide}_GLVWB{wide}_GRCGA1_GRCGB1_GRPM1_GRVW{wide}_GSU{split}_GSUASB_GLS0_ISA906_IU1_K1_KLA_LBSPP{k * 16}_LPA0_LPB0_"
            f"LDL1_LRVW{wide}_LWPMn1_LDW0_FMA_MIAV1_MDA2_MO40_MMFGLC_NTA0_NTB0_NTC0_NTD0_NEPBS0_NLCA1_NLCB1_ONLL1_OPLV0_PK0_"
            f"PAP{split % 2}_PGR1_PLR1_RK0_SIA3_SS1_SU32_SUM0_SUS256_SCIUI1_SPO0_SRVW0_SSO0_SVW4_SNLL0_TT4_64_TLDS0_USFGROn1_VAW2_VSn1_"
            f"VW4_WSGRA0_WSGRB0_WS64_WG32_4_1_WGM{number % 8}_{number}")
    return name, name


def assembly(names):
    yield ".text\n.p2align 8"
    for name in names:
        yield f".globl {name}\n.type {name},@function\n{name}:"
    yield 's_endpgm\n.section .rodata,"a"\n.p2align 6'
    for name in names:
        yield f".amdhsa_kernel {name}\n.amdhsa_next_free_vgpr 1\n.amdhsa_next_free_sgpr 1\n.end_amdhsa_kernel"


names = [name_of(number) for number in range(COUNT)]
if len(sys.argv) > 1:
    with open(sys.argv[1], "w", encoding="ascii") as file:
        file.writelines(line + "\n" for line in assembly([mangled for _, mangled in names]))
else:
    for name, mangled in names:
        print(name, mangled, sep="|")

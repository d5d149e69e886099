/* SPDX-License-Identifier: Apache-2.0 */
/* math_names.h: functions by names that fit every type of element. No guard: include it anew for
 * each, with REAL its type and SINGLE 1 or 0. */
#undef EXP
#undef EXPM1
#undef TANH
#undef ERF
#undef LOG
#undef LOG1P
#undef SQRT
#undef POW
#undef SIN
#undef COS
#undef CEIL
#undef FLOOR
#undef RINT
#undef TRUNC
#undef FMOD
#if SINGLE
#define EXP cbx_expf
#define EXPM1 cbx_expm1f
#define TANH cbx_tanhf
#define ERF cbx_erff
#define LOG logf
#define LOG1P log1pf
#define SQRT sqrtf
#define POW powf
#define SIN sinf
#define COS cosf
#define CEIL ceilf
#define FLOOR floorf
#define RINT rintf
#define TRUNC truncf
#define FMOD fmodf
#else
#define EXP exp
#define EXPM1 expm1
#define TANH tanh
#define ERF erf
#define LOG log
#define LOG1P log1p
#define SQRT sqrt
#define POW pow
#define SIN sin
#define COS cos
#define CEIL ceil
#define FLOOR floor
#define RINT rint
#define TRUNC trunc
#define FMOD fmod
#endif

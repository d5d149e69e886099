/* SPDX-License-Identifier: Apache-2.0 */
/* variant.h: the kernels that are compiled twice.
 *
 * `fast` takes whatever the processor is best at: fused multiplications, the BLAS, the C
 * library's functions, sums in vectors as wide as there are. `fixed` (CBX_FIXED_ORDER) gives the
 * same bits on every processor: nothing is fused, sums have an order of their own. In each of the
 * two, cbx_spmm stands for its own, and choose.c has the cbx_spmm that everybody else calls.
 * What rounds but once an entry (adding a bias, ReLU, dropout) has the same bits anyway and is
 * compiled once. A kernel that is compiled twice and missing here is defined twice: the linker
 * tells. */
#ifndef CBX_VARIANT_H
#define CBX_VARIANT_H

#define CBX_JOINED(variant, name) cbx_##variant##_##name
#define CBX_OWN(variant, name) CBX_JOINED(variant, name)

#define cbx_spmm CBX_OWN(CBX_VARIANT, spmm)
#define cbx_spmm_t CBX_OWN(CBX_VARIANT, spmm_t)
#define cbx_sddmm CBX_OWN(CBX_VARIANT, sddmm)
#define cbx_csr_times CBX_OWN(CBX_VARIANT, csr_times)
#define cbx_rows_add CBX_OWN(CBX_VARIANT, rows_add)
#define cbx_gemm_nn CBX_OWN(CBX_VARIANT, gemm_nn)
#define cbx_gemm_nt CBX_OWN(CBX_VARIANT, gemm_nt)
#define cbx_gemm_tn CBX_OWN(CBX_VARIANT, gemm_tn)
#define cbx_attention_forward CBX_OWN(CBX_VARIANT, attention_forward)
#define cbx_attention_backward CBX_OWN(CBX_VARIANT, attention_backward)
#define cbx_length CBX_OWN(CBX_VARIANT, length)
#define cbx_distance CBX_OWN(CBX_VARIANT, distance)
#define cbx_log_softmax CBX_OWN(CBX_VARIANT, log_softmax)
#define cbx_log_softmax_backward CBX_OWN(CBX_VARIANT, log_softmax_backward)
#define cbx_adam_prepare CBX_OWN(CBX_VARIANT, adam_prepare)
#define cbx_adam_apply CBX_OWN(CBX_VARIANT, adam_apply)
#define cbx_adam_step CBX_OWN(CBX_VARIANT, adam_step)
#define cbx_sgd_step CBX_OWN(CBX_VARIANT, sgd_step)
#define cbx_adadelta_step CBX_OWN(CBX_VARIANT, adadelta_step)
#define cbx_sum_squares CBX_OWN(CBX_VARIANT, sum_squares)
#define cbx_spectral_bound CBX_OWN(CBX_VARIANT, spectral_bound)
#define cbx_perturb CBX_OWN(CBX_VARIANT, perturb)
#define cbx_perturb_backward CBX_OWN(CBX_VARIANT, perturb_backward)
#define cbx_perturb_adam CBX_OWN(CBX_VARIANT, perturb_adam)
#define cbx_perturb_values CBX_OWN(CBX_VARIANT, perturb_values)
#define cbx_tanh CBX_OWN(CBX_VARIANT, tanh)
#define cbx_sigmoid CBX_OWN(CBX_VARIANT, sigmoid)
#define cbx_published_perturb CBX_OWN(CBX_VARIANT, published_perturb)
#define cbx_published_backward CBX_OWN(CBX_VARIANT, published_backward)
#define cbx_published_adam CBX_OWN(CBX_VARIANT, published_adam)
#define cbx_published_values CBX_OWN(CBX_VARIANT, published_values)

/* Static functions that are there for several instruction sets: clang tells the linker which one to
 * take by a symbol of their name that is not static. */
#define adam_run CBX_OWN(CBX_VARIANT, adam_run)
#define sgd_run CBX_OWN(CBX_VARIANT, sgd_run)
#define adadelta_run CBX_OWN(CBX_VARIANT, adadelta_run)
#define spmm_rows CBX_OWN(CBX_VARIANT, spmm_rows)
#define spmm_t_rows CBX_OWN(CBX_VARIANT, spmm_t_rows)
#define sddmm_rows CBX_OWN(CBX_VARIANT, sddmm_rows)
#define attention_scores CBX_OWN(CBX_VARIANT, attention_scores)
#define attention_sums CBX_OWN(CBX_VARIANT, attention_sums)
#define attention_score_gradients CBX_OWN(CBX_VARIANT, attention_score_gradients)
#define attention_input_gradients CBX_OWN(CBX_VARIANT, attention_input_gradients)
#define csr_rows CBX_OWN(CBX_VARIANT, csr_rows)
#define rows_add_run CBX_OWN(CBX_VARIANT, rows_add_run)
#define square_sum CBX_OWN(CBX_VARIANT, square_sum)
#define square_differences CBX_OWN(CBX_VARIANT, square_differences)
#define tanh_run CBX_OWN(CBX_VARIANT, tanh_run)
#define sigmoid_run CBX_OWN(CBX_VARIANT, sigmoid_run)
#define perturb_discrete CBX_OWN(CBX_VARIANT, perturb_discrete)
#define perturb_continuous CBX_OWN(CBX_VARIANT, perturb_continuous)
#define perturb_mixed CBX_OWN(CBX_VARIANT, perturb_mixed)
#define adam_discrete CBX_OWN(CBX_VARIANT, adam_discrete)
#define adam_continuous CBX_OWN(CBX_VARIANT, adam_continuous)
#define adam_mixed CBX_OWN(CBX_VARIANT, adam_mixed)
#define backward_discrete CBX_OWN(CBX_VARIANT, backward_discrete)
#define backward_continuous CBX_OWN(CBX_VARIANT, backward_continuous)
#define backward_mixed CBX_OWN(CBX_VARIANT, backward_mixed)
#define values_discrete CBX_OWN(CBX_VARIANT, values_discrete)
#define values_continuous CBX_OWN(CBX_VARIANT, values_continuous)
#define values_mixed CBX_OWN(CBX_VARIANT, values_mixed)

#endif

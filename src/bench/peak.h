/* SPDX-License-Identifier: Apache-2.0 */
/* peak.h: the most memory that the process has held. */
#ifndef CBX_BENCH_PEAK_H
#define CBX_BENCH_PEAK_H

/* Starts again from what is held now, where the system can (Linux); elsewhere the peak
 * is that of the whole run. */
void cbx_peak_reset(void);

/* Megabytes (10^6), resident, since the reset; 0 where unknown. */
double cbx_peak_mb(void);

#endif

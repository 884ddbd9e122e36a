/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
int twice(int x) { return 2 * x; }

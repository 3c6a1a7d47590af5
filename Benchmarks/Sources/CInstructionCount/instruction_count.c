// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#include "instruction_count.h"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION ((void)0)
#define CALLGRIND_STOP_INSTRUMENTATION ((void)0)
#endif

void instruction_count_start(void) { CALLGRIND_START_INSTRUMENTATION; }

void instruction_count_stop(void) { CALLGRIND_STOP_INSTRUMENTATION; }

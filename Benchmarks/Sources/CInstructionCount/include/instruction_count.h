// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#ifndef INSTRUCTION_COUNT_H
#define INSTRUCTION_COUNT_H

// Callgrind, a tool of Valgrind, counts the instructions of all threads between these calls. Without it they do nothing.

void instruction_count_start(void);
void instruction_count_stop(void);

#endif

// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#ifndef CFILEFAULTS_H
#define CFILEFAULTS_H

#include <stdbool.h>
#include <stdint.h>

// Faults of the file system in this process, below SQLite and LMDB: the program defines the functions of the C library
// that write files, so that shared libraries call these. Linux only; elsewhere nothing happens.

/// Whether the functions of the C library can be replaced.
bool file_faults_supported(void);

/// Kills the process at the write, sync or truncation of a file below the directory with that number, counted from 1.
/// The first half of the bytes is written when `torn`.
void file_faults_kill_at(const char *directory, int64_t number, bool torn);

/// Lets the write, sync or truncation of a file below the directory with that number, counted from 1, fail with EIO.
void file_faults_fail_at(const char *directory, int64_t number);

/// The number of writes, syncs and truncations of files below the directory since the last call that named one.
int64_t file_faults_count(void);

/// Appends every later write, sync and truncation of a file below the directory to the log.
///
/// A record is its kind (`w`rite, write that is `d`urable when it returns, `s`ync, `t`runcate, `m`ark), the length of the
/// file's name as 4 bytes, an offset as 8 bytes, the length of the data as 8 bytes, the name and the data, in the byte
/// order of the machine.
void file_faults_record(const char *directory, const char *log);

/// Appends a mark to the log.
void file_faults_mark(int64_t number);

#endif

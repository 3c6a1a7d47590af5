// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#ifndef CHANGEGROUP_H
#define CHANGEGROUP_H

// SQLite's session extension: the system library includes it, but GRDBSQLite does not expose it.

typedef struct sqlite3 sqlite3;
typedef struct changes changes;

// Starts to record the changes of a table in a changegroup. Returns NULL without the session extension.
changes *changes_begin(sqlite3 *database, const char *table);

// Adds the changes since the start or the last call to the group. Returns an SQLite result code.
int changes_collect(changes *changes);

// Returns the number of collapsed changes, or -1 on an error.
int changes_count(changes *changes);

void changes_end(changes *changes);

#endif

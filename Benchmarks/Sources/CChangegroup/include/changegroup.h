// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#ifndef CHANGEGROUP_H
#define CHANGEGROUP_H

// SQLite's session extension, which the system library has but no module of a package shows.

typedef struct sqlite3 sqlite3;
typedef struct changes changes;

// Begins to collapse the changes of a table into a group. Returns NULL when the library cannot.
changes *changes_begin(sqlite3 *database, const char *table);

// Adds what was changed since the beginning, or since the last call, to the group. Returns an SQLite code.
int changes_collect(changes *changes);

// The number of changes that the group has come to, or -1.
int changes_count(changes *changes);

void changes_end(changes *changes);

#endif

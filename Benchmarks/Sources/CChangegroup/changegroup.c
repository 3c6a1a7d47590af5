// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#define SQLITE_ENABLE_SESSION 1
#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#include "changegroup.h"
#include <sqlite3.h>
#include <stdlib.h>

struct changes {
    sqlite3 *database;
    const char *table;
    sqlite3_session *session;
    sqlite3_changegroup *group;
};

static int start(changes *c) {
    int code = sqlite3session_create(c->database, "main", &c->session);
    return code == SQLITE_OK ? sqlite3session_attach(c->session, c->table) : code;
}

changes *changes_begin(sqlite3 *database, const char *table) {
    changes *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->database = database;
    c->table = table;
    if (sqlite3changegroup_new(&c->group) == SQLITE_OK && start(c) == SQLITE_OK) return c;
    changes_end(c);
    return NULL;
}

int changes_collect(changes *c) {
    int size = 0;
    void *bytes = NULL;
    int code = sqlite3session_changeset(c->session, &size, &bytes);
    if (code == SQLITE_OK) code = sqlite3changegroup_add(c->group, size, bytes);
    sqlite3_free(bytes);
    sqlite3session_delete(c->session);
    c->session = NULL;
    return code == SQLITE_OK ? start(c) : code;
}

int changes_count(changes *c) {
    int size = 0, count = 0;
    void *bytes = NULL;
    sqlite3_changeset_iter *iterator = NULL;
    if (sqlite3changegroup_output(c->group, &size, &bytes) != SQLITE_OK) return -1;
    if (sqlite3changeset_start(&iterator, size, bytes) != SQLITE_OK) count = -1;
    while (count >= 0 && sqlite3changeset_next(iterator) == SQLITE_ROW) count++;
    sqlite3changeset_finalize(iterator);
    sqlite3_free(bytes);
    return count;
}

void changes_end(changes *c) {
    if (c->session) sqlite3session_delete(c->session);
    if (c->group) sqlite3changegroup_delete(c->group);
    free(c);
}

// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The system tables, with the documented names and columns.
enum SystemTables {
    static let config = "MS_TableConfig"
    static let names = ["MS_TableOperations", "MS_TableOperationErrors", config]

    /// `AUTOINCREMENT` stores the highest id ever used in `sqlite_sequence`, which removing rows does not lower.
    static let creation = """
        CREATE TABLE IF NOT EXISTS "MS_TableOperations" (
          "id" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
          "table" TEXT NOT NULL,
          "tableKind" INTEGER NOT NULL DEFAULT 0,
          "itemId" TEXT NOT NULL,
          "properties" JSON TEXT NOT NULL,
          "rows" BLOB
        );
        CREATE INDEX IF NOT EXISTS "MS_TableOperations.item" ON "MS_TableOperations"("table", "itemId");
        CREATE TABLE IF NOT EXISTS "MS_TableOperationErrors" (
          "id" INTEGER PRIMARY KEY NOT NULL,
          "operationId" INTEGER NOT NULL UNIQUE,
          "table" TEXT NOT NULL,
          "tableKind" INTEGER NOT NULL DEFAULT 0,
          "properties" JSON TEXT NOT NULL
        );
        CREATE TABLE IF NOT EXISTS "MS_TableConfig" (
          "id" INTEGER PRIMARY KEY NOT NULL,
          "table" TEXT NOT NULL,
          "keyType" TEXT NOT NULL,
          "key" TEXT NOT NULL,
          "value" TEXT NOT NULL,
          UNIQUE("table", "keyType", "key")
        );
        """
}

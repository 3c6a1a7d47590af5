// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

/// UTF-8 text in memory that C functions can read without a conversion.
struct RawText {
    let start: UnsafePointer<CChar>
    let count: Int32

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: Int(count)) }
}

/// Rows with prepared C texts, so that a floor measures only the database's calls.
final class RawRows {
    struct Row {
        let id: RawText
        let title: RawText
        let note: RawText
        let due: RawText
        let complete: Int
        let priority: Int
        let price: Double
        /// The operation of a local write, as JSON.
        let operation: RawText
        /// The whole item as JSON.
        let json: RawText
    }

    private(set) var rows: [Row] = []
    let table: RawText
    let time: RawText
    let version: RawText
    private var arenas: [UnsafeMutablePointer<CChar>] = []

    init(_ todos: [TodoRow], kind: TableOperation.Kind = .insert) {
        var arenas: [UnsafeMutablePointer<CChar>] = []
        func text(_ bytes: some Collection<UInt8>) -> RawText {
            let start = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
            for (index, byte) in bytes.enumerated() { start[index] = CChar(bitPattern: byte) }
            arenas.append(start)
            return RawText(start: start, count: Int32(bytes.count))
        }
        table = text(TodoRow.table.utf8)
        time = text("1970-01-01T00:00:00.000".utf8)
        version = text("1".utf8)
        rows = todos.map { todo in
            let item = todo.item
            let operation = TableOperation(
                id: 1, table: TodoRow.table, itemID: todo.id, kind: kind, base: kind == .insert ? nil : item,
                version: kind == .insert ? nil : item.system.version, changedAt: .unixEpoch)
            return Row(
                id: text(todo.id.utf8), title: text(todo.title.utf8), note: text(todo.note.utf8),
                due: text(todo.due.utf8.dropLast()), complete: todo.complete ? 1 : 0,
                priority: todo.priority, price: todo.price, operation: text(operation.storedProperties),
                json: text(ItemValue.object(todo.fields).json))
        }
        self.arenas = arenas
    }

    deinit { for arena in arenas { arena.deallocate() } }
}

/// Strings as prepared C texts.
final class RawTexts {
    let texts: [RawText]

    init(_ strings: [String]) {
        texts = strings.map { string in
            let start = UnsafeMutablePointer<CChar>.allocate(capacity: string.utf8.count)
            for (index, byte) in string.utf8.enumerated() { start[index] = CChar(bitPattern: byte) }
            return RawText(start: start, count: Int32(string.utf8.count))
        }
    }

    deinit { for text in texts { text.start.deallocate() } }
}

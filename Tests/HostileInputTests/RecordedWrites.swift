// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance

/// The writes to the files of a process in their order, as `file_faults_record` has logged them.
struct RecordedWrites {
    /// One record of the log.
    struct Record {
        let kind: UInt8
        let name: String
        /// The offset in the file, its new length, or the number of the mark.
        let offset: Int
        let data: [UInt8]
    }

    let records: [Record]

    init(log: Data) {
        var rest = [UInt8](log)[...]
        var records: [Record] = []
        func number(_ bytes: ArraySlice<UInt8>) -> Int {
            bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        while rest.count >= 21 {
            let header = rest.prefix(21)
            rest = rest.dropFirst(21)
            let (start, nameLength) = (header.startIndex, number(header.dropFirst().prefix(4)))
            let name = String(decoding: rest.prefix(nameLength), as: UTF8.self)
            rest = rest.dropFirst(nameLength)
            let length = number(header.dropFirst(13))
            // Syncs and truncations have no data.
            let isWrite = [UInt8(ascii: "w"), UInt8(ascii: "d")].contains(header[start])
            records.append(
                Record(
                    kind: header[start], name: name, offset: number(header.dropFirst(5).prefix(8)),
                    data: isWrite ? Array(rest.prefix(length)) : []))
            rest = rest.dropFirst(isWrite ? length : 0)
        }
        self.records = records
    }
}

/// The files of a machine that loses its power: what was synced is kept; of everything later, any sectors are kept.
struct PowerLossFiles {
    private static let sectorSize = 512

    private struct File {
        var durable: [UInt8] = []
        var unsynced: [RecordedWrites.Record] = []
    }

    private var files: [String: File] = [:]

    /// Applies the next record of the process.
    mutating func apply(_ record: RecordedWrites.Record) {
        switch record.kind {
        case UInt8(ascii: "w"), UInt8(ascii: "t"): files[record.name, default: File()].unsynced.append(record)
        case UInt8(ascii: "d"):
            files[record.name, default: File()].unsynced.append(record)
            Self.write(record.data[...], at: record.offset, to: &files[record.name, default: File()].durable)
        case UInt8(ascii: "s"):
            guard var file = files[record.name] else { return }
            for record in file.unsynced { Self.apply(record, to: &file.durable) }
            file.unsynced = []
            files[record.name] = file
        default: break
        }
    }

    /// Returns the contents of the files after the power was restored.
    func image(_ random: inout SeededGenerator) -> [String: [UInt8]] {
        var image: [String: [UInt8]] = [:]
        for (name, file) in files.sorted(by: { $0.key < $1.key }) {
            var content = file.durable
            for record in file.unsynced {
                guard record.kind == UInt8(ascii: "w") else {
                    if record.kind == UInt8(ascii: "d") || Bool.random(using: &random) {
                        Self.apply(record, to: &content)
                    }
                    continue
                }
                let isTorn = record.offset == file.unsynced.last?.offset
                for sector in Self.sectors(of: record) where Bool.random(using: &random) {
                    let bytes = record.data[
                        (sector.lowerBound - record.offset)..<(sector.upperBound - record.offset)]
                    let count = isTorn ? Int.random(in: 0...bytes.count, using: &random) : bytes.count
                    Self.write(bytes.prefix(count), at: sector.lowerBound, to: &content)
                }
            }
            image[name] = content
        }
        return image
    }

    /// The ranges of the file that a disk writes at once.
    private static func sectors(of record: RecordedWrites.Record) -> [Range<Int>] {
        let end = record.offset + record.data.count
        return stride(from: record.offset / sectorSize * sectorSize, to: end, by: sectorSize).map {
            max($0, record.offset)..<min($0 + sectorSize, end)
        }
    }

    private static func apply(_ record: RecordedWrites.Record, to content: inout [UInt8]) {
        if record.kind == UInt8(ascii: "t") {
            resize(&content, to: record.offset)
        } else {
            write(record.data[...], at: record.offset, to: &content)
        }
    }

    private static func write(_ bytes: ArraySlice<UInt8>, at offset: Int, to content: inout [UInt8]) {
        if content.count < offset + bytes.count { resize(&content, to: offset + bytes.count) }
        content.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    }

    private static func resize(_ content: inout [UInt8], to length: Int) {
        if content.count > length {
            content.removeLast(content.count - length)
        } else {
            content.append(contentsOf: repeatElement(0, count: length - content.count))
        }
    }
}

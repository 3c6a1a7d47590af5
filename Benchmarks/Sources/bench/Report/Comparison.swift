// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The framework compared with another contender or with a limit, and the goal.
struct Comparison: Codable {
    /// The framework's contender.
    let ours: String
    /// What it is compared with, as text.
    let other: String
    /// The measured value: a ratio, or seconds.
    let value: Double
    let lowest: Double
    let highest: Double
    /// The ratio of processor times, on which other programs have less influence.
    let processorRatio: Double?
    /// The goal as text; `nil` without a goal.
    let goal: String?
    let isReached: Bool?

    /// The comparison as text, without the name of the framework's contender.
    var text: String {
        let measured = "\(format(value)) \(other) (\(format(lowest)) to \(format(highest)))"
        guard let goal, let isReached else { return measured }
        return measured + ", goal \(goal): \(isReached ? "reached" : "MISSED")"
    }

    /// Formats a value in the unit of the comparison.
    func format(_ value: Double) -> String {
        if other.hasPrefix("MB") { return "\(Int(value))" }
        return other.isEmpty ? Quantity.seconds(value) : Quantity.ratio(value)
    }

    fileprivate static func all(of line: ReportLine, in result: BenchmarkResult) -> [Comparison] {
        guard let ours = result[line.ours] else { return [] }
        var comparisons: [Comparison] = []
        if let floor = line.floor.flatMap({ result[$0] }) {
            let bound = line.goals.lazy.compactMap { if case .ofFloor(let bound) = $0 { bound } else { nil } }
                .first
            comparisons.append(Comparison(ours, against: floor, "as fast as the floor", atLeast: bound))
        }
        if let peer = line.peer.flatMap({ result[$0] }) {
            let bound = line.goals.lazy.compactMap { if case .ofPeer(let bound) = $0 { bound } else { nil } }
                .first
            comparisons.append(Comparison(ours, against: peer, "as fast as the peer", atLeast: bound))
        }
        for goal in line.goals {
            switch goal {
            case .ofFloor, .ofPeer: break
            case .atMost(let bound, let name):
                if let other = result[name] {
                    comparisons.append(Comparison(ours, costs: bound, times: other))
                }
            case .ofSlowest(let bound, let names):
                let slowest = names.compactMap { result[$0] }.max { $0.cost.median < $1.cost.median }
                guard let slowest else { break }
                comparisons.append(
                    Comparison(ours, against: slowest, "as fast as \(slowest.contender)", atLeast: bound))
            case .seconds(let bound): comparisons.append(Comparison(ours, takes: bound))
            case .memory(let bound): comparisons += Comparison.memory(of: ours, atMost: bound)
            }
        }
        return comparisons
    }

    private init(_ ours: Figures, against other: Figures, _ words: String, atLeast bound: Double?) {
        let speed = ours.speed(against: other)
        self.init(
            ours: ours.contender, other: words, value: speed.median, lowest: speed.lowest,
            highest: speed.highest, processorRatio: ours.speed(against: other, by: \.cpu).median,
            goal: bound.map { "≥ \(Quantity.ratio($0))" }, isReached: bound.map { speed.median >= $0 })
    }

    private init(_ ours: Figures, costs bound: Double, times other: Figures) {
        let ratio = other.speed(against: ours)
        self.init(
            ours: ours.contender, other: "the cost of \(other.contender)", value: ratio.median,
            lowest: ratio.lowest, highest: ratio.highest,
            processorRatio: other.speed(against: ours, by: \.cpu).median,
            goal: "≤ \(Quantity.ratio(bound))", isReached: ratio.median <= bound)
    }

    private init(_ ours: Figures, takes bound: Double) {
        let cost = ours.cost
        self.init(
            ours: ours.contender, other: "", value: cost.median, lowest: cost.lowest, highest: cost.highest,
            processorRatio: nil, goal: "≤ \(Quantity.seconds(bound))", isReached: cost.median <= bound)
    }

    private static func memory(of ours: Figures, atMost bound: Int) -> [Comparison] {
        let all = ours.samples.compactMap(\.memory)
        return [
            ("resident at peak", Spread(all.map { Double($0.resident) }), bound as Int?),
            ("resident at peak without files", Spread(all.map { Double($0.own) }), nil),
        ].map { words, bytes, bound in
            Comparison(
                ours: ours.contender, other: "MB " + words, value: bytes.median / 1_048_576,
                lowest: bytes.lowest / 1_048_576, highest: bytes.highest / 1_048_576, processorRatio: nil,
                goal: bound.map { "≤ \($0 >> 20) MB" }, isReached: bound.map { bytes.median <= Double($0) })
        }
    }

    private init(
        ours: String, other: String, value: Double, lowest: Double, highest: Double, processorRatio: Double?,
        goal: String?, isReached: Bool?
    ) {
        self.ours = ours
        self.other = other
        self.value = value
        self.lowest = lowest
        self.highest = highest
        self.processorRatio = processorRatio
        self.goal = goal
        self.isReached = isReached
    }
}

extension BenchmarkResult {
    /// The measured comparisons of the benchmark.
    var comparisons: [Comparison] { benchmark.lines.flatMap { Comparison.all(of: $0, in: self) } }
}

// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

extension ConformanceReport {
    /// A badge that says how far the store conforms, as SVG.
    public var badge: String {
        let isFull = standing(.full) == .conformant
        let reached = isFull ? "full" : standing(.core) == .conformant ? "core" : "not conformant"
        let color = isFull ? "#2f7d4f" : standing(.core) == .conformant ? "#8a6d1f" : "#a33c32"
        let (left, right) = ("store conformance", "\(reached) \(Self.suiteVersion)")
        let (first, second) = (left.count * 7 + 12, right.count * 7 + 12)
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(first + second)" height="20" role="img" \
            aria-label="\(left): \(right)">
            <clipPath id="r"><rect width="\(first + second)" height="20" rx="3"/></clipPath>
            <g clip-path="url(#r)"><rect width="\(first)" height="20" fill="#444"/>
            <rect x="\(first)" width="\(second)" height="20" fill="\(color)"/></g>
            <g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">
            <text x="\(first / 2)" y="14">\(left)</text><text x="\(first + second / 2)" y="14">\(right)</text></g></svg>

            """
    }

    /// The report on one page, as HTML.
    public var html: String {
        """
        <!doctype html>
        <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
        <title>\(store.escapedForXML): store conformance</title>
        <style>\(Self.style)</style></head><body><main>
        <h1>\(store.escapedForXML)</h1>
        <p class="lead">\(count(.passed)) of \(results.count) clauses kept, \(assertions) assertions.
        Suite \(Self.suiteVersion), \(course).</p>
        <ul class="levels">\(StoreLevel.allCases.map(levelItem).joined())</ul>
        \(failures.isEmpty ? "" : "<h2>Broken</h2>" + failures.map(failureBlock).joined())
        <h2>Families</h2><table>\(families.map(familyRow).joined())</table>
        <h2>Declared</h2><table>\(capabilityTexts.map { "<tr><td>\($0.name)</td><td>\($0.value)</td></tr>" }.joined())</table>
        <h2>Not checked</h2><dl>\(results.map(reasonItem).joined())</dl>
        <h2>All clauses</h2>\(families.map(familyDetails).joined())
        </main></body></html>

        """
    }

    private func levelItem(_ level: StoreLevel) -> String {
        let standing = standing(level)
        let mark = standing == .conformant ? "yes" : standing == .notDeclared ? "none" : "no"
        return "<li class=\"\(mark)\"><b>\(level.rawValue)</b> \(standing.rawValue)</li>"
    }

    private func failureBlock(_ failure: StoreRuleFailure) -> String {
        "<pre>\(failure.description.escapedForXML)</pre>"
    }

    private func familyRow(_ family: (name: String, results: [Result])) -> String {
        let bars = Result.Status.allCases.map { status -> String in
            let count = family.results.count { $0.status == status }
            return
                "<i class=\"\(status.rawValue.prefix(3))\" style=\"flex:\(count)\" title=\"\(count) \(status.rawValue)\"></i>"
        }
        return "<tr><td>\(family.name)</td><td class=\"bar\"><span>\(bars.joined())</span></td>"
            + "<td>\(family.results.count)</td></tr>"
    }

    private func reasonItem(_ result: Result) -> String {
        guard let reason = result.reason else { return "" }
        return
            "<dt>\(result.rule.id) <small>\(result.status.rawValue)</small></dt><dd>\(reason.escapedForXML)</dd>"
    }

    private func familyDetails(_ family: (name: String, results: [Result])) -> String {
        let rows = family.results.map { result in
            "<tr class=\"\(result.status.rawValue.prefix(3))\"><td><code>\(result.rule.id)</code></td>"
                + "<td>\(result.rule.sentence.escapedForXML)</td><td>\(result.rule.level.rawValue)</td>"
                + "<td>\(result.status.rawValue)</td></tr>"
        }
        return
            "<details><summary>\(family.name) (\(family.results.count))</summary><table>\(rows.joined())</table></details>"
    }

    private static let style = """
        :root{color-scheme:light dark;--good:#2f7d4f;--bad:#a33c32;--none:#8888;--line:#8884}
        body{font:16px/1.5 system-ui,sans-serif;margin:0}main{max-width:56rem;margin:3rem auto;padding:0 1.25rem}
        h1{font-size:2.2rem;margin:0}h2{font-size:1.1rem;margin:2.5rem 0 .75rem}.lead{margin:.25rem 0 1.5rem}
        .levels{display:flex;flex-wrap:wrap;gap:.75rem;list-style:none;padding:0}
        .levels li{border:1px solid var(--line);border-left:4px solid var(--none);border-radius:4px;padding:.4rem .9rem}
        .levels .yes{border-left-color:var(--good)}.levels .no{border-left-color:var(--bad)}.levels b{margin-right:.5rem}
        table{border-collapse:collapse;width:100%}td{padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--line);vertical-align:top}
        .bar{width:60%}.bar span{display:flex;height:.8rem;margin-top:.35rem;border-radius:3px;overflow:hidden}
        i.pas{background:var(--good)}i.fai{background:var(--bad)}i.not,i.ski,i.unt{background:var(--none)}
        tr.fai td{color:var(--bad)}tr.not td,tr.unt td,tr.ski td{opacity:.65}
        code,pre{font:13px/1.5 ui-monospace,monospace}pre{white-space:pre-wrap;border-left:4px solid var(--bad);padding:.5rem 1rem;background:#8881}
        dt{font:13px ui-monospace,monospace;margin-top:.5rem}dd{margin:0 0 0 1rem}summary{cursor:pointer;padding:.3rem 0}
        """
}

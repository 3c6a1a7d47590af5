// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SyncCore

/// The address of a server on the command line.
struct ServerURL: ExpressibleByArgument {
    let url: URL

    init?(argument: String) {
        guard let url = URL(string: argument), Origin(url) != nil, url.query == nil, url.fragment == nil
        else { return nil }
        self.url = url
    }

    init(_ url: URL) {
        self.url = url
    }

    /// The default address of `todo serve`.
    static var local: ServerURL? { ServerURL(argument: "http://127.0.0.1:\(Serve.defaultPort)") }
}

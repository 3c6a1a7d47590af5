// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension TableServer.Configuration {
    /// The maximum size of a row's fields in bytes: small changes can make a row larger than a body can be.
    var maxRowSize: Int { maxBodySize.saturatingProduct(10) }

    /// The maximum size of the body of a request with the method. A PUT has a whole row and its system properties.
    func maxBodySize(of method: String) -> Int {
        method == "PUT" ? maxBodySize.saturatingProduct(11) : maxBodySize
    }
}

extension Int {
    fileprivate func saturatingProduct(_ factor: Int) -> Int {
        let (product, isTooLarge) = multipliedReportingOverflow(by: factor)
        return isTooLarge ? .max : product
    }
}

// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes

extension HTTPField.Name {
    package static let lastEventID = Self("Last-Event-ID")!
    package static let zumoAPIVersion = Self("ZUMO-API-VERSION")!
    package static let zumoApplication = Self("X-ZUMO-APPLICATION")!
    package static let zumoAuth = Self("X-ZUMO-AUTH")!
    package static let zumoFeatures = Self("X-ZUMO-FEATURES")!
    package static let zumoInstallationID = Self("X-ZUMO-INSTALLATION-ID")!
}

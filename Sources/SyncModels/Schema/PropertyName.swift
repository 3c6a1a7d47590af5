// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension PartialKeyPath {
    /// The name of the stored property, such as `text` or `address.city`; `nil` for a computed one.
    var propertyName: String? {
        let name = debugDescription.dropFirst("\\\(Root.self).".count)
        return name.isEmpty || name.hasPrefix("<") ? nil : String(name)
    }

    /// The name of the property with its model, such as `Todo.text`, for messages.
    var qualifiedName: String {
        let computed = "<computed property>"
        guard let name = propertyName else { return "\(Root.self).\(computed)" }
        // The description of a computed part has its address.
        let stored = name.firstRange(of: "<computed ").map { name[..<$0.lowerBound] + computed } ?? name[...]
        return "\(Root.self).\(stored)"
    }
}

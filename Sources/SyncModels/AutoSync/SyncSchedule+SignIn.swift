// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Waits for a sign-in of the user.
extension SyncSchedule {
    /// Whether changes or plans wait until the user has signed in.
    var waitsForSignIn: Bool { signIn.isNeeded || pulls.contains(where: \.needsSignIn) }

    /// Whether the plan waits until the user has signed in.
    func needsSignIn(_ plan: Int) -> Bool { pulls[plan].needsSignIn }

    /// Records that the server has accepted a token that a request has waited for. If nothing waits for a sign-in, it was renewed.
    mutating func recordAcceptedToken(at now: Duration) {
        if waitsForSignIn { record(.signedIn, at: now) } else { signIns += 1 }
    }

    mutating func endWaitsForSignIn() {
        (signIn, feedRefusedAt) = (SignInWait(), nil)
        for index in pulls.indices { pulls[index].needsSignIn = false }
    }
}

// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationNetworking)
    import Foundation
    import FoundationNetworking

    extension URLSessionRouter {
        /// Takes a 401 with a Basic challenge as the answer it is: the default handling here would neither answer the
        /// challenge nor end the task. The body has been received at this point.
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            exchange(of: task)?.complete(with: challenge.failureResponse)
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    }
#endif

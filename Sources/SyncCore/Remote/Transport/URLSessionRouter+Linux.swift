// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationNetworking)
    import Foundation
    import FoundationNetworking

    extension URLSessionRouter {
        /// Returns a 401 with a Basic challenge as the response: the default handling on Linux neither answers the challenge
        /// nor ends the task. The body has been received at this point.
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            exchange(of: task)?.complete(with: challenge.failureResponse)
            completionHandler(.cancelAuthenticationChallenge, nil)
        }

        /// Provides the whole body again when a request is sent a second time.
        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping (InputStream?) -> Void
        ) {
            let isStream = task.originalRequest?.httpBodyStream != nil
            let body = isStream ? exchange(of: task)?.requestBody : nil
            completionHandler(body.map { InputStream(data: $0) })
        }
    }

    extension URLRequest {
        /// Sets the body as a stream. When the server closes a reused connection without a response, libcurl sends the
        /// request again; Foundation can rewind only a stream, and with other bodies the second request never ends.
        mutating func setBody(_ body: Data?) {
            guard let body, !body.isEmpty else { return }
            httpBodyStream = InputStream(data: body)
            setValue("\(body.count)", forHTTPHeaderField: "Content-Length")
            // The length of a stream is unknown, so it would be sent in chunks. A blank value removes the header.
            setValue(" ", forHTTPHeaderField: "Transfer-Encoding")
        }
    }
#endif

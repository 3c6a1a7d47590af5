// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#include <stddef.h>

/// Connects to a port of this machine. Returns the socket, or -1.
int http_connect(int port);

/// Sends a request and reads the response. Returns the size of its body in bytes; -1 if the connection fails, and minus the
/// status if that is not 200.
long http_exchange(int socket, const void *request, size_t size);

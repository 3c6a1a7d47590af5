// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

// An HTTP client that does little besides its system calls, so that a measurement shows the server.

#define _GNU_SOURCE
#include "http_connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int http_connect(int port) {
    int handle = socket(AF_INET, SOCK_STREAM, 0);
    int no_delay = 1;
    setsockopt(handle, IPPROTO_TCP, TCP_NODELAY, &no_delay, sizeof no_delay);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(handle, (struct sockaddr *)&address, sizeof address) == 0) return handle;
    close(handle);
    return -1;
}

/// Returns the number after a header's name, or 0.
static long number_after(const char *head, const char *name) {
    const char *found = strcasestr(head, name);
    return found ? atol(found + strlen(name)) : 0;
}

long http_exchange(int socket, const void *request, size_t size) {
    for (size_t sent = 0; sent < size;) {
        ssize_t count = send(socket, (const char *)request + sent, size - sent, 0);
        if (count <= 0) return -1;
        sent += count;
    }
    char head[8192];
    char rest[65536];
    size_t received = 0;
    char *end = NULL;
    while (!end) {
        ssize_t count = recv(socket, head + received, sizeof head - 1 - received, 0);
        if (count <= 0) return -1;
        received += count;
        head[received] = 0;
        end = strstr(head, "\r\n\r\n");
    }
    *end = 0;
    long status = atol(head + strlen("HTTP/1.1 "));
    long body = number_after(head, "\r\ncontent-length:");
    long missing = body - (long)(received - (end + 4 - head));
    while (missing > 0) {
        ssize_t count = recv(socket, rest, sizeof rest, 0);
        if (count <= 0) return -1;
        missing -= count;
    }
    return status == 200 ? body : -status;
}

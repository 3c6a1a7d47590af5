// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CFileFaults.h"

#ifdef __linux__

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char directory[PATH_MAX];
static size_t directory_length;
static int64_t count, killing_number, failing_number;
static bool is_torn;
static int log_descriptor = -1;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static ssize_t raw_pwrite(int fd, const void *bytes, size_t size, off_t offset) {
    return syscall(SYS_pwrite64, fd, bytes, size, offset);
}

static void append(const void *bytes, size_t size) {
    const char *rest = bytes;
    while (size > 0) {
        ssize_t written = syscall(SYS_write, log_descriptor, rest, size);
        if (written <= 0) _exit(3);
        rest += written;
        size -= (size_t)written;
    }
}

static void append_record(char kind, const char *name, int64_t offset, const void *bytes, int64_t size) {
    int32_t name_length = (int32_t)strlen(name);
    append(&kind, 1);
    append(&name_length, 4);
    append(&offset, 8);
    append(&size, 8);
    append(name, (size_t)name_length);
    append(bytes, (size_t)size);
}

// Returns the name of the descriptor's file below the directory, or NULL.
static const char *name_of(int fd, char path[PATH_MAX]) {
    if (directory_length == 0) return NULL;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length <= 0) return NULL;
    path[length] = 0;
    if (strncmp(path, directory, directory_length) != 0 || path[directory_length] != '/') return NULL;
    return path + directory_length + 1;
}

// Counts an event, kills the process if it is the chosen one, and records it otherwise. Returns whether the call fails.
static bool event(char kind, int fd, int64_t offset, const void *bytes, size_t size) {
    char path[PATH_MAX];
    const char *name = name_of(fd, path);
    if (name == NULL) return false;
    pthread_mutex_lock(&mutex);
    count += 1;
    bool fails = count == failing_number;
    if (count == killing_number) {
        if (is_torn && (kind == 'w' || kind == 'd')) raw_pwrite(fd, bytes, size / 2, offset);
        kill(getpid(), SIGKILL);
        pause();
    }
    if (log_descriptor >= 0) append_record(kind, name, offset, bytes, (int64_t)size);
    pthread_mutex_unlock(&mutex);
    if (fails) errno = EIO;
    return fails;
}

static char write_kind(int fd) {
    return fcntl(fd, F_GETFL) & O_DSYNC ? 'd' : 'w';
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset) {
    if (event(write_kind(fd), fd, offset, bytes, size)) return -1;
    return raw_pwrite(fd, bytes, size, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t offset) {
    if (event(write_kind(fd), fd, offset, bytes, size)) return -1;
    return raw_pwrite(fd, bytes, size, offset);
}

ssize_t write(int fd, const void *bytes, size_t size) {
    off_t offset = directory_length ? lseek(fd, 0, SEEK_CUR) : -1;
    if (offset >= 0 && event(write_kind(fd), fd, offset, bytes, size)) return -1;
    return syscall(SYS_write, fd, bytes, size);
}

ssize_t pwritev(int fd, const struct iovec *parts, int part_count, off_t offset) {
    ssize_t total = 0;
    for (int part = 0; part < part_count; part += 1) {
        ssize_t written = pwrite(fd, parts[part].iov_base, parts[part].iov_len, offset + total);
        if (written < 0) return total > 0 ? total : written;
        total += written;
        if ((size_t)written < parts[part].iov_len) break;
    }
    return total;
}

ssize_t pwritev64(int fd, const struct iovec *parts, int part_count, off_t offset) {
    return pwritev(fd, parts, part_count, offset);
}

ssize_t writev(int fd, const struct iovec *parts, int part_count) {
    char path[PATH_MAX];
    if (name_of(fd, path) == NULL) return syscall(SYS_writev, fd, parts, part_count);
    ssize_t total = 0;
    for (int part = 0; part < part_count; part += 1) {
        ssize_t written = write(fd, parts[part].iov_base, parts[part].iov_len);
        if (written < 0) return total > 0 ? total : written;
        total += written;
        if ((size_t)written < parts[part].iov_len) break;
    }
    return total;
}

int fsync(int fd) {
    if (event('s', fd, 0, NULL, 0)) return -1;
    return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd) {
    if (event('s', fd, 0, NULL, 0)) return -1;
    return (int)syscall(SYS_fdatasync, fd);
}

int ftruncate(int fd, off_t size) {
    if (event('t', fd, size, NULL, 0)) return -1;
    return (int)syscall(SYS_ftruncate, fd, size);
}

int ftruncate64(int fd, off_t size) {
    if (event('t', fd, size, NULL, 0)) return -1;
    return (int)syscall(SYS_ftruncate, fd, size);
}

static void watch(const char *path) {
    snprintf(directory, sizeof directory, "%s", path);
    directory_length = strlen(directory);
    count = 0;
}

bool file_faults_supported(void) { return true; }

void file_faults_kill_at(const char *path, int64_t number, bool torn) {
    pthread_mutex_lock(&mutex);
    watch(path);
    killing_number = number;
    is_torn = torn;
    pthread_mutex_unlock(&mutex);
}

void file_faults_fail_at(const char *path, int64_t number) {
    pthread_mutex_lock(&mutex);
    watch(path);
    failing_number = number;
    pthread_mutex_unlock(&mutex);
}

int64_t file_faults_count(void) {
    pthread_mutex_lock(&mutex);
    int64_t result = count;
    pthread_mutex_unlock(&mutex);
    return result;
}

void file_faults_record(const char *path, const char *log) {
    pthread_mutex_lock(&mutex);
    watch(path);
    log_descriptor = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    pthread_mutex_unlock(&mutex);
}

void file_faults_mark(int64_t number) {
    pthread_mutex_lock(&mutex);
    if (log_descriptor >= 0) append_record('m', "", number, NULL, 0);
    pthread_mutex_unlock(&mutex);
}

#else

bool file_faults_supported(void) { return false; }
void file_faults_kill_at(const char *directory, int64_t number, bool torn) {}
void file_faults_fail_at(const char *directory, int64_t number) {}
int64_t file_faults_count(void) { return 0; }
void file_faults_record(const char *directory, const char *log) {}
void file_faults_mark(int64_t number) {}

#endif

// Errors of the system, with the numbers of Linux and the texts Node has for them.
"use strict";

const known = {
  EPERM: [1, "operation not permitted"], ENOENT: [2, "no such file or directory"], ESRCH: [3, "no such process"],
  EINTR: [4, "interrupted system call"], EIO: [5, "i/o error"], ENXIO: [6, "no such device or address"],
  E2BIG: [7, "argument list too long"], ENOEXEC: [8, "exec format error"], EBADF: [9, "bad file descriptor"],
  EAGAIN: [11, "resource temporarily unavailable"], ENOMEM: [12, "not enough memory"], EACCES: [13, "permission denied"],
  EFAULT: [14, "bad address in system call argument"], EBUSY: [16, "resource busy or locked"], EEXIST: [17, "file already exists"],
  EXDEV: [18, "cross-device link not permitted"], ENODEV: [19, "no such device"], ENOTDIR: [20, "not a directory"],
  EISDIR: [21, "illegal operation on a directory"], EINVAL: [22, "invalid argument"], ENFILE: [23, "file table overflow"],
  EMFILE: [24, "too many open files"], ENOTTY: [25, "inappropriate ioctl for device"], ETXTBSY: [26, "text file is busy"],
  EFBIG: [27, "file too large"], ENOSPC: [28, "no space left on device"], ESPIPE: [29, "invalid seek"],
  EROFS: [30, "read-only file system"], EMLINK: [31, "too many links"], EPIPE: [32, "broken pipe"],
  ERANGE: [34, "result too large"], ENAMETOOLONG: [36, "name too long"], ENOSYS: [38, "function not implemented"],
  ENOTEMPTY: [39, "directory not empty"], ELOOP: [40, "too many symbolic links encountered"],
  EOVERFLOW: [75, "value too large for defined data type"], ENOTSUP: [95, "operation not supported on socket"],
  EADDRINUSE: [98, "address already in use"], ENETUNREACH: [101, "network is unreachable"],
  ECONNABORTED: [103, "software caused connection abort"], ECONNRESET: [104, "connection reset by peer"],
  ETIMEDOUT: [110, "connection timed out"], ECONNREFUSED: [111, "connection refused"], EHOSTUNREACH: [113, "host is unreachable"],
  ECANCELED: [125, "operation canceled"],
};

// failure makes the error of a system call.
function failure(code, syscall, path, dest) {
  if (path === "" && dest === undefined) path = undefined;
  const [errno, text] = known[code] ?? [0, code];
  const about = path === undefined ? "" : dest === undefined ? ` '${path}'` : ` '${path}' -> '${dest}'`;
  const error = new Error(`${code}: ${text}, ${syscall}${about}`);
  error.code = code;
  if (path !== undefined) error.path = path;
  if (dest !== undefined) error.dest = dest;
  error.syscall = syscall;
  error.errno = -errno;
  return error;
}

// complete makes of a host's refusal, which may say no more than a code, the error scripts know. Others are left as they are.
function complete(error, syscall, path, dest) {
  return error?.code in known && error.syscall === undefined ? failure(error.code, syscall, path, dest) : error;
}

module.exports = { known, failure, complete };

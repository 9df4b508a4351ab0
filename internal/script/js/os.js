// The machine, as far as the host tells of it.
"use strict";
const host = require("helve:host");

const signals = {
  SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGILL: 4, SIGTRAP: 5, SIGABRT: 6, SIGIOT: 6, SIGBUS: 7, SIGFPE: 8, SIGKILL: 9, SIGUSR1: 10,
  SIGSEGV: 11, SIGUSR2: 12, SIGPIPE: 13, SIGALRM: 14, SIGTERM: 15, SIGSTKFLT: 16, SIGCHLD: 17, SIGCONT: 18, SIGSTOP: 19, SIGTSTP: 20,
  SIGTTIN: 21, SIGTTOU: 22, SIGURG: 23, SIGXCPU: 24, SIGXFSZ: 25, SIGVTALRM: 26, SIGPROF: 27, SIGWINCH: 28, SIGIO: 29, SIGPOLL: 29,
  SIGPWR: 30, SIGSYS: 31,
};
const { known } = require("helve:errno");
const constants = {
  UV_UDP_REUSEADDR: 4, dlopen: { RTLD_LAZY: 1, RTLD_NOW: 2, RTLD_GLOBAL: 256, RTLD_LOCAL: 0 },
  errno: Object.fromEntries(Object.entries(known).map(([name, [n]]) => [name, n])), signals: Object.freeze(signals),
  priority: { PRIORITY_LOW: 19, PRIORITY_BELOW_NORMAL: 10, PRIORITY_NORMAL: 0, PRIORITY_ABOVE_NORMAL: -7, PRIORITY_HIGH: -14, PRIORITY_HIGHEST: -20 },
};

const info = () => host.info();
const windows = () => info().platform === "win32";
// The environment may be changed by scripts, which tmpdir and homedir respect.
const env = (name) => require("process").env[name];
const cut = (path) => (path.length > 1 && /[\\/]$/.test(path) && !/^[a-zA-Z]:[\\/]$/.test(path) ? path.slice(0, -1) : path);

const os = {
  EOL: windows() ? "\r\n" : "\n",
  devNull: windows() ? "\\\\.\\nul" : "/dev/null",
  constants,
  platform: () => info().platform,
  type: () => ({ linux: "Linux", darwin: "Darwin", win32: "Windows_NT", freebsd: "FreeBSD" })[info().platform] ?? info().platform,
  arch: () => info().arch,
  machine: () => ({ x64: "x86_64", arm64: info().platform === "darwin" ? "arm64" : "aarch64", ia32: "i686" })[info().arch] ?? info().arch,
  release: () => info().release,
  version: () => info().version ?? info().release,
  hostname: () => info().hostname,
  homedir: () => (windows() ? env("USERPROFILE") : env("HOME")) || info().home,
  tmpdir: () => cut((windows() ? env("TEMP") || env("TMP") : env("TMPDIR") || env("TMP") || env("TEMP")) || info().tmp),
  userInfo() {
    const { uid, gid, user, home, shell } = info();
    return { uid, gid, username: user, homedir: home, shell };
  },
  cpus: () => Array.from({ length: info().cpus }, () => ({ model: "unknown", speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } })),
  availableParallelism: () => info().cpus,
  totalmem: () => info().memory,
  freemem: () => info().free,
  loadavg: () => [0, 0, 0],
  uptime: () => Math.floor(require("process").uptime()),
  networkInterfaces: () => ({}),
  endianness: () => "LE",
  getPriority: () => 0,
  setPriority() {},
};
// Some put os.tmpdir into a text without calling it.
for (const name of ["platform", "type", "arch", "machine", "release", "version", "hostname", "homedir", "tmpdir", "endianness", "availableParallelism", "totalmem", "freemem", "uptime"]) {
  const call = os[name];
  Object.defineProperty(call, Symbol.toPrimitive, { value: () => call() });
}
module.exports = os;

// Package proc runs commands and sees to it that nothing of them is left.
//
// A [Runner] starts each command in a session of its own, without a terminal,
// and knows which processes belong to which command, also those that have
// left its process group, made themselves daemons or cleared their
// environment. On Linux it does so by a keeper: a helper process, one for
// each [Place], that is the parent of all commands, gets every process that
// lost its parent, and ends them all when the program that started it dies,
// however it dies. Without a helper, and elsewhere, commands run directly, as
// children of this program; then a process is found by its group, its session,
// its parents and, on Linux, a mark in its environment and a limit that it
// inherits, on Windows by a job object. What runs directly can outlive a
// killed program in part (not on Windows): only the command itself is told
// about that death.
//
// A [Capture] takes what a command prints, on one pipe for both streams so
// that the order is true, keeps beginning and end in a bounded memory and
// leaves the rest to a file.
package proc

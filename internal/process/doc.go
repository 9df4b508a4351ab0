// Package process runs programs: process trees, command lines, and jobs that go
// on in the background.
//
// # Process trees
//
// A [Runner] runs commands and sees to it that nothing of them is left. It starts each command in a session of its own, without a terminal,
// and knows which processes belong to which command, also those that have
// left its process group, made themselves daemons or cleared their
// environment. On Linux it does so by a keeper: a helper process, one for
// each [SupervisorSpec], that is the parent of all commands, gets every process that
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
//
// # Command lines
//
// An [Executor] runs command lines with nobody at the keyboard. It chooses the shell, gives it an environment without secrets in which
// nothing waits for a keyboard, puts it behind the wall where one is wanted,
// follows its output within bounds, and ends it with all it has started when
// its time is up. What is to go on becomes a job.
//
// # Jobs
//
// [Jobs] are commands that go on after the call that started them was
// answered. A job is a process tree with an output file of bounded size and an
// entry in a ledger on disk, so that it can be listed, read, fed, signalled and
// stopped by the process that runs it and, through the ledger, by any other
// process of the same user.
//
// The folder of a job holds job.json (who it is, how it stands; replaced as a
// whole), out (its output, see ring.go) and ask (what other processes want of
// it). Nothing in there is trusted: a damaged entry is shown as damaged.
//
// # Logs
//
// A [Journal] keeps the output of long-lived programs, such as language and
// MCP servers. The last lines stay in memory and more of them in a
// file that other processes can read. Both are bounded, in size and in work,
// because nobody knows what such a program prints.
package process

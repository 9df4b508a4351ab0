// Package process runs programs: process trees, command lines, background jobs,
// and the logs of long-lived programs.
//
// # Process trees
//
// A [Runner] starts commands and makes sure that no process of them outlives
// their end. Each command runs in a session of its own, without a terminal. The
// Runner knows which processes belong to it, including those that left its
// process group, became daemons or cleared their environment.
//
// On Linux it uses a supervisor: a helper process, one for each
// [SupervisorSpec], that is the parent of all commands and adopts every orphan
// among their descendants. It kills them all when the program that started it
// dies, whatever the cause.
//
// Without a helper, and on other systems, commands are direct children of this
// program. Their processes are then found by group, session and parents; on
// Linux also by a variable in the environment and an inherited resource limit;
// on Windows by a job object. If this program is killed, only the command
// itself is signalled, so its descendants may survive (not on Windows).
//
// A [Capture] reads what a command prints. Both streams share one pipe, which
// preserves their order. It keeps the beginning and the end in bounded memory
// and writes the rest to a file.
//
// # Command lines
//
// An [Executor] runs command lines without user interaction. It chooses the
// shell, builds an environment without secrets in which no program waits for
// input, applies the sandbox if one is configured, and bounds the output. When
// the time is up it ends the command with everything it started, or turns it
// into a job.
//
// # Jobs
//
// [Jobs] are commands that keep running after the call that started them has
// returned. A job is a process tree with a bounded output file and an entry in
// a ledger on disk. The process that runs it can list, read, signal and stop
// it and write to its input; so can, through the ledger, any other process of
// the same user.
//
// The folder of a job holds job.json (its identity and state, replaced as a
// whole), out (its output, see ring.go) and ask (requests of other processes).
// The contents are not trusted: a damaged entry is reported as damaged.
//
// # Logs
//
// A [Journal] keeps the output of long-lived programs, such as language and MCP
// servers: the last lines in memory, and more of them in a file that other
// processes can read. Both size and work are bounded, because such a program
// may print anything.
package process

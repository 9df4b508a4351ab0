// Package run runs command lines for a person who is not there.
//
// It chooses the shell, gives it an environment without secrets in which
// nothing waits for a keyboard, puts it behind the wall where one is wanted,
// follows its output within bounds, and ends it with all it has started when
// its time is up. What is to go on becomes a job.
package run

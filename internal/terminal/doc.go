// Package terminal shows a conversation on a terminal.
//
// # The screen
//
// The package renders Markdown while it arrives, edits the lines that the user
// types, and draws colored diffs and a status line.
//
// It works on readers and writers and never opens a terminal. The caller switches
// the terminal to raw mode, reports its size and copies the output to it.
// Characters that could hide or overwrite text are never printed as they are.
//
// # The transcript
//
// A [Transcript] renders the events of a session as text: what the model writes
// and thinks, its calls and their outcome, and what is in progress. It covers
// live events ([Transcript], [Split]) and stored ones ([PartText],
// [BrokenTurn]).
//
// It writes to a given writer and never prompts. Text from models and tools is
// made safe for a terminal before it is printed.
package terminal

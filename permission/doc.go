// Package permission decides what a tool call may do.
//
// A [Rule] says what happens to a thing: allow it, ask about it, or deny it.
// Rules stand in a list and the last one that matches wins; where none
// matches, the answer is to ask. [Evaluate] is that sentence as a function.
//
// A [Policy] is the rules in force for a call: one list in which later rules
// override earlier ones, and any number of ceilings, lists that can only make
// an answer stricter (a parent session's rules, a project's untrusted file).
//
// An [Engine] stands around this: it keeps what people approved, holds the
// requests that wait for an answer, and hands each its reply.
package permission

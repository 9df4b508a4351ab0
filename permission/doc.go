// Package permission decides what a tool call may do.
//
// A [Rule] allows, asks about, or denies what matches it. Rules form a list in which the last match
// wins; where none matches, the answer is to ask. [Evaluate] is exactly this.
//
// A [Policy] holds the rules for a call: one list in which later rules override earlier ones, and
// any number of ceilings, lists that can only make an answer stricter (a parent session's rules, a
// project's untrusted file).
//
// An [Engine] applies policies: it keeps the approvals of people, holds the requests that wait for
// an answer, and delivers the replies.
package permission

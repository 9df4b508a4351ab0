// Package jsonl is the protocol of programs that make calls over two pipes: a
// request a line, and a line for the end of every call; see docs/jsonl.md. Many
// calls are under way at a time, and whoever makes them answers what they ask.
package jsonl

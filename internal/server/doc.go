// Package server is a runtime over HTTP: calls, prompts, what waits for a
// person, records, and a stream of events. Every call takes the road that all
// calls take, [helve.Runtime.Call], and every prompt [helve.Runtime.Turns].
//
// The handler lets everyone in: who may talk to it is decided by the gate that
// stands before it. What a client sends is checked against the types that the
// OpenAPI document is made from, so that document and server can not differ.
//
// [ServeLines] speaks the protocol of programs that make calls over two pipes: a
// request a line, and a line for the end of every call; see docs/jsonl.md. Many
// calls are under way at a time, and whoever makes them answers what they ask.
package server

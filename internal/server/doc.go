// Package server serves a runtime over HTTP: calls, prompts, pending requests,
// records, and a stream of events. Every call goes through
// [helve.Runtime.Call], and every prompt through [helve.Runtime.Turns].
//
// The handler does not authenticate: the guard in front of it does. Requests are
// validated against the types that the OpenAPI document is generated from, so
// the document and the server cannot differ.
//
// [ServeLines] serves programs that make calls over two pipes: one request per
// line, and one line for the end of every call; see docs/jsonl.md. Many calls
// may be in progress at once, and the client answers their permission requests.
package server

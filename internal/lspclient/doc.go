// Package lspclient queries language servers about files: it chooses the servers of a file,
// supervises them, and returns their diagnostics and what they know about symbols.
//
// A [Set] starts a server when a file of its language is first used, one for each root. Every text
// that is sent to a server has a version number, and diagnostics of another version than the file's
// present text are dropped. Nothing is ever downloaded, and a server that misbehaves only costs the
// caller a bounded time.
package lspclient

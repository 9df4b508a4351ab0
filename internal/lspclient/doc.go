// Package lspclient asks language servers about files: which server is for which
// file, its life, what it finds wrong, and what it knows about names.
//
// A [Set] starts a server when a file of its language is first used, and one
// for each root. What a server says about a file counts only if it is about
// the text that the file has now: every text that is given to a server has a
// number, and diagnostics of another number are not told. Nothing is ever
// downloaded, and a server that misbehaves costs the caller a bounded time and
// nothing else.
package lspclient

// Package regex finds the lines of a text that match a pattern, in the dialect of Rust's regex
// crate, which ripgrep uses.
//
// Patterns have Unicode classes and word boundaries, but no look-around and no back references.
//
// A pattern is parsed to a tree, the tree becomes an automaton over bytes, and a Matcher runs the
// automaton. Its time is at most proportional to the length of the text times the size of the
// program, and its memory is bounded, whatever the pattern: patterns may come from untrusted
// sources.
//
// The text consists of lines. No class contains \n, so no match extends over the end of a line; \r
// is an ordinary character. \A and \z match at the start and the end of a line, as in ripgrep when
// it searches line by line, so no result depends on how a file was split into parts.
//
// The text consists of bytes. A class of characters matches valid UTF-8 only: the dot does not
// match a byte that belongs to no character. Word boundaries use the Unicode properties of
// characters. Next to invalid UTF-8, \b treats the bytes as not part of a word and \B does not
// match.
//
// # Scanners
//
// A [Scanner] finds the places in memory where one of a few short sequences of byte sets occurs, as
// fast as the machine can read. It is the first, coarse filter of a text search: what it finds must
// still be checked, and what it skips cannot match.
package regex

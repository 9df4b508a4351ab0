// Package regex finds the lines of a text that match a pattern, in the dialect
// of Rust's regex crate, which is ripgrep's.
//
// Patterns have Unicode classes and word
// boundaries, no look-around, no back references.
//
// A pattern is parsed to a tree, the tree becomes an automaton over bytes, and
// a Matcher runs the automaton. Its time grows with the length of the text and
// never worse than that times the size of the program, and its memory is
// bounded, whatever the pattern: patterns may come from anywhere.
//
// Text is lines. No class holds \n, so no match goes over the end of a line;
// \r is an ordinary character. The start and the end of the text, as \A and \z
// name them, are those of the line, as they are for ripgrep when it searches
// line by line: so no answer depends on how a file was cut into parts.
//
// Text is bytes. A class of characters matches valid UTF-8 only: the dot does
// not match a byte that belongs to no character. Word boundaries go by the
// characters of Unicode. Next to bytes that are no valid UTF-8, \b treats them
// as no part of a word and \B does not hold.
//
// # Finding places
//
// A [Scanner] finds places in memory at which one of a few short sequences of
// byte sets stands, as fast as the machine can read. It is the first, coarse
// sieve of a text search: what it finds still has to be looked at, what it
// passes over can not match.
package regex

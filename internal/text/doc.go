// Package text has functions from text to text: it truncates long output for display while the
// whole goes to a file, makes hidden characters visible, cuts strings without splitting a
// character, and finds the most similar of some words.
//
// It knows nothing of tools, paths and permissions: the caller provides the limits, the file for
// the whole text and the words of the hint.
package text

// Package text is text in, text out: it cuts long output to what may be shown
// while the whole goes to a file, makes hidden characters visible, cuts
// strings without breaking a character, and finds the nearest of some words.
//
// It knows no tool, no path and no permission: whoever calls it brings the
// limits, the file to spill to and the words of the hint.
package text

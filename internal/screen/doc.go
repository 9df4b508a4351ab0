// Package screen is what a conversation on a terminal needs: Markdown that is
// laid out while it arrives, an editor for the lines that a person types, and
// the small things around them, such as coloured differences and a line that
// says what goes on.
//
// It works on readers and writers and knows no terminal: whoever calls it
// switches the terminal to raw mode, says how large it is and passes on what
// is printed. No character of a text that could hide or repaint something is
// ever printed as it is.
package screen

// Package terminal shows a conversation on a terminal.
//
// # The screen
//
// There is Markdown that is
// laid out while it arrives, an editor for the lines that a person types, and
// the small things around them, such as coloured differences and a line that
// says what goes on.
//
// It works on readers and writers and knows no terminal: whoever calls it
// switches the terminal to raw mode, says how large it is and passes on what
// is printed. No character of a text that could hide or repaint something is
// ever printed as it is.
//
// # The transcript
//
// A [Transcript] tells the events of a session as text for people: what a
// model says and thinks, which calls it makes and how they end, what goes on at
// the moment. It tells of what happens now ([Transcript], [Split]) and of what
// was kept ([PartText], [BrokenTurn]).
//
// It writes to what it is given and asks nobody anything. What others have said
// is printed only after it was made safe for a terminal.
package terminal

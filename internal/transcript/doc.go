// Package transcript tells the events of a session as text for people: what a
// model says and thinks, which calls it makes and how they end, what goes on at
// the moment. It tells of what happens now ([Transcript], [Split]) and of what
// was kept ([Part], [BrokenBy]).
//
// It writes to what it is given and asks nobody anything. What others have said
// is printed only after it was made safe for a terminal.
package transcript

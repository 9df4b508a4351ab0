package terminal

// An Ahead is what a person types while no line is read. It becomes the beginning of the next line,
// and is never sent by itself: Enter only adds a line break. It belongs to one goroutine.
type Ahead struct{ e Editor }

// Add takes a key. Keys that neither write nor erase do nothing.
func (a *Ahead) Add(k Key) {
	switch k.name {
	case enter, newLine:
		k = Key{typed, "\n"}
	case typed, pasted:
	case backspace, killWord, killStart:
		a.e.moveCursor(k.name)
		return
	default:
		return
	}
	if len(a.e.text)+len(k.text) <= maxPaste {
		a.e.insert(k.text)
	}
}

// Text returns what was typed so far.
func (a *Ahead) Text() string { return string(a.e.text) }

// Take returns what was typed and clears it.
func (a *Ahead) Take() string {
	text := a.Text()
	a.e = Editor{}
	return text
}

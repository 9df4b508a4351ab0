package terminal

// A Style colours text, or leaves it as it is.
type Style struct{ On bool }

// Paint is text in the colours and weights of a code, numbers between
// semicolons.
func (s Style) Paint(code, text string) string {
	if !s.On {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Red is for what failed.
func (s Style) Red(text string) string { return s.Paint("31", text) }

// Green is for what went well.
func (s Style) Green(text string) string { return s.Paint("32", text) }

// Yellow is for what needs attention.
func (s Style) Yellow(text string) string { return s.Paint("33", text) }

// Dim is for what matters less.
func (s Style) Dim(text string) string { return s.Paint("2", text) }

// Bold is for what is looked for first.
func (s Style) Bold(text string) string { return s.Paint("1", text) }

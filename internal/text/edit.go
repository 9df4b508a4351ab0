package text

// An Edit replaces the text from Start to End, in bytes, by New. Edits of one
// text are sorted by Start and do not overlap.
type Edit struct {
	Start, End int
	New        string
}

// Apply returns the text with the edits made.
func Apply(s string, edits []Edit) string {
	size := len(s)
	for _, e := range edits {
		size += len(e.New) - (e.End - e.Start)
	}
	out := make([]byte, 0, size)
	at := 0
	for _, e := range edits {
		out = append(append(out, s[at:e.Start]...), e.New...)
		at = e.End
	}
	return string(append(out, s[at:]...))
}

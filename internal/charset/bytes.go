package charset

// Bytes returns the bytes that the text was decoded from. They are shared:
// do not write to them.
func (t *Text) Bytes() []byte { return t.data }

// Mark returns the byte order mark of the file; it is empty where there is
// none.
func (t *Text) Mark() []byte { return t.data[:t.bom:t.bom] }

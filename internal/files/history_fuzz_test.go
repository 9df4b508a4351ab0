package files

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzSet reads set files. What is accepted is fit to act upon, and is written
// and read again as the same.
func FuzzSet(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		line, end := lastLine(data)
		if end > int64(len(data)) || !bytes.HasSuffix(data[:end], line) {
			t.Fatalf("line %q, end %d", line, end)
		}
		set, temps, err := decode(line)
		if err != nil {
			return
		}
		for _, c := range set.Changes {
			if !filepath.IsAbs(c.Path) {
				t.Fatalf("relative path %q", c.Path)
			}
		}
		for _, id := range append(set.Undoes, set.ID) {
			if filepath.Base(id) != id || id[0] == '.' {
				t.Fatalf("%q is not a name", id)
			}
		}
		again, err := encode(set, temps)
		if err != nil {
			return // the time, or too large
		}
		set2, temps2, err := decode(again)
		if err != nil {
			t.Fatalf("%q: %v", again, err)
		}
		if diff := cmp.Diff(set, set2) + cmp.Diff(temps, temps2); diff != "" {
			t.Fatal(diff)
		}
	})
}

// FuzzBlob unpacks blob files, which yields what they promise or an error, and
// packs contents, which come out as they were.
func FuzzBlob(f *testing.F) {
	s := NewHistory(HistoryOptions{})
	f.Fuzz(func(t *testing.T, file []byte, data []byte) {
		var b bytes.Buffer
		if decompressBlob(&b, bytes.NewReader(file)) == nil && binary.LittleEndian.Uint64(file[1:]) != uint64(b.Len()) {
			t.Fatalf("%q", b.Bytes())
		}
		b.Reset()
		ok(t, decompressBlob(&b, bytes.NewReader(s.pack(data))))
		if !bytes.Equal(b.Bytes(), data) {
			t.Fatalf("%q became %q", data, b.Bytes())
		}
	})
}

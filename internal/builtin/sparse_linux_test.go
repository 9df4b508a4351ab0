package builtin

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"
)

// A file with holes reads the same with and without asking for them.
func TestSparse(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const size = 40 << 20
	for at, text := range map[int64]string{0: "start\n", 9 << 20: "middle\n", 30<<20 + 3: "more\n", size - 4: "end\n"} {
		if _, err := f.WriteAt([]byte(text), at); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	for _, known := range []int64{size, size - 7, 5, 0} { // it may have grown since it was looked at
		got, err := io.ReadAll(newSparse(f, known))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d known: %d bytes (%v), want %d", known, len(got), err, len(want))
		}
	}
	if err := os.Truncate(f.Name(), 1<<20); err != nil {
		t.Fatal(err)
	}
	if err := iotest.TestReader(newSparse(f, 1<<20), want[:1<<20]); err != nil {
		t.Error(err)
	}
	if got, err := io.ReadAll(newSparse(f, size)); err != nil || len(got) > size { // it has shrunk
		t.Errorf("%d bytes (%v)", len(got), err)
	}
}

package search

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A NUL that is found after the text was searched ahead makes the text
// shorter; what was remembered of the longer one does not count any more.
func TestNulAfterReadingAhead(t *testing.T) {
	t.Parallel()
	for shift := range 64 {
		dir := realDir(t)
		var text strings.Builder
		text.WriteString(strings.Repeat("some words\n", 100<<10/11) + strings.Repeat("x", shift) + "\n")
		text.WriteString(strings.Repeat("fooqz no\n", 300) + "a fooqz\n")
		for text.Len() < 2*block+shift {
			text.WriteString("fooqz no\n")
		}
		text.WriteString("hidden fooqz\n\x00\n" + strings.Repeat("some words\n", 6000))
		if err := os.WriteFile(filepath.Join(dir, "file"), []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		e := New(EngineOptions{Workers: 1})
		found, err := e.Grep(context.Background(), Grep{Where: Options{Dir: dir, Exact: true, Hidden: true}, Pattern: compile(t, "fooqz$")})
		e.Close()
		if err != nil || found.Lines != 1 || string(found.Files[0].Lines[0].Text) != "a fooqz" || found.Skipped.Binary != 1 {
			t.Fatalf("shift %d: %+v, %v", shift, found, err)
		}
	}
}

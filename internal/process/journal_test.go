package process

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestJournalBounds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	j := NewJournal(dir, "My Server")
	for i := range 1500 {
		j.Add("stderr", fmt.Sprintf("line %d %s", i, strings.Repeat("x", 1000)))
	}
	j.Add("stderr", strings.Repeat("ä", keptLine))
	lines := j.Lines()
	if n := len(lines); n > keptLines || j.bytes > keptBytes {
		t.Errorf("%d lines, %d bytes", n, j.bytes)
	}
	if last := lines[len(lines)-1]; len(last) > keptLine+100 || !strings.HasSuffix(last, "ä…") {
		t.Errorf("the last line has %d bytes", len(last))
	}
	j.Close()
	j.Add("stderr", "too late")
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%v %v", files, err)
	}
	for _, f := range JournalFiles(dir, "My Server") {
		info, err := os.Stat(f)
		if err != nil || info.Size() > fileBytes {
			t.Errorf("%s: %v %v", f, info, err)
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v", f, info.Mode())
		}
		if data, err := os.ReadFile(f); err != nil || strings.Contains(string(data), "too late") {
			t.Errorf("%s was written after it was closed (%v)", f, err)
		}
	}
}

func TestJournalFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := NewJournal("", "x")
		for i := range 100_000 {
			j.Add("stderr", fmt.Sprint("line ", i))
		}
		j.Add("helve", "ours")
		time.Sleep(10 * time.Second)
		j.Add("stderr", "calm again")
		lines := j.Lines()
		said := make([]string, 3)
		for i, line := range lines[len(lines)-3:] {
			said[i] = line[len("2000-01-01T00:00:00.000Z "):]
		}
		want := []string{
			fmt.Sprintf("helve: %d lines were dropped: there were too many at once", 100_000-burstLines),
			"helve: ours", "stderr: calm again",
		}
		if d := cmp.Diff(want, said); d != "" {
			t.Error(d)
		}
	})
}

func TestLastWords(t *testing.T) {
	j := NewJournal("", "x")
	j.Add("stderr", "one")
	j.Add("stdout", "two: stderr: three")
	j.Add("stderr", "  \t")
	j.Add("stderr", "stderr: four\nfive\xff")
	j.Message("warning", "disk", "full")
	j.Message("", "", map[string]int{"a": 1})
	j.Message("error", "", func() {}) // nothing that JSON has
	for _, tt := range []struct {
		from string
		n    int
		want []string
	}{
		{"stderr", 5, []string{"one", "stderr: four\\nfive\ufffd"}},
		{"stderr", 1, []string{"stderr: four\\nfive\ufffd"}},
		{"stdout", 5, []string{"two: stderr: three"}},
		{"log", 5, []string{"[warning] disk: full", `{"a":1}`}},
		{"helve", 5, nil},
	} {
		if d := cmp.Diff(tt.want, j.Last(tt.from, tt.n)); d != "" {
			t.Errorf("%s: %s", tt.from, d)
		}
	}
	if n := len(j.Lines()); n != 5 {
		t.Errorf("%d lines", n)
	}
}

func TestFiles(t *testing.T) {
	if got := JournalFiles("", "x"); got != nil {
		t.Errorf("%v without a folder", got)
	}
	names := map[string]string{}
	for _, name := range []string{"a-b", "a b", "A-B", "../a", "", "-", strings.Repeat("x", 64), strings.Repeat("x", 65), strings.Repeat("x", 66)} {
		files := JournalFiles("logs", name)
		if len(files) != 2 || files[0] != files[1]+".1" || filepath.Dir(files[1]) != "logs" {
			t.Errorf("%q: %v", name, files)
		}
		if other, ok := names[files[1]]; ok {
			t.Errorf("%q and %q share %s", name, other, files[1])
		}
		names[files[1]] = name
	}
}

// A folder that cannot be made costs the file and nothing else.
func TestNoFile(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	j := NewJournal(filepath.Join(blocked, "logs"), "x")
	j.Add("stderr", "kept")
	j.Close()
	if d := cmp.Diff([]string{"kept"}, j.Last("stderr", 1)); d != "" {
		t.Error(d)
	}
}

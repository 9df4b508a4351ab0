package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/helve-dev/helve/permission"
)

// TestSwappedLinks reads while somebody swaps what the name means for a link
// to what is denied, again and again. What is denied must never be read.
func TestSwappedLinks(t *testing.T) {
	const rounds = 20_000
	for name, swap := range map[string]struct{ real, link, to string }{
		"d/a.txt": {"d", "d", "../out"},     // a folder for a link to one outside
		"f":       {"f", "f", "secret.env"}, // a file for a link to a denied one
	} {
		t.Run(name, func(t *testing.T) {
			base, files := tree(t)
			ws := filepath.Join(base, "ws")
			for file, text := range map[string]string{
				"ws/f": "IN", "ws/d/a.txt": "IN", "out/a.txt": "OUT", "ws/secret.env": "OUT",
			} {
				path := filepath.Join(base, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			link := filepath.Join(base, "link")
			if err := os.Symlink(swap.to, link); err != nil {
				t.Fatal(err)
			}
			var stop atomic.Bool
			done := make(chan struct{})
			go func() {
				defer close(done)
				there, aside := filepath.Join(ws, swap.real), filepath.Join(base, "aside")
				for !stop.Load() {
					_ = os.Rename(there, aside)
					_ = os.Rename(link, there)
					_ = os.Rename(there, link)
					_ = os.Rename(aside, there)
				}
			}()
			defer func() { stop.Store(true); <-done }()
			a := &asker{deny: func(req permission.Request) bool {
				return req.Permission == "external_directory" || strings.HasSuffix(req.Patterns[0], ".env")
			}}
			read := 0
			for range rounds {
				a.asked = a.asked[:0]
				p, err := files.Resolve(t.Context(), a, ws, name)
				if err != nil {
					continue
				}
				if files.AskRead(t.Context(), a, p) != nil {
					continue
				}
				switch contents(files, p) {
				case "IN":
					read++
				case "OUT":
					t.Fatal("what is denied was read")
				}
			}
			if read == 0 {
				t.Error("nothing was ever read: the test shows nothing")
			}
		})
	}
}

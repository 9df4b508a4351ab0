package builtin_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// A snapshot is what lies in a folder: contents by name, links by where they
// lead.
type snapshot map[string]any

func (p place) snapshot(t *testing.T) map[string]snapshot {
	t.Helper()
	out := map[string]snapshot{"files": scan(t, p.top, nil), "out": scan(t, p.out, nil)}
	out["beside"] = scan(t, p.base, []string{p.top, p.out, p.data})
	return out
}

func scan(t *testing.T, dir string, without []string) snapshot {
	t.Helper()
	out := snapshot{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		for _, w := range without {
			if path == w {
				return filepath.SkipDir
			}
		}
		if err != nil || e.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if e.Type()&fs.ModeSymlink != 0 {
			to, err := os.Readlink(path)
			out[name] = map[string]any{"symlink": to}
			return err
		}
		data, err := os.ReadFile(path)
		out[name] = contentsOf(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func contentsOf(data []byte) map[string]any {
	sum := sha256.Sum256(data)
	switch {
	case len(data) > 8000:
		return map[string]any{"sha256": hex.EncodeToString(sum[:]), "bytes": float64(len(data))}
	case !utf8.Valid(data) || strings.Contains(string(data), "\ufeff"):
		return map[string]any{"base64": base64.StdEncoding.EncodeToString(data)}
	}
	return map[string]any{"text": string(data)}
}

// changed notes what is not as it was.
func (p place) changed(t *testing.T, before map[string]snapshot, got *encounter) {
	t.Helper()
	after := p.snapshot(t)
	for key, to := range map[string]*map[string]any{"files": &got.Files, "out": &got.FilesOutside, "beside": &got.FilesBeside} {
		all := maps.Clone(before[key])
		maps.Copy(all, after[key])
		for name := range all {
			now, there := after[key][name]
			if !there {
				now = map[string]any{"deleted": true}
			}
			if encoded(now) == encoded(before[key][name]) {
				continue
			}
			if *to == nil {
				*to = map[string]any{}
			}
			(*to)[name] = now
		}
	}
}

// saved are the outputs that were kept, as recordings have them: their sums, with
// the names of recordings for folders.
func (p place) saved(t *testing.T) (all []any) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(p.data, "tool-output", "tool_*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer(p.names()...).Replace(string(data))
		all = append(all, map[string]any{"bytes": len(text), "sha256": digest(text)})
	}
	return all
}

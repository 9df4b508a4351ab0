package builtin_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A shop is a runtime to measure in, with everything on disk.
type shop struct {
	b  *testing.B
	ws string
	rt *helve.Runtime
}

func newShop(b *testing.B, change ...func(*helve.Options)) *shop {
	b.Helper()
	base := b.TempDir()
	ws := filepath.Join(base, "ws")
	if err := os.Mkdir(ws, 0o755); err != nil {
		b.Fatal(err)
	}
	user := permission.Ruleset{{Permission: "*", Pattern: "*", Action: permission.Allow}}
	opt := helve.Options{Dir: ws, Worktree: ws, DataDir: filepath.Join(base, "data"),
		Agents: agent.Specs(agent.SpecOptions{Worktree: ws, User: user})}
	for _, c := range change {
		c(&opt)
	}
	rt, err := helve.Open(opt)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { rt.Close() })
	return &shop{b, ws, rt}
}

func (s *shop) put(name string, data []byte) {
	s.b.Helper()
	if err := os.WriteFile(filepath.Join(s.ws, name), data, 0o644); err != nil {
		s.b.Fatal(err)
	}
}

func (s *shop) call(name string, args map[string]any) error {
	s.b.Helper()
	input, err := json.Marshal(args)
	if err != nil {
		s.b.Fatal(err)
	}
	_, err = s.rt.Call(s.b.Context(), tool.Call{Session: "s", Tool: name, Input: input})
	return err
}

// programText is text like a program, of a size, with no two functions alike.
func programText(size int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "func step%d(in []int) (int, error) {\n\ttotal := %d\n\tfor _, v := range in {\n\t\ttotal += v * %d\n\t}\n\tif total > %d {\n\t\treturn 0, errTooLarge\n\t}\n\treturn total, nil\n}\n\n", i, i*7, i%13, i*1000)
	}
	return b.Bytes()
}

// BenchmarkEdit edits a file in its middle, back and forth: with the text as
// it stands, with its indentation wrong, and with a text that is not there.
func BenchmarkEdit(b *testing.B) {
	for _, size := range []int{150 << 10, 1 << 20, 10 << 20} {
		data := programText(size)
		n := bytes.Count(data, []byte("func step")) / 2
		b.Run(fmt.Sprintf("exact/%dKB", size>>10), func(b *testing.B) {
			s := newShop(b)
			s.put("a.go", data)
			_ = s.call("read", map[string]any{"filePath": "a.go", "limit": 1})
			words := [2]string{fmt.Sprintf("func step%d(in", n), fmt.Sprintf("func stop%d(in", n)}
			for i := 0; b.Loop(); i++ {
				if err := s.call("edit", map[string]any{"filePath": "a.go", "oldString": words[i%2], "newString": words[(i+1)%2]}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("fuzzy/%dKB", size>>10), func(b *testing.B) {
			s := newShop(b)
			s.put("a.go", data)
			_ = s.call("read", map[string]any{"filePath": "a.go", "limit": 1})
			text := func(k int) string {
				return fmt.Sprintf("func step%d(in []int) (int, error) {\n    total := %d\n    for _, v := range in {", n, k)
			}
			for i := 0; b.Loop(); i++ {
				old, now := n*7+i, n*7+i+1
				new := strings.ReplaceAll(text(now), "    ", "\t")
				if err := s.call("edit", map[string]any{"filePath": "a.go", "oldString": text(old), "newString": new}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("miss/%dKB", size>>10), func(b *testing.B) {
			s := newShop(b)
			s.put("a.go", data)
			_ = s.call("read", map[string]any{"filePath": "a.go", "limit": 1})
			old := fmt.Sprintf("func step%d(in []int) (int, error) {\n\ttotal := \"other\"\n\tfor range out {\n\t\treturn 1\n", n)
			for b.Loop() {
				if err := s.call("edit", map[string]any{"filePath": "a.go", "oldString": old, "newString": "x"}); err == nil {
					b.Fatal("it was found")
				}
			}
		})
	}
}

// BenchmarkReadEnd reads the last lines of a file of a gigabyte, by offset,
// against tail, which may begin at the end.
func BenchmarkReadEnd(b *testing.B) {
	s := newShop(b)
	line := []byte(strings.Repeat("x", 99) + "\n")
	block := bytes.Repeat(line, 10_000)
	f, err := os.Create(filepath.Join(s.ws, "big.log"))
	if err != nil {
		b.Fatal(err)
	}
	const blocks = 1000 // of a million bytes
	for range blocks {
		if _, err := f.Write(block); err != nil {
			b.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	last := blocks*10_000 - 10
	b.Run("read", func(b *testing.B) {
		b.SetBytes(int64(blocks * len(block)))
		for b.Loop() {
			if err := s.call("read", map[string]any{"filePath": "big.log", "offset": last}); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, args := range map[string][]string{
		"tail-from-line": {"-n", fmt.Sprintf("+%d", last+1)}, // counts lines from the start, as an offset does
		"tail-last":      {"-n", "10"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := exec.Command("tail", append(args, filepath.Join(s.ws, "big.log"))...).Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPatch changes one line in each of 200 files by one patch, beside GNU
// patch.
func BenchmarkPatch(b *testing.B) {
	s := newShop(b)
	patch := func(k int, head, hunk string) string {
		var p strings.Builder
		for i := range 200 {
			fmt.Fprintf(&p, "%s\n%s\n before\n-value %d\n+value %d\n after\n", strings.ReplaceAll(head, "N", strconv.Itoa(i)), hunk, k, k+1)
		}
		return p.String()
	}
	for i := range 200 {
		s.put(fmt.Sprintf("f%d.txt", i), []byte(strings.Repeat("some line of text\n", 500)+"before\nvalue 0\nafter\n"))
	}
	at := 0
	b.Run("helve", func(b *testing.B) {
		for ; b.Loop(); at++ {
			text := "*** Begin Patch\n" + patch(at, "*** Update File: fN.txt", "@@") + "*** End Patch"
			if err := s.call("apply_patch", map[string]any{"patchText": text}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("patch", func(b *testing.B) {
		for ; b.Loop(); at++ {
			cmd := exec.Command("patch", "-p1", "-s", "-d", s.ws)
			cmd.Stdin = strings.NewReader(patch(at, "--- a/fN.txt\n+++ b/fN.txt", "@@ -501,3 +501,3 @@"))
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
		}
	})
}

// BenchmarkDurable replaces a file of 10 KB so that it survives a power failure:
// as a careful program does, by write, and by write where every record survives
// too. They take turns, since the disk is not always as fast.
func BenchmarkDurable(b *testing.B) {
	files, records := newShop(b), newShop(b, func(o *helve.Options) { o.Durable = true })
	text := strings.Repeat("what has to be there after a power failure\n", 240)
	ways := map[string]func(text string) error{
		"plain": func(text string) error { return replaceDurably(filepath.Join(files.ws, "plain.txt"), text) },
		"write": func(text string) error {
			return files.call("write", map[string]any{"filePath": "f.txt", "content": text})
		},
		"durable": func(text string) error {
			return records.call("write", map[string]any{"filePath": "f.txt", "content": text})
		},
	}
	took := map[string][]time.Duration{}
	for i := 0; b.Loop(); i++ {
		for name, do := range ways {
			began := time.Now()
			if err := do(fmt.Sprint(i, "\n", text)); err != nil {
				b.Fatal(name, err)
			}
			took[name] = append(took[name], time.Since(began))
		}
	}
	for name, all := range took {
		slices.Sort(all)
		b.ReportMetric(float64(all[len(all)/2])/1e6, name+"-ms")
	}
}

func replaceDurably(name, text string) error {
	f, err := os.Create(name + "~")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Sync(), f.Close(), os.Rename(name+"~", name)); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

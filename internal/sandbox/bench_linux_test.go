//go:build amd64 || arm64

package sandbox

import (
	"bufio"
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// BenchmarkEnter is what entering costs, once for a profile: the helper, the
// wall, exec of a program, and its end.
func BenchmarkEnter(b *testing.B) {
	needsNamespaces(b)
	for _, masks := range []int{0, 100} {
		for _, level := range []Level{Write, Strict} {
			b.Run(fmt.Sprintf("%s/masks=%d", level, masks), func(b *testing.B) {
				w := newWorld(b, places(b)["disk"])
				p := w.profile(level)
				for i := range masks {
					path := fmt.Sprintf("%s/secret-%d", w.ws, i)
					must(b, createEmpty(path))
					p.Masks = append(p.Masks, path)
				}
				for b.Loop() {
					must(b, command(b.Context(), b, p, "/bin/true").Run())
				}
			})
		}
	}
	b.Run("bare", func(b *testing.B) {
		w := newWorld(b, places(b)["disk"])
		p := w.profile(Strict)
		p.Bare, p.Fallback = true, true
		for b.Loop() {
			must(b, command(b.Context(), b, p, "/bin/true").Run())
		}
	})
	b.Run("no wall", func(b *testing.B) {
		for b.Loop() {
			must(b, exec.Command("/bin/true").Run())
		}
	})
}

// BenchmarkSpawn is what a command costs once the sandbox is entered: a shell
// that lives on starts `bash -c true` again and again, outside and behind.
func BenchmarkSpawn(b *testing.B) {
	needsNamespaces(b)
	for _, level := range []Level{Off, Write, Strict} {
		b.Run(string(level), func(b *testing.B) {
			w := newWorld(b, places(b)["disk"])
			script := "while read line; do bash -c true; echo done; done"
			cmd := exec.Command("/bin/bash", "-c", script)
			if level != Off {
				cmd = command(b.Context(), b, w.profile(level), "/bin/bash", "-c", script)
			}
			in, err := cmd.StdinPipe()
			must(b, err)
			out, err := cmd.StdoutPipe()
			must(b, err)
			must(b, cmd.Start())
			lines := bufio.NewReader(out)
			for b.Loop() {
				_, err := in.Write([]byte("go\n"))
				must(b, err)
				line, err := lines.ReadString('\n')
				if err != nil || !strings.HasPrefix(line, "done") {
					b.Fatal(line, err)
				}
			}
			must(b, in.Close())
			must(b, cmd.Wait())
		})
	}
}

// BenchmarkProve is what the runtime pays at start to know how it stands.
func BenchmarkProve(b *testing.B) {
	needsNamespaces(b)
	w := newWorld(b, places(b)["disk"])
	for b.Loop() {
		_, state, err := Prove(b.Context(), self(), w.profile(Strict))
		if err != nil || !state.Complete() {
			b.Fatal(state, err)
		}
	}
}

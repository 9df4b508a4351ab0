package config

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestZZScale(t *testing.T) {
	rep := func(n int, f string) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, f, i)
		}
		return strings.TrimSuffix(b.String(), ",")
	}
	for name, mk := range map[string]func(n int) (string, string){
		"patterns":     func(n int) (string, string) { return "opencode.json", `{"permission":{"bash":{` + rep(n, `"k%d":"ask",`) + `}}}` },
		"names":        func(n int) (string, string) { return "opencode.json", `{"permission":{` + rep(n, `"r%d":"ask",`) + `}}` },
		"bad actions":  func(n int) (string, string) { return "opencode.json", `{"permission":{` + rep(n, `"r%d":1,`) + `}}` },
		"unknown":      func(n int) (string, string) { return "opencode.json", `{` + rep(n, `"r%d":1,`) + `}` },
		"doubles":      func(n int) (string, string) { return "opencode.json", `{` + rep(n, `"a":%d,`) + `}` },
		"refs":         func(n int) (string, string) { return "opencode.json", `{"permission":{` + rep(n, `"{env:X}%d":"ask",`) + `}}` },
		"agents":       func(n int) (string, string) { return "opencode.json", `{"agent":{` + rep(n, `"a%d":{"permission":"ask"},`) + `}}` },
		"instructions": func(n int) (string, string) { return "opencode.json", `{"instructions":[` + rep(n, `"i%d",`) + `]}` },
		"brackets":     func(n int) (string, string) { return "opencode.json", `{"theme":` + strings.Repeat(`[`, n) },
		"lines":        func(n int) (string, string) { return "opencode.json", "{\"permission\":{" + rep(n, "\n\"k%d\":\"ask\",") + `}}` },
		"continuation": func(n int) (string, string) { return ".opencode/agent/a.md", "---\na: x\n" + strings.Repeat(" y\n", n/3) + "---\n" },
		"examples":     func(n int) (string, string) { return "helve.json", `{"permission":{` + rep(n/2, `"r%d":"ask",`) + `},"permission_examples":{"x":{` + rep(n/2, `"e%d":"ask",`) + `}}}` },
	} {
		for _, user := range []bool{true, false} {
			var prev time.Duration
			for _, n := range []int{500 << 10, 1 << 20, 2 << 20} {
				_, opt := project(t)
				dir := opt.Dir
				if user {
					dir = filepath.Join(opt.Home, ".config/opencode")
				}
				file, text := mk(n)
				if user {
					file = strings.TrimPrefix(file, ".opencode/")
				}
				write(t, filepath.Join(dir, file), text)
				start := time.Now()
				c := load(t, opt)
				d := time.Since(start)
				t.Logf("%-13s user=%t n=%d %v (x%.1f) problems %d withheld %d", name, user, n, d.Round(time.Millisecond), float64(d)/float64(max(prev, 1)), len(c.Problems), len(c.Withheld))
				prev = d
				if d > 8*time.Second { break }
			}
		}
	}
}

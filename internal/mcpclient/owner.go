package mcpclient

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helve-dev/helve/mcp"
)

// Owner returns the server that a tool of this name comes from, or would come from: of those whose
// prefix matches the name, the one with the longest prefix.
func (p *Pool) Owner(tool string) (server string, ok bool) {
	p.names.mu.Lock()
	c, claimed := p.names.owner[tool]
	p.names.mu.Unlock()
	if claimed {
		return c.e.s.Name, true
	}
	if some := p.owners(tool); len(some) > 0 {
		return some[0].s.Name, true
	}
	return "", false
}

// owners returns the servers with the longest prefix that a tool's name has.
// Names that differ may have the same one.
func (p *Pool) owners(tool string) (some []*peer) {
	longest := 0
	for _, e := range p.list() {
		prefix := ToolPrefix(e.s.Name)
		if len(prefix) < longest || !strings.HasPrefix(tool, prefix) {
			continue
		}
		if len(prefix) > longest {
			longest, some = len(prefix), nil
		}
		some = append(some, e)
	}
	return some
}

// trespass says why a server is refused that offers tools under the names of another one, whether
// that one is connected or enabled or not.
func (e *peer) trespass(items []item) error {
	mine := ToolPrefix(e.s.Name)
	others := slices.DeleteFunc(e.pool.list(), func(f *peer) bool {
		prefix := ToolPrefix(f.s.Name)
		return len(prefix) <= len(mine) || !strings.HasPrefix(prefix, mine)
	})
	for _, it := range items {
		for _, f := range others {
			if prefix := ToolPrefix(f.s.Name); strings.HasPrefix(it.name, prefix) {
				return fmt.Errorf("the server %q is refused: its tool %q would be called %s, and the names that begin with %s are for the tools of the server %q",
					e.s.Name, it.def.Tool, it.name, prefix, f.s.Name)
			}
		}
	}
	return nil
}

// originOf distinguishes programs with the same name: it is a digest of the address, or of the
// command and, where that depends on it, the folder it is started in.
func originOf(s mcp.Server, dir string) string {
	if !isLocal(s) {
		return hashTexts("url", s.URL)
	}
	if !filepath.IsAbs(s.Dir) {
		dir = filepath.Join(dir, s.Dir)
	} else {
		dir = s.Dir
	}
	parts := append([]string{"command"}, s.Command...)
	depends := slices.ContainsFunc(s.Command, func(word string) bool {
		if word == "" || filepath.IsAbs(word) {
			return false
		}
		_, err := os.Lstat(filepath.Join(dir, word))
		return err == nil
	})
	if s.Dir != "" || depends {
		parts = append(parts, "in", filepath.Clean(dir))
	}
	return hashTexts(parts...)
}

// hashTexts is a short text for a list of texts, another one for another list.
func hashTexts(parts ...string) string {
	raw, err := json.Marshal(parts)
	if err != nil { // texts always encode
		return ""
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}

package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/disk"
)

// LanguageServers says how language servers are treated. Zero fields were not
// given.
type LanguageServers struct {
	WaitMS    int // for diagnostics after a change
	RequestMS int // for one question
	StartMS   int
	IdleMS    int
	Memory    int64 // bytes of one server with all its processes
}

// lspShape is one language server.
func lspShape() *shape {
	return &shape{kinds: "o", whole: true, stops: true, fields: map[string]*shape{
		"command":        textsShape(),
		"extensions":     textsShape(),
		"disabled":       boolShape(),
		"env":            stringMap(),
		"initialization": objectShape(),
		"wall":           {kinds: "b", helve: true, guards: true},
	}}
}

// disable makes a value one that switches off what it is about.
func (n *node) disable() { n.switched("disabled", "true") }

// switched makes a value one that has no more than a switch.
func (n *node) switched(key, to string) {
	val := &node{kind: 'b', text: to, in: n.in, at: n.at}
	*n = node{kind: 'o', members: []member{{key, val, n.in, n.at}}, in: n.in, at: n.at}
}

// serversShape is the section language_servers.
func serversShape() *shape {
	return &shape{kinds: "o", helve: true, fields: map[string]*shape{
		"wait_ms":      countShape(),
		"request_ms":   countShape(),
		"start_ms":     countShape(),
		"idle_ms":      countShape(),
		"memory_bytes": countShape(),
	}}
}

func serving(n *node) LanguageServers {
	if n == nil {
		return LanguageServers{}
	}
	return LanguageServers{
		WaitMS: millis(n.get("wait_ms")), RequestMS: millis(n.get("request_ms")),
		StartMS: millis(n.get("start_ms")), IdleMS: millis(n.get("idle_ms")), Memory: intValue(n.get("memory_bytes")),
	}
}

// languages leaves out the language servers that nobody could start: those
// that are not known have to say what they are for, and what runs.
func (l *loader) languages() {
	all := l.merged.get("lsp")
	if all == nil || all.kind != 'o' || l.opt.LanguageServers == nil {
		return
	}
	kept := &node{kind: 'o', in: all.in, at: all.at, owned: true}
	for _, m := range all.members {
		said := l.missingSetting(m)
		if said == "" {
			kept.put(m)
			continue
		}
		key, near := "lsp."+m.key, nearest(m.key, l.opt.LanguageServers)
		if near != "" {
			said = strings.TrimSuffix(said, ".")
		}
		l.addProblem(m.in, m.at, Problem{Key: key, Message: fmt.Sprintf("%q: %s", key, said), Suggest: near, Severity: Error})
	}
	if len(kept.members) < len(all.members) {
		top := l.merged.members[l.merged.find("lsp")]
		top.val = kept
		l.merged.put(top)
	}
}

// missingSetting says what is missing in a language server; "" for nothing.
func (l *loader) missingSetting(m member) string {
	extensions, command := m.val.get("extensions"), m.val.get("command")
	switch {
	case truth(m.val.get("disabled")):
		return ""
	case m.key == "":
		return "a language server needs a name"
	case slices.Contains(l.opt.LanguageServers, m.key):
		return ""
	case extensions == nil:
		return "For custom LSP servers, 'extensions' array is required."
	case command == nil || len(command.elems) == 0 || strings.TrimSpace(command.elems[0].text) == "":
		return `a language server that helve does not know needs "command": the program and its arguments`
	}
	return ""
}

// trustsProject reports whether the user has said that code of the project may
// run: something of its config is trusted, and nothing of it is not. A project
// that has no config has never been looked at.
//
// Where there is no repository, files count that stand in any folder above.
// They speak for the folder that is worked in only if it has one of its own:
// what lies in a folder of downloads is not trusted because the home is.
func (l *loader) trustsProject() bool {
	within := l.opt.Worktree
	if filepath.Dir(within) == within {
		within = l.opt.Dir
	}
	some := false
	for _, s := range l.cfg.Sources {
		if !s.Guarded {
			continue
		}
		if !s.Trusted {
			return false
		}
		some = some || disk.Within(within, s.Path)
	}
	return some
}

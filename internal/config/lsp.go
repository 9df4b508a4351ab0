package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/disk"
)

// LanguageServers configures how language servers are used. Zero fields were not set.
type LanguageServers struct {
	WaitMS    int // for diagnostics after a change
	RequestMS int // for one question
	StartMS   int
	IdleMS    int
	Memory    int64 // bytes of one server with all its processes
}

// lspShape is the shape of one language server.
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

// switched replaces a value by one with a single switch.
func (n *node) switched(key, to string) {
	val := &node{kind: 'b', text: to, in: n.in, at: n.at}
	*n = node{kind: 'o', members: []member{{key, val, n.in, n.at}}, in: n.in, at: n.at}
}

// serversShape is the shape of the section language_servers.
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

// languages removes language servers that cannot be started: one without a built-in definition
// needs extensions and a command.
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

// missingSetting returns what a language server lacks, or "".
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

// trustsProject reports whether the user allows code of the project to run: some of its config is
// trusted, and none of it is untrusted. A project without any config is not trusted.
//
// Without a repository, files in any folder above count, but only if the working directory has
// config of its own: a folder of downloads is not trusted because the home folder is.
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

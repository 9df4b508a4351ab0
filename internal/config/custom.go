package config

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/plugin"
)

// Hooks are the commands for calls and events, those of the lowest file first. The lists of several
// files are added up, so that no file can remove the hooks of another.
type Hooks struct {
	Before, After, Event []HookCommand
}

// A HookCommand is a hook as a config file has it.
type HookCommand struct {
	plugin.HookCommand
	Line   string // for the shell, in place of Command
	Base   string // where relative names start
	Source permission.Source
}

// A Folder is a config folder.
type Folder struct {
	Path    string
	Guarded bool // it comes with the project and needs trust
	Trusted bool // it may be used
	Changed bool // it was trusted with other contents
	Missing bool // it is not there yet, and may come while the program runs
}

// TrustedFolder reports whether the config folder at a path may be used now, by the trust file and
// its current contents. A folder outside the project is always trusted.
func TrustedFolder(opt Options, path string) bool {
	l, err := newLoader(opt)
	if err != nil {
		return false
	}
	path = filepath.Clean(path)
	if !l.guards(path) {
		return true
	}
	if !l.needsHash(path) {
		return false
	}
	w := walker{root: path, keep: func(string, []byte) {}}
	hash, err := w.hashFiles()
	if err != nil {
		return false
	}
	trusted, _ := l.trusted(path, hash)
	return trusted
}

// TrustStamp identifies the act by which a config folder of the project became trusted: its
// contents and the time. It does not check whether they still match.
func TrustStamp(opt Options, path string) string {
	l, err := newLoader(opt)
	if err != nil {
		return ""
	}
	e := l.trustedPaths()[filepath.Clean(path)]
	return e.Hash + " " + e.Time.UTC().Format(time.RFC3339Nano)
}

// guards reports whether a folder belongs to the project. An unknown folder counts as the
// project's.
func (l *loader) guards(path string) bool {
	own := l.globalDirs()
	if l.opt.Home != "" {
		own = append(own, filepath.Join(l.opt.Home, ".opencode"), filepath.Join(l.opt.Home, ".helve"))
	}
	for _, name := range bothNames("CONFIG_DIR") {
		dir := l.opt.Env(name)
		if dir == "" {
			continue
		}
		// One that the project has too was taken in as the project's.
		if dir = l.abs(dir); !l.ofProject(dir) {
			own = append(own, dir)
		}
	}
	return !slices.Contains(own, path)
}

// ofProject reports whether load treats a folder as one of the project's.
func (l *loader) ofProject(dir string) bool {
	base := filepath.Base(dir)
	above := filepath.Dir(dir)
	return (base == ".opencode" || base == ".helve") && !l.flag("DISABLE_PROJECT_CONFIG") &&
		slices.Contains(l.levels(), above) && (l.opt.Home == "" || above != filepath.Clean(l.opt.Home))
}

// pluginShape is one entry of plugin.
func pluginShape() *shape {
	return &shape{kinds: "sa", good: func(n *node) string {
		name := n
		if n.kind == 'a' {
			if len(n.elems) != 2 || n.elems[0].kind != 's' || n.elems[1].kind != 'o' {
				return `is not the name of a plugin; write "name" or ["name", {options}]`
			}
			name = n.elems[0]
		}
		if strings.TrimSpace(name.text) == "" {
			return "is empty; write the name of a plugin or the path of its file"
		}
		return ""
	}}
}

// hooksShape is the shape of the section hooks.
func hooksShape() *shape {
	list := func(which string) *shape {
		return &shape{kinds: "a", alone: true, policy: true, each: hookShape(which)}
	}
	return &shape{kinds: "o", helve: true, policy: true, strict: true, guards: true, fields: map[string]*shape{
		"before": list("tools"), "after": list("tools"), "event": list("events"),
	}}
}

// hookShape is the shape of one hook; which is the key that says when it is called.
func hookShape(which string) *shape {
	return &shape{kinds: "o", whole: true, fields: map[string]*shape{
		"command":  {kinds: "as", each: textShape(), good: commandGood},
		which:      {kinds: "a", each: nameShape()},
		"timeout":  countShape(),
		"required": guarding(boolShape()),
	}, good: func(n *node) string {
		if n.get("command") == nil {
			return `lacks "command": the program and its arguments, such as ["./check.sh"], or a line for the shell`
		}
		return ""
	}}
}

func commandGood(n *node) string {
	first := n
	if n.kind == 'a' && len(n.elems) > 0 {
		first = n.elems[0]
	}
	if strings.TrimSpace(first.text) == "" {
		return "is empty; write the program and its arguments, or a line for the shell"
	}
	return ""
}

// nameShape is a name that must not be empty, since an empty one matches nothing.
func nameShape() *shape {
	return &shape{kinds: "s", good: func(n *node) string {
		if strings.TrimSpace(n.text) == "" {
			return "is empty"
		}
		return ""
	}}
}

// customShape is the shape of the section custom.
func customShape() *shape {
	names := func() *shape { return &shape{kinds: "a", each: nameShape()} }
	required := guarding(names())
	required.policy, required.each.policy = true, true
	return &shape{kinds: "o", helve: true, policy: true, guards: true, fields: map[string]*shape{
		"memory":       countShape(),
		"load_timeout": countShape(),
		"hook_timeout": countShape(),
		"full":         names(),
		"required":     required,
		"also":         names(),
		"worker":       {kinds: "s", words: []string{"auto", "bun", "node", "off"}},
	}}
}

// requires reports whether a hook is marked as required, even by an invalid value or a misspelt
// key.
func requires(n *node) bool {
	return slices.ContainsFunc(n.members, func(m member) bool {
		return nearest(m.key, []string{"required"}) != "" && (m.val.kind != 'b' || m.val.text == "true")
	})
}

// adding returns the lists in a section that are added up.
func adding(section string) []string {
	switch section {
	case "hooks":
		return []string{"before", "after", "event"}
	case "custom":
		return []string{"full", "required", "also"}
	}
	return nil
}

// addUp prepends the elements that the lower files have in a list to those of one file.
func (l *loader) addUp(root *node, section string) {
	own := root.get(section)
	if own == nil {
		return
	}
	for _, key := range adding(section) {
		i, have := own.find(key), l.merged.get(section).get(key)
		if i < 0 || have == nil {
			continue
		}
		list := own.members[i].val
		sum := &node{kind: 'a', in: list.in, at: list.at, elems: slices.Clone(have.elems)}
		sum.extend(list, func(e *node) string { return e.in.dir })
		own.members[i].val = sum
	}
}

// startsAt returns the folder that an entry of plugin or instructions is relative to: equal names
// in two folders are different files.
func startsAt(e *node) string {
	first := e
	if e.kind == 'a' && len(e.elems) > 0 {
		first = e.elems[0]
	}
	if strings.HasPrefix(first.text, "./") || strings.HasPrefix(first.text, "../") {
		return e.in.dir
	}
	return ""
}

// brought reads the settings for code of users.
func (l *loader) brought() {
	c, hooks := l.cfg, l.merged.get("hooks")
	c.Hooks = Hooks{
		Before: l.hooks("before", hooks.get("before")), After: l.hooks("after", hooks.get("after")), Event: l.hooks("event", hooks.get("event")),
	}
	if v := l.merged.get("custom"); v != nil {
		c.Custom = plugin.Options{
			Memory: intValue(v.get("memory")), LoadTimeout: duration(v.get("load_timeout")), HookTimeout: duration(v.get("hook_timeout")),
			Full: elemTexts(v.get("full")), Required: elemTexts(v.get("required")), Worker: textOf(v.get("worker")),
		}
		if also := v.get("also"); also != nil {
			for _, e := range also.elems {
				c.Custom.Also = append(c.Custom.Also, l.from(e.in.dir, e.text))
			}
		}
	}
	if paths := l.merged.get("skills").get("paths"); paths != nil {
		for _, e := range paths.elems {
			c.SkillPaths = append(c.SkillPaths, l.from(l.opt.Dir, e.text)) // as OpenCode does
		}
	}
}

// from makes a path absolute: ~/ is the home folder, and others are relative to dir.
func (l *loader) from(dir, path string) string {
	if rest, ok := strings.CutPrefix(filepath.ToSlash(path)+"/", "~/"); ok && l.opt.Home != "" {
		return filepath.Join(l.opt.Home, filepath.FromSlash(rest))
	}
	return absFrom(dir, path)
}

func (l *loader) hooks(which string, list *node) (all []HookCommand) {
	if list == nil {
		return nil
	}
	for _, e := range list.elems {
		h := HookCommand{Base: e.in.dir, Source: e.sourceRule(), HookCommand: plugin.HookCommand{
			Tools: elemTexts(e.get("tools")), Events: elemTexts(e.get("events")), Timeout: duration(e.get("timeout")),
			Required: truth(e.get("required")), From: e.sourceRule().String(),
		}}
		if command := e.get("command"); command.kind == 's' {
			h.Line = command.text
		} else {
			h.Command = elemTexts(command)
		}
		all = append(all, h)
		if tools := e.get("tools"); tools != nil {
			// A hook for a tool that does not exist never runs.
			key := "hooks." + which + ".tools"
			known := knownTools()
			for _, e := range tools.elems {
				if strings.ContainsAny(e.text, "*?") || slices.Contains(known, e.text) {
					continue
				}
				if near := nearest(e.text, known); near != "" && text.Slips(e.text, near, 1) <= 1 {
					l.addProblem(e.in, e.at, Problem{
						Key: key, Message: fmt.Sprintf("%q names %q, which is not a built-in tool", key, shorten(e.text)), Suggest: near, Severity: Warning,
					})
				}
			}
		}
	}
	return all
}

// millis returns a number of milliseconds that cannot overflow a duration.
func millis(n *node) int { return int(min(intValue(n), math.MaxInt32)) }

func duration(n *node) time.Duration { return time.Duration(millis(n)) * time.Millisecond }

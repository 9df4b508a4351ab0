package mcpclient

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
)

// How much is kept of one tool.
const (
	maxPrograms = 20  // that go by one name, and
	maxProjects = 200 // that use one of them
)

// Pins remember what tools looked like when they were approved, so that a tool that has changed
// since, or a program that has replaced another, is detected. Each pin belongs to a program and to
// the projects that use it. Several processes may share the file; a Pins may be used from several
// goroutines.
type Pins struct {
	path string // "" for memory only

	mu    sync.Mutex
	known ledger
	from  os.FileInfo // the file that known was read from; nil for none
}

// pinned are the tools by server and name. There is one pin for each program
// that was used under that name, the newest last.
type pinned map[string]map[string][]pin

// A pin is what a tool looked like.
type pin struct {
	Origin      string          `json:"origin"`
	Projects    []string        `json:"projects"`
	Hash        string          `json:"hash"` // its shape
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description"`
	Input       json.RawMessage `json:"input"`
	ReadOnly    bool            `json:"readOnly,omitempty"`
	Destructive bool            `json:"destructive,omitempty"`
	Idempotent  bool            `json:"idempotent,omitempty"`
	OpenWorld   bool            `json:"openWorld,omitempty"`
}

// definition is d as it looked when it was kept.
func (p pin) definition(d Definition) Definition {
	d.Title, d.Description, d.Input = p.Title, p.Description, p.Input
	d.ReadOnly, d.Destructive, d.Idempotent, d.OpenWorld = p.ReadOnly, p.Destructive, p.Idempotent, p.OpenWorld
	return d
}

// A standing is the result of comparing a tool with its pin.
type standing int

const (
	fresh       standing = iota // nothing is known of it here, and nothing speaks against it
	foreignKept                 // it is what it was
	drifted                     // it is not what it was
	swapped                     // another program was here under the server's name
	lost                        // what was known of it is lost
)

// A ledger is the content of a pin file.
type ledger struct {
	tools    pinned
	distrust bool // there was more once: a tool that is not in it is not a new one
	// homes are the programs of the servers, by project.
	homes map[[2]string]map[string]bool
}

func newLedger(tools pinned, distrust bool) ledger {
	k := ledger{tools, distrust, map[[2]string]map[string]bool{}}
	for server, named := range tools {
		for _, pins := range named {
			for _, p := range pins {
				k.settle(server, p)
			}
		}
	}
	return k
}

func (k ledger) settle(server string, p pin) {
	for _, project := range p.Projects {
		home := [2]string{server, project}
		if k.homes[home] == nil {
			k.homes[home] = map[string]bool{}
		}
		k.homes[home][p.Origin] = true
	}
}

// judge compares a definition with what is pinned, if anything is.
func (k ledger) judge(d Definition) (was pin, ok bool, how standing) {
	pins := k.tools[d.Server][d.Tool]
	shape := d.shape()
	if i := slices.IndexFunc(pins, func(p pin) bool { return p.Origin == d.Origin }); i >= 0 {
		switch was = pins[i]; {
		case was.Hash != shape:
			return was, true, drifted
		case !slices.Contains(was.Projects, d.Project):
			return was, true, fresh
		}
		return was, true, foreignKept
	}
	programs := k.homes[[2]string{d.Server, d.Project}]
	for _, p := range slices.Backward(pins) {
		if !slices.Contains(p.Projects, d.Project) {
			continue
		}
		if programs[d.Origin] && p.Hash == shape { // another tool of the program has been approved
			return p, true, fresh
		}
		return p, true, swapped
	}
	switch {
	case len(programs) > 0 && !programs[d.Origin]:
		return pin{}, false, swapped
	case k.distrust:
		return pin{}, false, lost
	}
	return pin{}, false, fresh
}

// OpenPins returns the pins kept in a file, which is read when it is needed and
// made when there is something to keep. Without a path they are kept in memory
// only.
func OpenPins(path string) *Pins { return &Pins{path: path} }

// Check reports whether a tool of this name has been pinned here, and how it differs from the pin:
// a text for people, safe to show, "" if it does not. If the pins cannot be read, or are lost,
// changed says so: a tool without a readable pin does not count as approved.
func (p *Pins) Check(d Definition) (changed string, known bool) {
	was, found, how, err := p.find(d)
	if err != nil {
		return "What this tool looked like when it was approved can not be read: " + err.Error(), false
	}
	switch how {
	case drifted:
		return difference(was, d), true
	case swapped:
		changed = fmt.Sprintf("The MCP server %s is another program, or at another address, than the one that was used here before.", quoted(d.Server))
		before := ""
		if found {
			before = portrait(was.definition(d))
		}
		if after := portrait(d); before != after {
			changed += "\n" + compared(d, before, after)
		}
		return changed, found
	case lost:
		return "Nothing is known of this tool any more, because the file that told what was approved was damaged or removed.\n" +
			compared(d, "", portrait(d)), false
	}
	return "", how == foreignKept
}

// Shown returns the definition of a tool that models may see. A changed tool is shown as pinned,
// with a note; if it was never pinned, none of the server's texts are shown. Other tools are shown
// as they are.
//
// The result is only for display: [Pins.Keep] needs the definition itself.
func (p *Pins) Shown(d Definition) Definition {
	const (
		changed = "[The server has changed this tool since it was approved. What it says about it now is withheld until a person has looked at it.]"
		unknown = "[What this tool looked like when it was approved is not known. What the server says about it is withheld until a person has looked at it.]"
	)
	was, found, how, err := p.find(d)
	switch {
	case err == nil && (how == fresh || how == foreignKept):
		return d
	case err != nil || !found:
		d.Title, d.Description, d.Input = "", unknown, json.RawMessage(`{"type":"object","additionalProperties":true}`)
		d.ReadOnly, d.Destructive, d.Idempotent, d.OpenWorld = false, true, false, true
		return d
	}
	d = was.definition(d)
	if d.Description != "" {
		d.Description += "\n\n"
	}
	d.Description += changed
	return d
}

// Keep pins a tool as it is now, replacing its earlier pin here. If the file is damaged it is set
// aside, and the error says where, because all tools must be approved again.
func (p *Pins) Keep(d Definition) error {
	return p.update(func(all pinned) bool {
		now := pin{
			Origin: d.Origin, Hash: d.shape(), Title: d.Title, Description: d.Description, Input: d.Input,
			ReadOnly: d.ReadOnly, Destructive: d.Destructive, Idempotent: d.Idempotent, OpenWorld: d.OpenWorld,
		}
		var pins []pin
		for _, was := range all[d.Server][d.Tool] {
			if was.Origin == d.Origin {
				if was.Hash == now.Hash && slices.Contains(was.Projects, d.Project) {
					return false
				}
				now.Projects = was.Projects
				continue
			}
			was.Projects = without(was.Projects, d.Project) // another program has its place now
			if len(was.Projects) > 0 {
				pins = append(pins, was)
			}
		}
		now.Projects = append(without(now.Projects, d.Project), d.Project)
		now.Projects = now.Projects[max(0, len(now.Projects)-maxProjects):]
		pins = append(pins, now)
		if all[d.Server] == nil {
			all[d.Server] = map[string][]pin{}
		}
		all[d.Server][d.Tool] = pins[max(0, len(pins)-maxPrograms):]
		return true
	})
}

// without returns a copy of list that lacks s.
func without(list []string, s string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(x string) bool { return x == s })
}

func (p *Pins) find(d Definition) (was pin, ok bool, how standing, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.refresh(); err != nil {
		return pin{}, false, lost, err
	}
	was, ok, how = p.known.judge(d)
	return was, ok, how, nil
}

package agentconfig

import (
	"errors"
	"fmt"
)

// A File is a config file of helve or OpenCode, JSON with comments.
type File struct {
	Path   string
	Within string // a folder that symbolic links must not lead out of; "" = none
	Force  bool   // replace another entry of the name
}

// SetServer plans the change of a config file that sets mcp.<name> to the value, which is encoded
// by encoding/json. A missing file is created. Another value of that name is an [ErrTaken] unless
// Force is set.
func SetServer(f File, name string, value any) (Plan, error) {
	if name == "" {
		return Plan{}, errors.New("the server needs a name")
	}
	raw, err := tryMarshal(value)
	if err != nil {
		return Plan{}, fmt.Errorf("config of server %s: %w", name, err)
	}
	c := f.newChange(name)
	c.entry.value = raw
	c.hand = string(newDocument(c.entry))
	return c.plan(func(t text) (text, error) { return t.put(c.entry) })
}

// RemoveServer plans the change of a config file that removes mcp.<name>. The plan is [Plan.Same]
// if there is no such entry.
func RemoveServer(f File, name string) (Plan, error) {
	c := f.newChange(name)
	c.entry.force = true
	return c.plan(func(t text) (text, error) { return t.take(c.entry) })
}

func (f File) newChange(name string) *change {
	c := &change{target: target{path: f.Path, within: f.Within, mode: 0o600, dirMode: 0o700}}
	if f.Within != "" {
		c.mode, c.dirMode = 0o644, 0o755
	}
	c.entry = serverEntry{table: []string{"mcp"}, name: name, force: f.Force}
	return c
}

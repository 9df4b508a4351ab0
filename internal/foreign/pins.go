package foreign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

const (
	maxPins  = 64 << 20 // bytes of the file
	lockWait = 30 * time.Second
	lockPoll = 2 * time.Millisecond
)

// Pins remember what tools looked like when they were approved, so that a tool
// that has become another one since can be told from the one that was approved.
// Several processes may share the file; a Pins may be used from several
// goroutines.
type Pins struct {
	path string // "" for memory only

	mu    sync.Mutex
	known pinned
	from  os.FileInfo // the file that known was read from; nil for none
}

// pinned are the tools by server and name.
type pinned map[string]map[string]pin

// A pin is what a tool looked like.
type pin struct {
	Hash        string          `json:"hash"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description"`
	Input       json.RawMessage `json:"input"`
}

// pinFile is the form on disk.
type pinFile struct {
	Version int    `json:"version"`
	Tools   pinned `json:"tools"`
}

// errDamaged says that the file is there and is not one of ours.
var errDamaged = errors.New("it is damaged")

// OpenPins returns the pins kept in a file, which is read when it is needed and
// made when there is something to keep. Without a path they are kept in memory
// only.
func OpenPins(path string) *Pins { return &Pins{path: path} }

// Check says whether a tool of this name has been kept, and how it differs from
// what was kept: a text for people, safe to show, "" if it does not. If the file
// can not be read, nothing is known and changed says so: a tool about which
// nothing can be known is not one that was approved.
func (p *Pins) Check(d Definition) (changed string, known bool) {
	was, known, err := p.find(d)
	if err != nil {
		return "what this tool looked like when it was approved can not be read: " + err.Error(), false
	}
	if !known || was.Hash == d.Hash() {
		return "", known
	}
	return difference(was, d), true
}

// Shown returns what models may be shown of a tool. One that has changed has
// the description that was kept, with a note that it has changed, and its new
// schema without any texts. Other tools are shown as they are.
//
// What comes back is for showing: [Pins.Keep] wants the definition itself.
func (p *Pins) Shown(d Definition) Definition {
	was, known, err := p.find(d)
	if err == nil && (!known || was.Hash == d.Hash()) {
		return d
	}
	const (
		changed = "[The server has changed this tool since it was approved. What it says about it now is withheld until a person has looked at it.]"
		unknown = "[What this tool looked like when it was approved can not be read. What the server says about it is withheld until a person has looked at it.]"
	)
	switch {
	case err != nil:
		d.Title, d.Description = "", unknown
	case was.Description == "":
		d.Title, d.Description = was.Title, changed
	default:
		d.Title, d.Description = was.Title, was.Description+"\n\n"+changed
	}
	d.Input = d.bare()
	return d
}

// Keep remembers what a tool looks like, in place of what was known about it.
// If the file is damaged it is set aside, and the error says where: what was
// approved has to be approved again, and somebody should know why.
func (p *Pins) Keep(d Definition) error {
	return p.update(func(all pinned) bool {
		now := pin{d.Hash(), d.Title, d.Description, d.Input}
		if was, ok := all[d.Server][d.Tool]; ok && was.Hash == now.Hash {
			return false
		}
		if all[d.Server] == nil {
			all[d.Server] = map[string]pin{}
		}
		all[d.Server][d.Tool] = now
		return true
	})
}

// Forget removes what is known about a tool, or about all tools of the server
// if tool is "".
func (p *Pins) Forget(server, tool string) error {
	return p.update(func(all pinned) bool {
		tools, ok := all[server]
		if tool != "" {
			_, ok = tools[tool]
			delete(tools, tool)
		}
		if tool == "" || len(tools) == 0 {
			delete(all, server)
		}
		return ok
	})
}

func (p *Pins) find(d Definition) (pin, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.refresh(); err != nil {
		return pin{}, false, err
	}
	was, ok := p.known[d.Server][d.Tool]
	return was, ok, nil
}

// refresh reads the file if it is another one than was read last. It is only
// ever replaced whole, so another one it is whenever something was written.
func (p *Pins) refresh() error {
	if p.path == "" {
		return nil
	}
	info, err := os.Stat(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		p.known, p.from = nil, nil
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the pins: %w", err)
	}
	if p.from != nil && os.SameFile(p.from, info) && p.from.ModTime().Equal(info.ModTime()) && p.from.Size() == info.Size() {
		return nil
	}
	known, err := readPins(p.path, info)
	if err != nil {
		p.known, p.from = nil, nil
		return fmt.Errorf("reading the pins in %s: %w", p.path, err)
	}
	p.known, p.from = known, info
	return nil
}

func readPins(path string, info os.FileInfo) (pinned, error) {
	if !info.Mode().IsRegular() || info.Size() > maxPins {
		return nil, errDamaged
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var f pinFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if f.Version != 1 {
		return nil, fmt.Errorf("version %d is not known", f.Version)
	}
	return f.Tools, nil
}

// update changes the pins, in the file under its lock.
func (p *Pins) update(change func(pinned) bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.path == "" {
		if p.known == nil {
			p.known = pinned{}
		}
		change(p.known)
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(p.path), 0o700); err != nil {
		return fmt.Errorf("keeping the pins: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	lock := flock.New(p.path+".lock", flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		return fmt.Errorf("locking the pins: %w", err)
	}
	defer lock.Close()
	if err := p.refresh(); err != nil {
		if errors.Is(err, errDamaged) {
			return p.setAside(err)
		}
		return err
	}
	next := make(pinned, len(p.known)+1) // a copy: a write that fails changes nothing
	for server, tools := range p.known {
		next[server] = maps.Clone(tools)
	}
	if !change(next) {
		return nil
	}
	info, err := writePins(p.path, next)
	if err != nil {
		return fmt.Errorf("keeping the pins: %w", err)
	}
	p.known, p.from = next, info
	return nil
}

// setAside moves the file out of the way and says where it is.
func (p *Pins) setAside(why error) error {
	for n := 1; ; n++ {
		to := fmt.Sprintf("%s.damaged-%d", p.path, n)
		err := os.Link(p.path, to) // unlike a rename, it never takes another file's place
		if errors.Is(err, fs.ErrExist) && n < 1000 {
			continue
		}
		if err == nil {
			err = os.Remove(p.path)
		} else if !errors.Is(err, fs.ErrExist) {
			err = os.Rename(p.path, to) // where there are no links
		}
		if err != nil {
			return fmt.Errorf("%w; it could not be set aside either: %w", why, err)
		}
		return fmt.Errorf("%w; it was moved to %s, and all tools of MCP servers have to be approved again", why, to)
	}
}

// writePins replaces the file in one step.
func writePins(path string, tools pinned) (info os.FileInfo, err error) {
	data, err := json.MarshalIndent(pinFile{Version: 1, Tools: tools}, "", " ")
	if err != nil {
		return nil, err
	}
	if len(data) > maxPins {
		return nil, fmt.Errorf("the file would have %d bytes, and %d are the most", len(data), maxPins)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".pins-*") // mode 0600
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(append(data, '\n')); err != nil {
		return nil, err
	}
	if err = f.Sync(); err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	if err = f.Close(); err != nil {
		return nil, err
	}
	return info, os.Rename(f.Name(), path)
}

package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/helve-dev/helve/internal/disk"
)

const (
	pinVersion = 2
	maxPins    = 64 << 20 // bytes of the file
	lockWait   = 30 * time.Second
	lockPoll   = 2 * time.Millisecond
)

// pinFile is the form on disk.
type pinFile struct {
	Version int `json:"version"`
	// Distrust says that an earlier file was lost: a tool that is missing in this one may have been
	// approved in another form.
	Distrust bool   `json:"distrust,omitempty"`
	Tools    pinned `json:"tools"`
}

// errDamaged says that the file exists but is not a valid pin file.
var errDamaged = errors.New("it is damaged")

// keptMark is the suffix of a file that exists once pins were saved, so that removed pins can be
// distinguished from none.
const keptMark = ".kept"

// refresh reads the file if it is another one than was read last. It is only
// ever replaced whole, so another one it is whenever something was written.
func (p *Pins) refresh() error {
	if p.path == "" {
		return nil
	}
	info, err := os.Stat(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, marked := os.Lstat(p.path + keptMark); errors.Is(marked, fs.ErrNotExist) {
			p.known, p.from = ledger{}, nil
			return nil
		}
		info, err = os.Stat(p.path) // it may have been made just now
	}
	if errors.Is(err, fs.ErrNotExist) {
		p.known, p.from = ledger{distrust: true}, nil
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the pins: %w", err)
	}
	if p.from != nil && os.SameFile(p.from, info) && p.from.ModTime().Equal(info.ModTime()) && p.from.Size() == info.Size() {
		return nil
	}
	now, err := readPins(p.path, info)
	if err != nil {
		p.known, p.from = ledger{}, nil
		return fmt.Errorf("reading the pins in %s: %w", p.path, err)
	}
	p.known, p.from = now, info
	return nil
}

func readPins(path string, info os.FileInfo) (ledger, error) {
	if !info.Mode().IsRegular() || info.Size() > maxPins {
		return ledger{}, errDamaged
	}
	data, err := disk.ReadSmall(path, maxPins)
	if err != nil {
		return ledger{}, err
	}
	var head struct{ Version int }
	if err := json.Unmarshal(data, &head); err != nil {
		return ledger{}, fmt.Errorf("%w: %w", errDamaged, err)
	}
	switch head.Version {
	case 1: // it does not tell which program was approved
		return ledger{distrust: true}, nil
	case pinVersion:
	default:
		return ledger{}, fmt.Errorf("version %d is not known", head.Version)
	}
	var f pinFile
	if err := json.Unmarshal(data, &f); err != nil {
		return ledger{}, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return newLedger(f.Tools, f.Distrust), nil
}

// update changes the pins, in the file under its lock.
func (p *Pins) update(change func(pinned) bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.path == "" {
		if p.known.tools == nil {
			p.known.tools = pinned{}
		}
		if change(p.known.tools) {
			p.known = newLedger(p.known.tools, false)
		}
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
	next := make(pinned, len(p.known.tools)+1) // a copy: a write that fails changes nothing
	for server, tools := range p.known.tools {
		next[server] = maps.Clone(tools)
	}
	if !change(next) {
		return nil
	}
	return p.write(newLedger(next, p.known.distrust))
}

// write puts k in the place of the file, and leaves the mark.
func (p *Pins) write(k ledger) error {
	info, err := writePins(p.path, k)
	if err != nil {
		return fmt.Errorf("keeping the pins: %w", err)
	}
	p.known, p.from = k, info
	mark, err := os.OpenFile(p.path+keptMark, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keeping the pins: %w", err)
	}
	return mark.Close()
}

// setAside renames the damaged file and says where it is. The new file records that there was an
// earlier one.
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
		if err := p.write(newLedger(nil, true)); err != nil {
			return fmt.Errorf("%w; it was moved to %s: %w", why, to, err)
		}
		return fmt.Errorf("%w; it was moved to %s, and all tools of MCP servers have to be approved again", why, to)
	}
}

// writePins replaces the file atomically, under its lock, and returns its new state.
func writePins(path string, k ledger) (info os.FileInfo, err error) {
	data, err := json.MarshalIndent(pinFile{Version: pinVersion, Distrust: k.distrust, Tools: k.tools}, "", " ")
	if err != nil {
		return nil, err
	}
	if len(data) > maxPins {
		return nil, fmt.Errorf("the file would have %d bytes, and %d are the most", len(data), maxPins)
	}
	if err := disk.ReplaceSmall(path, append(data, '\n'), true); err != nil {
		return nil, err
	}
	if info, err = os.Stat(path); err != nil {
		return nil, nil // it is written; without what it looks like it is read again
	}
	return info, nil
}

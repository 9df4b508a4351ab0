package cli

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/helve-dev/helve/internal/auth"
	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/internal/text"
)

// A running is the record that a server keeps of itself while it runs, for other commands and
// programs of the same user: DATA/servers/NAME.json.
type running struct {
	URL       string    `json:"url"`
	Pid       int       `json:"pid"`
	Directory string    `json:"directory"`
	TokenFile string    `json:"tokenFile"`
	Started   time.Time `json:"started"`
	// Local is its address on this machine, which may not resolve its name, and Certificate the
	// SHA-256 of its TLS certificate, if any.
	Local       string `json:"local"`
	Certificate string `json:"certificate,omitempty"`
}

// announcement returns the record of a server.
func announcement(f *serveFlags, at site) running {
	local := at.bound.URL()
	if addr, err := netip.ParseAddrPort(at.bound.Addr().String()); err == nil {
		ip := addr.Addr().Unmap()
		if ip.IsUnspecified() {
			ip = netip.AddrFrom4([4]byte{127, 0, 0, 1})
		}
		scheme, _, _ := strings.Cut(local, "://")
		local = scheme + "://" + netip.AddrPortFrom(ip, addr.Port()).String()
	}
	out := running{
		URL: at.bound.URL(), Pid: os.Getpid(), Directory: at.opt.Dir, TokenFile: f.tokenFile, Started: time.Now(), Local: local,
	}
	if c := at.pair.Config; c != nil {
		out.Certificate = hashOf(c.Certificates[0].Certificate[0])
	}
	return out
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func serversDir(data string) string { return filepath.Join(data, "servers") }

// announce writes the record of a server that has started. A lock beside it shows whether the
// server is alive: the port in a record that a crash left behind may belong to another program by
// now, and must not be sent the token.
func announce(data string, r running) (withdraw func(), err error) {
	dir := serversDir(data)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := auth.Private(dir); err != nil {
		return nil, err
	}
	name := filepath.Join(dir, strconv.Itoa(r.Pid)+"-"+rand.Text()[:8]) // in a container every server may have the same number
	lock := flock.New(name + ".lock")
	if held, err := lock.TryLock(); err != nil || !held {
		return nil, errors.Join(fmt.Errorf("%s.lock can not be locked", name), err)
	}
	text, err := json.Marshal(r)
	if err == nil {
		err = disk.ReplaceSmall(name+".json", append(text, '\n'), false) // it does not outlive the server
	}
	withdraw = func() {
		_ = os.Remove(name + ".json")
		_ = lock.Unlock() // first: some systems do not remove what is open
		_ = os.Remove(name + ".lock")
	}
	if err != nil {
		withdraw()
		return nil, err
	}
	return withdraw, nil
}

// servers returns the servers that run, the newest first. Files of those that
// are gone are removed.
func (a *app) servers() ([]running, error) {
	data, err := a.dataDir()
	if err != nil {
		return nil, err
	}
	dir := serversDir(data)
	if err := auth.Private(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil { // what others could plant there is no server
		return nil, err
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var out []running
	for _, name := range names {
		stem := strings.TrimSuffix(name, ".json")
		if !locked(stem + ".lock") {
			_ = os.Remove(name)
			_ = os.Remove(stem + ".lock")
			continue
		}
		var r running
		if text, err := os.ReadFile(name); err == nil && json.Unmarshal(text, &r) == nil && r.URL != "" {
			out = append(out, r)
		}
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*.lock")) // the pattern is good
	for _, lock := range left {
		if _, err := os.Stat(strings.TrimSuffix(lock, ".lock") + ".json"); err != nil && !locked(lock) {
			_ = os.Remove(lock)
		}
	}
	slices.SortFunc(out, func(a, b running) int { return b.Started.Compare(a.Started) })
	return out, nil
}

// locked reports whether a lock is held.
func locked(name string) bool {
	if _, err := os.Stat(name); err != nil {
		return false
	}
	lock := flock.New(name)
	held, err := lock.TryRLock() // others who look are no server
	if err != nil {
		return false
	}
	if held {
		_ = lock.Unlock()
	}
	return !held
}

// here is the server that runs for a folder, or for one above it.
func here(all []running, dir string) (running, bool) {
	best, found := running{}, false
	for _, r := range all {
		if inFolder(r.Directory, dir) && (!found || len(r.Directory) > len(best.Directory)) {
			best, found = r, true
		}
	}
	return best, found
}

// whatRuns prints the overview that helve without arguments shows on a terminal.
func (a *app) whatRuns(ctx context.Context) error {
	st := a.style(a.Stdout)
	fmt.Fprintf(a.Stdout, "%s runs the tools of a coding agent, with permissions and a record of every call.\n\n", st.Bold("helve"))
	all, err := a.servers()
	if err != nil {
		return err
	}
	own, found := here(all, a.workDir())
	switch {
	case found:
		fmt.Fprintf(a.Stdout, "A server runs for this folder: %s\n", safe(own.URL))
		fmt.Fprintf(a.Stdout, "  helve open          opens its console in the browser\n")
		a.tellWaiting(ctx, own)
	default:
		fmt.Fprintf(a.Stdout, "No server runs for this folder.\n")
		fmt.Fprintf(a.Stdout, "  helve serve --open  starts one and opens its console in the browser\n")
	}
	for _, r := range all {
		if r != own {
			fmt.Fprintf(a.Stdout, "Another runs at %s for %s\n", safe(r.URL), safe(r.Directory))
		}
	}
	a.tellJobs()
	fmt.Fprintf(a.Stdout, `
  helve chat          works with an agent here
  helve call TOOL …   makes one call
  helve mcp install   brings the tools into the agent that you use
  helve --help        shows all commands
`)
	return nil
}

// tellJobs prints the running background jobs.
func (a *app) tellJobs() {
	jobs, err := a.jobs()
	if err != nil {
		return
	}
	n := 0
	for _, info := range jobs.List("") {
		if info.State == "running" {
			n++
		}
	}
	if n > 0 {
		fmt.Fprintf(a.Stdout, "%s in the background: see 'helve jobs'\n", text.Count(n, "command runs", "commands run"))
	}
}

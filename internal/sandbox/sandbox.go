// Package sandbox confines commands to the workspace by means of the kernel, without reading their
// text: no program, script or interpreter in the sandbox can do what the sandbox forbids.
//
// A helper process enters the sandbox once, and nothing can leave it. The helper is started with
// [Profile.Attr] and calls [Main], which enters the sandbox and execs a long-lived program that
// starts the commands. So a command in the sandbox costs no more than one without.
//
// The sandbox has independent layers: a mount namespace in which everything but the workspace is
// read-only, with masks over what may not be read; PID, IPC and network namespaces; no capabilities
// and no way to gain any; Landlock; a system call filter. Where namespaces are not allowed, as
// inside many containers, Landlock and the filter remain, if the profile allows that
// ([Profile.Fallback]). [Prove] measures what then works and what does not; nothing is assumed.
//
// The output of a command should go through a pipe: if its standard output is a file outside the
// sandbox, it can write to the file but cannot open it again as /dev/stdout.
//
// The sandbox exists on Linux, on 64-bit x86 and ARM. Elsewhere every function fails with
// [ErrUnavailable].
package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrUnavailable reports that this system offers no sandbox. Nothing runs as if there were one.
var ErrUnavailable = errors.New("no wall is available on this system")

// A Level says how much a sandbox forbids.
type Level string

// The levels, from none to all.
const (
	Off    Level = "off"    // no sandbox
	Write  Level = "write"  // writes stay in the workspace; reading and the network are open
	Strict Level = "strict" // also: reads are limited, and there is no network
)

// A Profile says what is let through. It is plain data: it travels to the
// helper as JSON. All paths are absolute; [Profile.Check] makes them clean.
type Profile struct {
	Level Level `json:"level"`
	// Roots are the folders of the workspace.
	Roots []string `json:"roots"`
	// ReadOnly keeps Roots and Writable from being written, as in plan mode.
	ReadOnly bool `json:"readOnly,omitempty"`
	// Writable are files and folders outside Roots that may be written too.
	Writable []string `json:"writable,omitempty"`
	// Readable lists files and folders that may be read in Strict, besides the system's folders,
	// the toolchains in Home and everything writable. Those below a folder that is private in the
	// sandbox, such as /tmp, are visible there at every level; that folder as a whole cannot be.
	Readable []string `json:"readable,omitempty"`
	// Masks cannot be read, moved or removed: what the read rules deny. Missing ones are skipped.
	Masks []string `json:"masks,omitempty"`
	// Protected cannot be written, replaced or, if missing, created.
	Protected []string `json:"protected,omitempty"`
	// Temp is where programs put their temporary files. Empty: a private /tmp.
	Temp string `json:"temp,omitempty"`
	// Cache is where programs keep what they can make again; see [Profile.Env].
	Cache string `json:"cache,omitempty"`
	// Home is the user's folder, whose toolchains may be read in Strict.
	Home string `json:"home,omitempty"`
	// Owners lets root, and only root, change files of other owners if they are writable in the
	// sandbox. Without it, root in the sandbox is an ordinary user. It has no effect without
	// namespaces.
	Owners bool `json:"owners,omitempty"`
	// Keep are the descriptors, besides 0 to 2, that stay open.
	Keep []int `json:"keep,omitempty"`
	// Death is the signal that the process gets when its parent dies; 0 for none. It is part of the
	// profile because only one thread of a helper may set it.
	Death int `json:"death,omitempty"`
	// Fallback allows the sandbox without namespaces where there are none.
	Fallback bool `json:"fallback,omitempty"`
	// Bare is the sandbox without namespaces. [Prove] sets it; set by hand it is only useful with
	// Fallback.
	Bare bool `json:"bare,omitempty"`
	// User and Group are the ids that a helper in a namespace of its own is
	// to have there. [Profile.Pass] sets them.
	User  int `json:"user,omitempty"`
	Group int `json:"group,omitempty"`
}

// Check returns the profile as it will be applied: paths clean, links in the folders resolved, each
// list sorted and without duplicates. It fails if the profile cannot be applied.
func (p Profile) Check() (Profile, error) {
	if p.Level != Off && p.Level != Write && p.Level != Strict {
		return p, fmt.Errorf("wall level %q: it is one of off, write, strict", p.Level)
	}
	if p.Bare && !p.Fallback {
		return p, errors.New("a wall without namespaces was asked for, and the profile does not allow it")
	}
	var err error
	real := func(list []string) (out []string) {
		for _, path := range list {
			out = append(out, resolvePath(path, &err))
		}
		return sortUnique(out)
	}
	plain := func(list []string) (out []string) {
		for _, path := range list {
			out = append(out, absolute(path, &err))
		}
		return sortUnique(out)
	}
	p.Roots, p.Writable = real(p.Roots), real(p.Writable)
	p.Readable, p.Masks, p.Protected = plain(p.Readable), plain(p.Masks), plain(p.Protected)
	if p.Temp != "" {
		p.Temp = resolvePath(p.Temp, &err)
	}
	if p.Cache != "" {
		p.Cache = resolvePath(p.Cache, &err)
	}
	if p.Home != "" {
		p.Home = absolute(p.Home, &err)
	}
	if err != nil {
		return p, err
	}
	p.Keep = slices.Compact(slices.Sorted(slices.Values(p.Keep)))
	p.Protected = outermost(p.Protected)
	return p, p.conflict()
}

// conflict says why the parts of a profile do not go together.
func (p Profile) conflict() error {
	for _, t := range p.trees() {
		if reserved(t.path) {
			return fmt.Errorf("wall: %s can not be a folder to write in", t.path)
		}
	}
	for _, dir := range []string{p.Temp, p.Cache} {
		for _, path := range append(slices.Clone(p.Protected), p.Masks...) {
			if dir != "" && isWithin(dir, path) {
				return fmt.Errorf("wall: %s, to be written, lies below %s, which is protected", dir, path)
			}
		}
	}
	return nil
}

// outermost leaves out paths below others of the list.
func outermost(list []string) (out []string) {
	set := map[string]bool{}
	for _, path := range list {
		set[path] = true
	}
	for _, path := range list {
		if path == "/" || !covered(set, filepath.Dir(path)) {
			out = append(out, path)
		}
	}
	return out
}

// covered tells whether path, or a folder above it, is in the set.
func covered(set map[string]bool, path string) bool {
	for !set[path] {
		up := filepath.Dir(path)
		if up == path {
			return false
		}
		path = up
	}
	return true
}

// absolute returns path clean, or sets err if it is not absolute or not a
// path at all.
func absolute(path string, err *error) string {
	if *err == nil && (!filepath.IsAbs(path) || strings.ContainsRune(path, 0)) {
		*err = fmt.Errorf("wall: path %q is not absolute", path)
	}
	return filepath.Clean(path)
}

// resolvePath is absolute with all links followed. The path has to exist.
func resolvePath(path string, err *error) string {
	path = absolute(path, err)
	if *err != nil {
		return path
	}
	real, e := filepath.EvalSymlinks(path)
	if e != nil {
		*err = fmt.Errorf("wall: resolving %s: %w", path, e)
		return path
	}
	return real
}

func sortUnique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// reserved reports whether a folder is arranged by the sandbox itself, or is the root: making it
// writable would defeat the sandbox.
func reserved(path string) bool {
	for _, dir := range []string{"/proc", "/sys", "/dev"} {
		if isWithin(path, dir) {
			return true
		}
	}
	return path == "/"
}

// isWithin tells whether path is dir or lies below it. Both are clean.
func isWithin(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir) && path[len(dir)] == '/'
}

// A keptPath is a folder, or a file, that stays where it is in the sandbox.
type keptPath struct {
	path     string
	readOnly bool
}

// trees returns all that the profile puts back over a read-only system, outer
// ones first, so that an inner one has the last word.
func (p Profile) trees() []keptPath {
	var all []keptPath
	for _, path := range append(slices.Clone(p.Roots), p.Writable...) {
		all = append(all, keptPath{path, p.ReadOnly})
	}
	for _, path := range []string{p.Temp, p.Cache} {
		if path != "" {
			all = append(all, keptPath{path, false})
		}
	}
	slices.SortStableFunc(all, func(a, b keptPath) int { return strings.Compare(a.path, b.path) })
	return slices.CompactFunc(all, func(a, b keptPath) bool { return a.path == b.path && a.readOnly == b.readOnly })
}

// writable tells whether the profile lets path be written, protected paths
// aside.
func (p Profile) writable(path string) bool {
	answer, longest := false, -1
	for _, t := range p.trees() {
		if isWithin(path, t.path) && len(t.path) >= longest {
			answer, longest = !t.readOnly, len(t.path)
		}
	}
	return answer
}

// Encode returns the profile as the helper reads it.
func (p Profile) Encode() string {
	text, err := json.Marshal(p)
	if err != nil { // plain strings, numbers and booleans always encode
		panic(err)
	}
	return string(text)
}

// Decode reads what [Profile.Encode] wrote. A field it does not know is an
// error: it could be one that keeps something out.
func Decode(text string) (Profile, error) {
	var p Profile
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, fmt.Errorf("reading the wall's profile: %w", err)
	}
	if d.More() {
		return p, errors.New("reading the wall's profile: there is more than one")
	}
	return p, nil
}

// Key is equal for two profiles that give the same sandbox on the disk as it is now. A mask covers
// the file that was there when the sandbox was entered: if another file has replaced it since, for
// example because an editor saved it, the key differs and a new sandbox is needed.
func (p Profile) Key() string {
	h := sha256.New()
	fmt.Fprintln(h, p.Encode())
	for _, list := range [][]string{p.Roots, p.Masks, p.Protected} {
		for _, path := range list {
			fmt.Fprintln(h, identity(path))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// identity names what is at path now: links on the way are followed, and what
// is not there has a name too.
func identity(path string) string {
	link, err := os.Lstat(path)
	if err != nil {
		return "-"
	}
	name := inode(link)
	if link.Mode()&os.ModeSymlink != 0 {
		if target, err := os.Stat(path); err == nil {
			name += ">" + inode(target)
		}
	}
	return name
}

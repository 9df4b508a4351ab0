package files

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/helve-dev/helve/internal/disk"
)

// A gatherer collects the files that may be lost.
type gatherer struct {
	files    *Workspace
	by       By
	limits   CheckpointLimits
	deadline time.Time
	roots    []string // of the workspace, real
	found    []candidate
	seen     map[string]bool
	bulk     []string // folders that are looked at last
	left     leftovers
	names    int // bytes of names so far
	looked   int // entries so far
	bytes    int64
	group    int
	over     bool
	repos    map[string]*repository
}

const (
	// maxNames limits the record of a checkpoint: a set has to fit into 8 MiB, and an entry takes
	// some 200 bytes beside its names.
	maxNames = 7 << 20
	perEntry = 200
	// maxLooked is how many entries are looked at.
	maxLooked = 2_000_000
	// maxMatches is how many names a pattern may stand for.
	maxMatches = 20_000
)

func (g *gatherer) inRoots(path string) bool {
	return slices.ContainsFunc(g.roots, func(root string) bool { return within(root, path) })
}

// timeIsUp reports whether the time limit is reached, and reports that once.
func (g *gatherer) timeIsUp(ctx context.Context) bool {
	if g.over {
		return true
	}
	g.looked++
	if g.looked%64 == 0 {
		return g.tooLate(ctx)
	}
	return false
}

func (g *gatherer) tooLate(ctx context.Context) bool {
	switch {
	case ctx.Err() != nil:
		g.over = true
	case g.looked > maxLooked:
		g.left.add("some files", "there are too many to look at")
		g.over = true
	case time.Now().After(g.deadline):
		g.left.add("some files", "there was no time to look at all of them")
		g.over = true
	}
	return g.over
}

// endangered collects the files of one danger.
func (g *gatherer) endangered(ctx context.Context, e Endangered) {
	for _, path := range g.paths(ctx, e.Path) {
		switch {
		case e.Discard != Nothing:
			g.discarded(ctx, path, e)
		case len(e.From) > 0:
			g.received(ctx, path, e)
		case e.Tree && e.Name != "":
			g.addMatching(ctx, path, e.Name)
		case e.Tree:
			g.tree(ctx, path)
		default:
			g.addFile(path, e.Write)
		}
	}
}

// paths returns the absolute names that a word stands for. The folders of each are resolved; the
// last part stays as written.
func (g *gatherer) paths(ctx context.Context, p Pattern) (out []string) {
	names := []string{p.Name}
	if p.Dir == "" {
		p.Dir = g.by.Dir
	}
	if p.Glob {
		names = g.expandPattern(ctx, p)
	}
	if rest, ok := strings.CutPrefix(p.Name, "~"); ok && (rest == "" || rest[0] == '/') {
		if home, err := os.UserHomeDir(); err == nil { // either may be meant
			names = append(names, g.paths(ctx, Pattern{Name: "." + rest, Glob: p.Glob, Dir: home})...)
		}
	}
	for _, name := range names {
		if !filepath.IsAbs(name) {
			name = p.Dir + string(filepath.Separator) + name
		}
		if len(name) > maxName || strings.IndexByte(name, 0) >= 0 {
			continue // there is no such file
		}
		out = append(out, lastReal(name))
	}
	return out
}

// lastReal resolves the links of a name except its last part, unless the name ends in a slash.
func lastReal(name string) string {
	base := filepath.Base(name)
	if base == "." || base == ".." || os.IsPathSeparator(name[len(name)-1]) || isRoot(filepath.Clean(name)) {
		return realName(name)
	}
	return filepath.Join(realName(name[:len(name)-len(base)]), base)
}

// expandPattern returns the names that a pattern matches, or the pattern itself if there are none,
// as in the shell.
func (g *gatherer) expandPattern(ctx context.Context, p Pattern) []string {
	root, rest := p.Dir+string(filepath.Separator), p.Name
	if filepath.IsAbs(p.Name) {
		root, rest = filepath.VolumeName(p.Name)+string(filepath.Separator), strings.TrimLeft(p.Name, "/")
	}
	found := []string{root}
	parts := strings.Split(rest, "/")
	for i, part := range parts {
		var next []string
		for _, at := range found {
			next = append(next, g.matchPart(ctx, at, part, i == len(parts)-1)...)
			if len(next) > maxMatches {
				g.left.add(p.Name, "it stands for too many names")
				return next[:maxMatches]
			}
		}
		found = next
	}
	if len(found) == 0 {
		return []string{plainText(p.Name)}
	}
	return found
}

// matchPart extends a name by the matches of one part of a pattern.
func (g *gatherer) matchPart(ctx context.Context, at, part string, last bool) []string {
	slash := ""
	if !last {
		slash = "/"
	}
	if !strings.ContainsAny(part, "*?[") {
		return []string{at + plainText(part) + slash}
	}
	entries, err := os.ReadDir(at)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if g.timeIsUp(ctx) {
			break
		}
		name := e.Name()
		if name[0] == '.' && part[0] != '.' {
			continue
		}
		if mayMatch(part, name) {
			out = append(out, at+name+slash)
		}
	}
	return out
}

// mayMatch reports whether a name may match a pattern. An invalid pattern may match anything.
func mayMatch(pattern, name string) bool {
	pattern = strings.ReplaceAll(pattern, "[!", "[^")
	ok, err := filepath.Match(pattern, name)
	return ok || err != nil || strings.Contains(pattern, "[[:") || strings.Contains(pattern, "(")
}

// addFile collects one name. If it is written to, the target of a link counts.
func (g *gatherer) addFile(path string, write bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return // nothing to lose
	}
	if !g.inRoots(path) {
		g.left.add(path, "outside the workspace")
		return
	}
	if info.IsDir() {
		return
	}
	g.add(path, info)
	if info.Mode()&fs.ModeSymlink == 0 || !write {
		return
	}
	real := realName(path)
	if info, err := os.Lstat(real); err == nil && info.Mode().IsRegular() {
		if !g.inRoots(real) {
			g.left.add(path, "leads outside the workspace")
			return
		}
		g.add(real, info)
	}
}

// received collects what is overwritten when something is copied or moved to a name.
func (g *gatherer) received(ctx context.Context, to string, e Endangered) {
	var from []string
	for _, name := range e.From {
		from = append(from, g.paths(ctx, name)...)
	}
	into, err := os.Stat(to)
	folder := err == nil && into.IsDir()
	for _, src := range from {
		target := to
		if folder {
			target = filepath.Join(realName(to), filepath.Base(src))
		}
		before := len(g.found)
		info, err := os.Stat(src)
		if err == nil && info.IsDir() {
			g.merged(ctx, src, target)
		} else {
			g.addFile(target, !e.Move)
		}
		if e.Move && len(g.found) > before {
			g.tree(ctx, src)
		}
	}
	if len(from) == 0 {
		g.addFile(to, true)
	}
}

// merged collects what is overwritten when a folder is copied to a name: the files that are in
// both.
func (g *gatherer) merged(ctx context.Context, src, to string) {
	queue := []string{""}
	for len(queue) > 0 && !g.timeIsUp(ctx) {
		rel := queue[0]
		queue = queue[1:]
		into, err := os.Lstat(filepath.Join(to, rel))
		if err != nil || !into.IsDir() {
			g.addFile(filepath.Join(to, rel), true)
			continue
		}
		entries, err := os.ReadDir(filepath.Join(src, rel))
		if err != nil {
			continue
		}
		for _, e := range entries {
			if g.timeIsUp(ctx) {
				return
			}
			name := filepath.Join(rel, e.Name())
			if e.IsDir() {
				queue = append(queue, name)
			} else {
				g.addFile(filepath.Join(to, name), true)
			}
		}
	}
}

// tree collects a name with everything below it.
func (g *gatherer) tree(ctx context.Context, path string) {
	info, err := os.Lstat(path)
	if err != nil {
		return
	}
	if !g.inRoots(path) {
		g.left.add(path, "outside the workspace")
		for _, root := range g.roots { // but we are in it
			if within(path, root) {
				g.tree(ctx, root)
			}
		}
		return
	}
	if info.IsDir() && isBulk(filepath.Base(path)) {
		g.bulk = append(g.bulk, path)
		return
	}
	g.add(path, info)
	if !info.IsDir() {
		return
	}
	queue := []string{path}
	for len(queue) > 0 && !g.over {
		dir := queue[0]
		queue = append(queue[1:], g.addFolder(ctx, dir, func(name string) bool {
			if isBulk(filepath.Base(name)) {
				g.bulk = append(g.bulk, name)
				return false
			}
			return true
		})...)
	}
}

// addMatching collects what in a tree has a matching name. Of everything else it reads only the
// names.
func (g *gatherer) addMatching(ctx context.Context, path, pattern string) {
	if !g.inRoots(path) {
		g.tree(ctx, path) // says so
		return
	}
	queue := []string{path}
	for len(queue) > 0 && !g.over {
		dir := queue[0]
		queue = queue[1:]
		d, err := disk.Open(dir, os.O_RDONLY|dirFlag)
		if err != nil {
			continue
		}
		entries, _ := d.ReadDir(-1) // what can be listed is looked at
		d.Close()
		for _, e := range entries {
			name := filepath.Join(dir, e.Name())
			switch {
			case g.timeIsUp(ctx):
				return
			case mayMatch(pattern, e.Name()):
				g.tree(ctx, name)
			case e.IsDir() && !g.files.History.Holds(name):
				queue = append(queue, name)
			}
		}
	}
}

// addFolder collects the contents of a folder, and returns the subfolders to enter. The subfolders
// themselves are always collected.
func (g *gatherer) addFolder(ctx context.Context, dir string, enter func(string) bool) (below []string) {
	d, err := disk.Open(dir, os.O_RDONLY|dirFlag)
	if err != nil {
		g.left.add(g.files.relativeTitle(g.by.Dir, dir), "can not be listed")
		return nil
	}
	defer d.Close()
	for {
		entries, err := d.ReadDir(1024)
		for _, e := range entries {
			if g.timeIsUp(ctx) {
				return below
			}
			info, err := e.Info()
			if err != nil {
				continue // gone by itself
			}
			name := filepath.Join(dir, e.Name())
			if !info.IsDir() {
				g.add(name, info)
			} else if !g.files.History.Holds(name) && enter(name) {
				g.add(name, info)
				below = append(below, name)
			}
		}
		if err != nil || len(entries) == 0 {
			return below
		}
	}
}

// isBulk reports whether a folder is one that tools generate: such folders come last, and
// completely or not at all.
func isBulk(name string) bool {
	switch name {
	case ".git", "node_modules", ".venv", "venv", "target", "dist", "build", "out", "__pycache__", ".cache", ".next", ".gradle", ".tox",
		".terraform", "bower_components", ".pnpm-store", ".yarn", ".mypy_cache", ".pytest_cache", "DerivedData", "Pods", "_build", "deps":
		return true
	}
	return false
}

// bulky collects the postponed folders, each completely or not at all.
func (g *gatherer) bulky(ctx context.Context) {
	for len(g.bulk) > 0 && !g.over {
		top := g.bulk[0]
		g.bulk = g.bulk[1:]
		found, names, bytes := len(g.found), g.names, g.bytes
		g.group++
		if info, err := os.Lstat(top); err == nil {
			g.add(top, info)
		}
		queue := []string{top}
		for len(queue) > 0 && !g.over && g.bytes <= g.limits.Bytes {
			dir := queue[0]
			queue = append(queue[1:], g.addFolder(ctx, dir, func(string) bool { return true })...)
		}
		if !g.over && g.bytes <= g.limits.Bytes {
			continue
		}
		for _, one := range g.found[found:] {
			delete(g.seen, one.path)
		}
		g.found, g.names, g.bytes = g.found[:found], names, bytes
		g.left.add(g.files.relativeTitle(g.by.Dir, top), "too many files, or too many bytes")
		if g.looked < maxLooked && ctx.Err() == nil && time.Now().Before(g.deadline) {
			g.over = false // there may be room for the next
		}
	}
	for _, top := range g.bulk {
		g.left.add(g.files.relativeTitle(g.by.Dir, top), "there was no room for it, or no time to look at it")
	}
}

// add records a file that may be lost.
func (g *gatherer) add(path string, info fs.FileInfo) {
	if g.seen[path] || g.files.History.Holds(path) {
		return
	}
	if t := info.Mode().Type(); t != 0 && t != fs.ModeDir && t != fs.ModeSymlink {
		g.left.add(g.files.relativeTitle(g.by.Dir, path), "neither a file nor a link")
		return
	}
	g.names += 2*quotedSize(path) + perEntry
	g.bytes += info.Size()
	if len(g.found) >= g.limits.Files || g.names > maxNames {
		if !g.over {
			g.left.add("some files", fmt.Sprintf("there are more than %d", len(g.found)))
		}
		g.over = true
		return
	}
	g.seen[path] = true
	g.found = append(g.found, candidate{path: path, stamp: stampFrom(info), group: g.group})
}

// quotedSize returns the maximum length of a name in the record.
func quotedSize(name string) int {
	if !utf8.ValidString(name) {
		return 2*len(name) + 16
	}
	n := len(name)
	for i := range len(name) {
		if c := name[i]; c < 0x20 || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' || c == 0xe2 {
			n += 5
		}
	}
	return n
}

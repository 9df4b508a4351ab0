package builtin

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/search"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

//go:embed list.md
var listDoc string

const (
	// listFiles is how many files one listing shows.
	listFiles = 100
	// listGlobs limits the number of ignore globs, and listGlobText their total bytes.
	listGlobs    = 1000
	listGlobText = 64 << 10
)

// errListLate says that a listing has taken too long.
var errListLate = errors.New("the time for the listing is over")

type listInput struct {
	Path   string   `json:"path,omitempty" jsonschema:"the folder to list; the working folder when left out"`
	Ignore []string `json:"ignore,omitempty" jsonschema:"globs of what else to leave out"`
}

// list shows the files below a folder as a tree.
func list(files *files.Workspace) tool.Tool {
	spec := tool.Spec{Name: "list", Description: listDoc, ReadOnly: true}
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in listInput) (*tool.Result, error) {
		if err := checkGlobs(in.Ignore); err != nil {
			return nil, err
		}
		name := in.Path
		if name == "" {
			name = "."
		}
		asks := permission.NewBatch(c)
		dir, err := files.ResolveFolder(ctx, asks, c.Dir, name)
		if err != nil {
			return nil, badName(err)
		}
		ask := permission.Request{Permission: "list", Metadata: map[string]any{"path": dir.String()}}
		_ = files.AskFor(ctx, asks, ask, dir) // it only notes
		if err := asks.Submit(ctx); err != nil {
			return nil, err
		}
		if !files.IsFolder(dir) {
			return nil, tool.Fail("not-found", "No such file or directory: '%s'", dir)
		}
		within, stop := context.WithTimeoutCause(ctx, searchBudget, errListLate)
		defer stop()
		return listing(within, files, dir, in.Ignore)
	})
}

// listing returns the tree of a folder, as far as the time limit allows.
func listing(ctx context.Context, files *files.Workspace, dir files.Path, ignore []string) (*tool.Result, error) {
	found, skipped, err := collectFiles(ctx, files, dir, ignore)
	late := errors.Is(err, errListLate)
	if err != nil && !late {
		return nil, err
	}
	out := shownName(dir.String()) + "/\n" + tree(found)
	notes := notices(skipped, "listed", "")
	if late {
		notes = append([]string{lateNotice(searchBudget)}, notes...)
	}
	for _, note := range notes {
		out += "\n" + note + "\n"
	}
	return &tool.Result{
		Title: dir.Title(), Output: out,
		Metadata: map[string]any{"count": len(found), "truncated": late || len(found) >= listFiles},
	}, nil
}

// checkGlobs refuses too many globs, since each name is compared with all of them.
func checkGlobs(globs []string) error {
	size := 0
	for _, g := range globs {
		size += len(g)
	}
	if len(globs) > listGlobs || size > listGlobText {
		return tool.Fail("invalid-pattern", "too many globs to leave out: at most %d, of %d bytes together", listGlobs, listGlobText)
	}
	return nil
}

// collectFiles returns the first files of a folder that are not ignored. When the time is up, the
// error is errListLate, and the files found so far are returned too.
func collectFiles(ctx context.Context, files *files.Workspace, dir files.Path, ignore []string) (found []string, skipped search.Skipped, err error) {
	globs := make([]string, 0, len(ignore))
	for _, entry := range []string{
		"node_modules/", "__pycache__/", ".git/", "dist/", "build/", "target/", "vendor/", "bin/", "obj/", ".idea/", ".vscode/",
		".zig-cache/", "zig-out", ".coverage", "coverage/", "tmp/", "temp/", ".cache/", "cache/", "logs/", ".venv/", "venv/", "env/",
	} {
		globs = append(globs, "!"+entry+"*")
	}
	for _, entry := range ignore {
		globs = append(globs, "!"+entry)
	}
	opt := search.Options{
		Dir: dir.Real(), Exact: true, Worktree: files.Worktree, Globs: globs, Hidden: true, Max: listFiles, Skipped: &skipped,
	}
	for name, err := range search.Files(ctx, opt) {
		switch {
		case ctx.Err() != nil:
			return found, skipped, context.Cause(ctx)
		case errors.Is(err, fs.ErrNotExist):
			return nil, skipped, tool.Fail("not-found", "No such file or directory: '%s'", dir)
		case errors.Is(err, fs.ErrPermission):
			return nil, skipped, tool.Fail("permission", "Permission denied: '%s'", dir)
		case err != nil:
			return nil, skipped, fmt.Errorf("listing %s: %w", dir, err)
		}
		if found = append(found, name); len(found) == listFiles {
			break
		}
	}
	return found, skipped, nil
}

// tree draws names as a tree: at every level the folders, then the files.
func tree(names []string) string {
	folders := map[string][]string{} // the folders in a folder
	within := map[string][]string{}  // the files in a folder
	known := map[string]bool{".": true}
	for _, name := range names {
		dir := path.Dir(name)
		within[dir] = append(within[dir], path.Base(name))
		for ; !known[dir]; dir = path.Dir(dir) {
			known[dir] = true
			folders[path.Dir(dir)] = append(folders[path.Dir(dir)], dir)
		}
	}
	var out strings.Builder
	var draw func(dir string, depth int)
	draw = func(dir string, depth int) {
		indent := strings.Repeat("  ", depth)
		slices.Sort(folders[dir])
		for _, sub := range folders[dir] {
			out.WriteString(indent + text.VisibleLine(path.Base(sub)) + "/\n")
			draw(sub, depth+1)
		}
		slices.Sort(within[dir])
		for _, file := range within[dir] {
			out.WriteString(indent + text.VisibleLine(file) + "\n")
		}
	}
	draw(".", 1)
	return out.String()
}

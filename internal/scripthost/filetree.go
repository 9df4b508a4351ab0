package scripthost

import (
	"context"
	"errors"
	"github.com/helve-dev/helve/internal/files"
	"io/fs"
	"path/filepath"
	"syscall"
)

// askBatch is how many files are asked about at once.
const askBatch = 100

// askTree requests permission for those files below a removed or moved folder that the rules treat
// specially: an answer about the folder does not cover a rule about one of them.
func (w *Host) askTree(ctx context.Context, by *work, at entryPath, to *entryPath) error {
	if at.ours && (to == nil || to.ours) {
		return nil
	}
	t := w.newTree(by, at, to)
	d, err := at.open()
	if err != nil {
		return err
	}
	defer d.close()
	if err := t.walkBelow(ctx, d, at.base, ""); err != nil {
		return err
	}
	for len(t.edit) > 0 {
		n := min(len(t.edit), askBatch)
		meta := map[string]any{"action": "remove", "filepath": t.edit[0].String()}
		if to != nil {
			meta["action"], meta["to"] = "rename", to.path.String()
		}
		if err := w.opt.Files.AskEdit(ctx, by, meta, t.edit[:n]...); err != nil {
			return err
		}
		t.edit = t.edit[n:]
	}
	for _, p := range t.read {
		if err := w.opt.Files.AskContents(ctx, by, p); err != nil {
			return err
		}
	}
	return nil
}

// A ruleTree is what lies below a folder, checked for what the rules treat specially.
type ruleTree struct {
	files       *files.Workspace
	at          entryPath
	to          *entryPath // where it moves; nil where it is removed
	mayEdit     func(names ...string) bool
	mayRead     func(names ...string) bool
	names       func(file string) []string
	protected   map[string]bool
	edit, read  []files.Path
	from, under string // the real names of both
}

func (w *Host) newTree(by *work, at entryPath, to *entryPath) *ruleTree {
	home := w.home(by)
	t := &ruleTree{
		files: w.opt.Files, at: at, to: to, names: w.opt.Files.Names(home), protected: map[string]bool{},
		from: filepath.Join(at.dir, at.base),
	}
	t.mayEdit, _ = by.Filter("edit")
	if to != nil {
		t.mayRead, _ = by.Filter("read")
		t.under = filepath.Join(to.dir, to.base)
	}
	for _, name := range w.opt.Files.Protected(home) {
		t.protected[name] = true
	}
	return t
}

func (t *ruleTree) walkBelow(ctx context.Context, d dirHandle, base, below string) error {
	in, err := d.openBelow(base)
	if err != nil {
		return err
	}
	defer in.close()
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := in.names()
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(below, e.Name())
		t.addFile(name, e)
		if !e.IsDir() {
			continue
		}
		if err := t.walkBelow(ctx, in, e.Name(), name); err != nil && !isMissing(err) {
			return err
		}
	}
	return nil
}

// addFile notes a file that has to be asked about by itself.
func (t *ruleTree) addFile(name string, e fs.DirEntry) {
	if !t.at.ours && t.singled(filepath.Join(t.from, name), e) {
		t.edit = append(t.edit, t.files.Beside(t.at.path, filepath.Join(t.at.path.String(), name)))
	}
	if t.to == nil {
		return
	}
	if !t.to.ours && t.singled(filepath.Join(t.under, name), e) {
		t.edit = append(t.edit, t.files.Beside(t.to.path, filepath.Join(t.to.path.String(), name)))
	}
	if t.mayRead != nil && !e.IsDir() && !t.at.ours && !t.mayRead(t.names(filepath.Join(t.from, name))...) {
		t.read = append(t.read, t.files.Beside(t.at.path, filepath.Join(t.at.path.String(), name)))
	}
}

func (t *ruleTree) singled(real string, e fs.DirEntry) bool {
	return t.mayEdit != nil && !t.mayEdit(t.names(real)...) || t.protected[real] || t.guarded(real)
}

// guarded reports whether a name is one of those that affect what runs, or what is allowed, later.
// The workspace knows which of them count where.
func (t *ruleTree) guarded(real string) bool {
	_, ok := t.files.Singled(real)
	return ok
}

// removeTree removes a folder with its contents, and follows no link.
func removeTree(ctx context.Context, d dirHandle, base string) error {
	in, err := d.openBelow(base)
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP) {
		return gone(d.unlink(base)) // another process has put something else there
	}
	if err != nil {
		return gone(err)
	}
	entries, err := in.names()
	for _, e := range entries {
		if err != nil {
			break
		}
		if err = ctx.Err(); err != nil {
			break
		}
		if e.IsDir() {
			err = removeTree(ctx, in, e.Name())
		} else {
			err = gone(in.unlink(e.Name()))
		}
	}
	in.close()
	if err != nil {
		return err
	}
	return gone(d.rmdir(base))
}

// gone returns nil if the error means that the file does not exist.
func gone(err error) error {
	if isMissing(err) {
		return nil
	}
	return err
}

package plugins

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/tool"
)

// A Programs runs tools and hooks that are programs. It may be used from several goroutines, and
// keeps nothing open between calls.
type Programs struct {
	opt      Services
	log      *slog.Logger
	patience time.Duration // for a description
}

// NewPrograms returns a new Programs. It reads and starts nothing.
func NewPrograms(opt Services) *Programs {
	r := &Programs{opt: opt, log: opt.Logger, patience: describeTime}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	return r
}

// ProgramFiles returns the programs below tool/ and tools/ of a config folder, sorted: executable
// files other than scripts of the embedded engine, notes and data. It returns none for a folder
// that cannot be read.
func ProgramFiles(folder string) []string {
	var files []string
	for _, sub := range []string{"tool", "tools"} {
		entries, _ := os.ReadDir(filepath.Join(folder, sub))
		for _, e := range entries {
			if name := filepath.Join(folder, sub, e.Name()); candidate(e.Name()) && executable(name) {
				files = append(files, name)
			}
		}
	}
	slices.Sort(files)
	return files
}

// NotExecutable returns the files below tool/ and tools/ of a config folder that look like programs
// but are not executable, sorted: those with a #! line, the extension of a script or a description
// beside them. A name that begins with _ is a part of another program.
func NotExecutable(folder string) []string {
	var files []string
	for _, sub := range []string{"tool", "tools"} {
		entries, _ := os.ReadDir(filepath.Join(folder, sub))
		for _, e := range entries {
			if name := filepath.Join(folder, sub, e.Name()); candidate(e.Name()) && !strings.HasPrefix(e.Name(), "_") && sleeps(name) {
				files = append(files, name)
			}
		}
	}
	slices.Sort(files)
	return files
}

// sleeps reports whether a file is a program without permission to execute.
func sleeps(name string) bool {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || executable(name) {
		return false
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".py", ".sh", ".rb", ".pl", ".php", ".lua":
		return true
	}
	if beside, _, err := sidecar(name); beside != "" || err != nil {
		return true
	}
	return interpreter(name) != ""
}

// candidate reports whether a file of the name may be a program.
func candidate(name string) bool {
	if strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") { // the copy of an editor
		return false
	}
	ending := strings.ToLower(filepath.Ext(name))
	if runtime.GOOS == "windows" {
		return ending == ".exe" || ending == ".cmd" || ending == ".bat"
	}
	switch ending {
	case ".js", ".ts", ".mjs", ".cjs", ".jsx", ".tsx", ".mts", ".cts", ".json", ".md", ".txt":
		return false
	}
	return true
}

func executable(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}

// programBase is the name of a program without folder and ending.
func programBase(file string) string {
	name := filepath.Base(file)
	if cut := strings.TrimSuffix(name, filepath.Ext(name)); cut != "" {
		return cut
	}
	return name
}

// shown returns the name of a file as shown to people and models.
func (r *Programs) shown(file string) string {
	root := r.opt.Worktree
	if root == "" || filepath.Dir(root) == root { // no project: the whole path
		return line(file, maxPath)
	}
	if rel, err := filepath.Rel(root, file); err == nil && filepath.IsLocal(rel) {
		file = rel
	}
	return line(file, maxPath)
}

// prepare returns how a program is started for a call.
func (r *Programs) prepare(c *tool.Call, path string, args ...string) process.Program {
	var p process.Program
	if r.opt.Programs != nil {
		p = r.opt.Programs(c)
	}
	p.Path, p.Args, p.Dir = path, args, r.dir(c)
	p.Set = maps.Clone(p.Set)
	if p.Set == nil {
		p.Set = map[string]string{}
	}
	for name, value := range map[string]string{
		"HELVE_TOOL": c.Tool, "HELVE_SESSION_ID": c.Session, "HELVE_CALL_ID": c.ID, "HELVE_AGENT": c.Agent,
		"HELVE_DIRECTORY": p.Dir, "HELVE_WORKTREE": r.opt.Worktree,
	} {
		p.Set[name] = strings.ReplaceAll(value, "\x00", "") // no variable can hold one
	}
	return p
}

func (r *Programs) dir(c *tool.Call) string {
	if c.Dir != "" {
		return c.Dir
	}
	return r.opt.Dir
}

func (r *Programs) quiet(name string) *tool.Call {
	if r.opt.Quiet == nil {
		return &tool.Call{Tool: name, Dir: r.opt.Dir}
	}
	return r.opt.Quiet(name)
}

// A hookContext is what a program learns about a call beside its arguments.
type hookContext struct {
	Session   string `json:"sessionID"`
	Message   string `json:"messageID"`
	Call      string `json:"callID"`
	Agent     string `json:"agent"`
	Directory string `json:"directory"`
	Worktree  string `json:"worktree"`
}

func (r *Programs) context(c *tool.Call) hookContext {
	return hookContext{
		Session: c.Session, Message: c.Message, Call: c.ID, Agent: c.Agent, Directory: r.dir(c), Worktree: r.opt.Worktree,
	}
}

// encodeJSON writes a question: one line, as plain as JSON can be, so that a shell
// can read it.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// unknownToEnv reports whether a script did not begin, because the env of its
// first line found no program of the name that follows.
func unknownToEnv(file string, reply process.Reply) bool {
	const notFound = 127
	said, _, _ := strings.Cut(reply.Said, "\n")
	_, what, ok := strings.Cut(said, "env: ")
	if reply.Code != notFound || !ok {
		return false
	}
	words := strings.Fields(interpreter(file))
	if len(words) == 0 || filepath.Base(words[0]) != "env" {
		return false
	}
	i := slices.IndexFunc(words[1:], func(w string) bool { return !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") })
	return i >= 0 && strings.Contains(what, words[1+i])
}

// unstarted says why a program could not be started, and what to do. name is the name shown.
func unstarted(name, file string, err error) string {
	first := interpreter(file)
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return name + " could not be started, because no program of that name is in PATH. Install it or give its whole path."
	case errors.Is(err, fs.ErrNotExist) && strings.HasSuffix(first, "\r"):
		return name + " could not be started: its first line ends with a carriage return. Save it with line feeds alone, as with 'sed -i \"s/\\r$//\"'."
	case errors.Is(err, fs.ErrNotExist) && first != "":
		return name + " could not be started: what its first line names is not installed (" + line(first, maxQuote) + "). Install it or change that line."
	case errors.Is(err, fs.ErrNotExist):
		return name + " could not be started, because it or the folder to start it in is not there. Look at its name and path."
	case errors.Is(err, fs.ErrPermission):
		return name + " could not be started: permission denied. Make it executable with 'chmod +x'."
	case errors.Is(err, syscall.ENOEXEC):
		return name + " could not be started: it is neither a program of this kind of machine nor does its first line say what runs it. Begin it with a line such as '#!/bin/sh'."
	}
	why := err.Error()
	for _, said := range []string{"starting ", "fork/exec "} { // and the name, which is shown already
		why = strings.TrimPrefix(why, said+file+": ")
	}
	return name + " could not be started: " + readable(why, maxComplaint)
}

// interpreter returns what follows the #! of a script; "" for another file.
func interpreter(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 256)
	n, _ := f.Read(head)
	rest, ok := bytes.CutPrefix(head[:n], []byte("#!"))
	if !ok {
		return ""
	}
	rest, _, _ = bytes.Cut(rest, []byte("\n"))
	return strings.TrimLeft(string(rest), " \t")
}

// The limits of a program's output that is shown.
const (
	maxQuote     = 200     // bytes of a name or one line
	maxPath      = 4 << 10 // bytes of a path
	maxComplaint = 8 << 10 // bytes of an error
)

// line is a text of a program on one line, cut and made safe to show.
func line(s string, most int) string {
	head, cut := text.Cut(strings.TrimSpace(s), most)
	head = text.VisibleLine(head)
	if cut {
		head += "…"
	}
	return head
}

// readable is a longer text of a program, cut and made safe to show.
func readable(s string, most int) string {
	head, cut := text.Cut(strings.TrimSpace(s), most)
	if text.HasHidden(head) {
		head = text.Visible(head)
	}
	if cut {
		head += "\n… (cut)"
	}
	return head
}

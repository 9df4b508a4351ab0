package bundle_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/bundle"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write what the archives' trees give into their want sections")

// TestArchives builds the trees of testdata/*.txtar and runs them.
//
// A file of an archive is a file of the config folder, but for those below
// above/ (the folder around it), outside/ (one that may not be read) and
// virtual/ (a virtual module, its name URL-escaped). Lines of the comment:
//
//	link NEW OLD       make a symbolic link in the config folder
//	also FOLDER        allow a folder
//	big NAME BYTES     a file of a size, a comment and then "export default 1"
//	limit BYTES        MaxFile
//
// The want section has a line for every export of every file (functions are
// called), and for every problem and need.
func TestArchives(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal(archives, err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			tree := plant(t, a)
			r, err := bundle.Build(context.Background(), tree.options)
			got := ""
			if err != nil {
				got = "fails: " + err.Error() + "\n"
			} else {
				got = tree.describe(r) + runNode(t, r)
			}
			got = tree.mask(got)
			if *update {
				a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return f.Name == "want" })
				a.Files = append(a.Files, txtar.File{Name: "want", Data: []byte(got)})
				if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := gocmp.Diff(tree.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if err == nil && !r.Inputs.Fresh(tree.options) && !r.Inputs.Unsure {
				t.Error("the result is not fresh right after it was made")
			}
		})
	}
}

// A tree is an archive on disk.
type tree struct {
	top     string
	options bundle.Options
	want    string
}

func (tr *tree) mask(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, tr.options.Root, "$ROOT"), tr.top, "$TOP")
}

func plant(t *testing.T, a *txtar.Archive) *tree {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tr := &tree{top: top, options: bundle.Options{Root: filepath.Join(top, "above", "root"), Virtual: map[string]string{}}}
	for _, f := range a.Files {
		switch first, rest, _ := strings.Cut(f.Name, "/"); first {
		case "want":
			tr.want = string(f.Data)
		case "virtual":
			name, err := url.PathUnescape(rest)
			if err != nil {
				t.Fatal(err)
			}
			tr.options.Virtual[name] = string(f.Data)
		case "above", "outside":
			write(t, filepath.Join(top, f.Name), f.Data)
		default:
			write(t, filepath.Join(tr.options.Root, f.Name), f.Data)
		}
	}
	tr.obey(t, string(a.Comment))
	for _, dir := range []string{"tool", "tools", "plugin", "plugins"} {
		entries, _ := os.ReadDir(filepath.Join(tr.options.Root, dir))
		for _, e := range entries {
			if ext := filepath.Ext(e.Name()); ext == ".ts" || ext == ".js" {
				tr.options.Files = append(tr.options.Files, dir+"/"+e.Name())
			}
		}
	}
	return tr
}

func (tr *tree) obey(t *testing.T, comment string) {
	t.Helper()
	for line := range strings.Lines(comment) {
		var err error
		words := strings.Fields(line)
		switch {
		case len(words) == 3 && words[0] == "link":
			at := filepath.Join(tr.options.Root, words[1])
			if err = os.MkdirAll(filepath.Dir(at), 0o755); err == nil {
				err = os.Symlink(strings.ReplaceAll(words[2], "$TOP", tr.top), at)
			}
		case len(words) == 2 && words[0] == "also":
			tr.options.Also = append(tr.options.Also, strings.ReplaceAll(words[1], "$TOP", tr.top))
		case len(words) == 2 && words[0] == "limit":
			_, err = fmt.Sscan(words[1], &tr.options.MaxFile)
		case len(words) == 3 && words[0] == "big":
			var size int
			_, err = fmt.Sscan(words[2], &size)
			write(t, filepath.Join(tr.options.Root, words[1]), append(bytes.Repeat([]byte("// filler\n"), size/10), "export default 1\n"...))
		}
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func (tr *tree) describe(r *bundle.Result) string {
	var b strings.Builder
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "folder problem %s\n", p)
	}
	for _, f := range r.Files {
		for _, p := range f.Problems {
			word := cmp.Or(map[bool]string{true: "late problem"}[p.Late], "problem")
			fmt.Fprintf(&b, "%s %s: %s", word, f.Name, p)
			if p.Package != "" {
				fmt.Fprintf(&b, " [%s]", p.Package)
			}
			b.WriteByte('\n')
		}
		for _, n := range f.Needs {
			fmt.Fprintf(&b, "need %s: %s at %s:%d", f.Name, n.API, n.File, n.Line)
			if n.Guarded {
				b.WriteString(" guarded")
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// runner is a Node program that runs a bundle and tells what it exports, a
// line each. A function is called and what it gives is told.
const runner = `
const code = require("fs").readFileSync(0, "utf8");
const exports_ = {};
const need = (name) => { throw new Error("asked for " + name); };
const at = (error) => (String(error.stack).match(/bundle\.js:(\d+):(\d+)/) || []).slice(1, 3).map(Number);
new (require("vm").Script)("(function (exports, require, module) {" + code + "\n})", { filename: "bundle.js" }).runInThisContext()(exports_, need, { exports: exports_ });
(async () => {
  const lines = [];
  for (const { file, load } of exports_.files) {
    const { exports, error } = await load();
    if (error) { lines.push({ text: file + " throws " + error.name + ": " + error.message, at: at(error) }); continue; }
    for (const name of Object.keys(exports).sort()) {
      let value = exports[name], call = "";
      if (typeof value === "function") {
        call = "()";
        try { value = await value(); } catch (error) { lines.push({ text: file + " " + name + "() throws " + error.name + ": " + error.message, at: at(error) }); continue; }
      }
      lines.push({ text: file + " " + name + call + " = " + (value === undefined ? "undefined" : JSON.stringify(value)) });
    }
  }
  process.stdout.write(JSON.stringify(lines));
})();
`

// runNode runs a program and gives a line for each export. Where something
// was thrown it tells the place in the sources.
func runNode(t *testing.T, r *bundle.Result) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed, so what the program does can not be seen")
	}
	cmd := exec.Command(node, "-e", runner)
	cmd.Stdin = strings.NewReader(r.Code)
	cmd.Dir = t.TempDir()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s\n%s", err, stderr.String(), r.Code)
	}
	var lines []struct {
		Text string
		At   []int
	}
	if err := json.Unmarshal(out, &lines); err != nil {
		t.Fatalf("node said %q: %v", out, err)
	}
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.Text)
		if len(l.At) == 2 {
			column := l.At[1]
			if l.At[0] == 1 {
				column -= len("(function (exports, require, module) {")
			}
			if file, line, column := r.Position(l.At[0], column); file != "" {
				fmt.Fprintf(&b, " at %s:%d:%d", file, line, column)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

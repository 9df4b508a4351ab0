//go:build unix

package scripthost

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/plugins"
	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A bunLine is a script and what Bun's shell makes of it, in a folder that the
// lines before have left.
type bunLine struct {
	text           string
	code           int
	stdout, stderr string // <dir> is the folder
}

const (
	usageMv    = "usage: mv [-f | -i | -n] [-hv] source target\n       mv [-f | -i | -n] [-v] source ... directory\n"
	usageRm    = "usage: rm [-f | -i] [-dIPRrvWx] file ...\n       unlink [--] file\n"
	usageMkdir = "usage: mkdir [-pv] [-m mode] directory_name ...\n"
	usageTouch = "usage: touch [-A [-][[hh]mm]SS] [-achm] [-r file] [-t [[CC]YY]MMDDhhmm[.SS]]\n       [-d YYYY-MM-DDThh:mm:SS[.frac][tz]] file ...\n"
	noSuch     = ": No such file or directory\n"
)

func bunFileLines() []bunLine {
	return []bunLine{
		{"mkdir d", 0, "", ""},
		{"mkdir d", 1, "", "mkdir: <dir>/d: File exists\n"},
		{"mkdir", 1, "", usageMkdir},
		{"mkdir -p", 1, "", usageMkdir},
		{"mkdir -z x", 1, "", "mkdir: illegal option -- \n"},
		{"mkdir --help", 1, "", "mkdir: illegal option -- help\n"},
		{"mkdir -m 700 x", 1, "", "mkdir: unsupported option, please open a GitHub issue -- -m \n"},
		{"mkdir d/no/such", 1, "", "mkdir: <dir>/d/no/such" + noSuch},
		{"mkdir -pv d/h/i && mkdir -pv d/h/i && mkdir -v d/g", 0, "<dir>/d/h\n<dir>/d/h/i\n<dir>/d/g\n", ""},
		{"mkdir --parents d/h/i/j && rm -r d/h d/g", 0, "", ""},
		{"mkdir d/1 d/1 d/2; rm -d d/1 d/2; rm -d d/1", 1, "", "mkdir: <dir>/d/1: File exists\nrm: d/1" + noSuch},
		{"touch d/a", 0, "", ""},
		{"mkdir -p d/a", 1, "", "mkdir: <dir>/d/a: File exists\n"},
		{"mkdir -p d/a/x", 1, "", "mkdir: <dir>/d/a/x: Not a directory\n"},
		{"touch no/f", 1, "", "touch: <dir>/no/f" + noSuch},
		{"touch", 1, "", usageTouch},
		{"touch -c f", 1, "", "touch: unsupported option, please open a GitHub issue -- -c\n"},
		{"touch --no-create f", 1, "", "touch: unsupported option, please open a GitHub issue -- --no-create\n"},
		{"touch -z f", 1, "", "touch: illegal option -- \n"},
		{"touch --zz f", 1, "", "touch: illegal option -- zz\n"},
		{"touch -", 1, "", "touch: illegal option -- -\n"},
		{"touch d d/.h; ls -A d | wc -l", 0, "2\n", ""},
		{"ls", 0, "d\n", ""},
		{"ls d", 0, "a\n", ""},
		{"ls -a d | head -n 2", 0, ".\n..\n", ""},
		{"ls -R | wc -l", 0, "3\n", ""}, // in any order
		{"ls -l d/a | cut -c 1-14", 0, "-rw-r--r--   1\n", ""},
		{"ls -la d | head -n 1 | cut -c 1-14", 0, "drwxr-xr-x   2\n", ""},
		{"ls -d d", 0, "d\n", ""},
		{"ls -d", 0, ".\n", ""},
		{"ls -z d", 1, "", "ls: illegal option -- z\n"},
		{"ls -lz d", 1, "", "ls: illegal option -- l\n"},
		{"ls --all d", 1, "", "ls: illegal option -- -\n"},
		{"ls nofile", 1, "", "ls: nofile" + noSuch},
		{"ls nofile d", 1, "d:\na\n", "ls: nofile" + noSuch},
		{"ls d/a", 0, "d/a\n", ""},
		{"ls ''", 1, "", "ls" + noSuch},
		{"ls nofile 2>&1 | cat", 0, "ls: nofile" + noSuch, ""},
		{"ln -s none l; ls l; ls -d l; rm l", 0, "l\nl\n", ""},
		{"mv nofile x", 2, "", "mv: nofile" + noSuch},
		{"mv nofile d", 2, "", "mv: d/nofile" + noSuch},
		{"mv a", 1, "", usageMv},
		{"mv -z a b", 1, "", "mv: illegal option -- -\n"},
		{"mv d d", 22, "", "mv: d/d: Invalid argument\n"},
		{"mv d d/x", 22, "", "mv: d: Invalid argument\n"},
		{"mv d/a no/such", 2, "", "mv: d/a" + noSuch},
		{"mv d d/a", 22, "", "mv: d: Invalid argument\n"},
		{"touch f; mv d f; rm f", 0, "", "mv: f: Not a directory\n"},
		{"touch f; mv d/a f/x", 20, "", "mv: f/x: Not a directory\n"},
		{"rm f", 0, "", ""},
		{"touch b c && mv b c d && ls d/b && ls d/c", 0, "d/b\nd/c\n", ""}, // of several names, Bun tells in any order
		{"mv d/b d/c nodir", 1, "", "mv: nodir" + noSuch},
		{"mv d/b d/c d/a", 1, "", "mv: d/a is not a directory\n"},
		{"mv -n d/b d/c && ls d/b", 0, "d/b\n", ""},
		{"mv -f d/b d/c && ls d/b", 1, "", "ls: d/b" + noSuch},
		{"mv d/c ./ && mv c d/ && ls d/c", 0, "d/c\n", ""},
		{"rm nofile", 1, "", "rm: nofile" + noSuch},
		{"rm -f nofile", 0, "", ""},
		{"rm -f", 1, "", usageRm},
		{"rm -", 1, "", usageRm},
		{"rm d", 1, "", "rm: d: Is a directory\n"},
		{"rm -d d", 1, "", "rm: d: Directory not empty\n"},
		{"rm -rz d", 1, "", "rm: illegal option -- rz\n"},
		{"rm --force d", 1, "", "rm: illegal option -- -\n"},
		{"rm -i d", 1, "", `rm: "-i" is not supported yet`},
		{"rm d/a -f", 1, "", "rm: -f" + noSuch},
		{"rm -v d/c", 0, "d/c\n", ""},
		{"rm ''", 1, "", "rm" + noSuch},
		{"ln -s d l; rm -rf l/", 1, "", "rm: l/: Not a directory\n"},
		{"rm -rf l && ls -A d", 0, ".h\n", ""},
		{"rm -rv d/", 0, "d/.h\nd/\n", ""},
		{"ls", 0, "", ""},
	}
}

func bunTextLines() []bunLine {
	return []bunLine{
		{"cd /none", 1, "", "cd: not a directory: /none\n"},
		{"cd none || echo or", 0, "or\n", "cd: not a directory: none\n"},
		{"cd a b", 1, "", "cd: too many arguments\n"},
		{"cd ''; pwd", 0, "<dir>\n", ""},
		{"mkdir s; cd s; pwd; cd -; pwd; rm -d s", 0, "<dir>/s\n<dir>\n", ""},
		{"pwd x", 1, "", "pwd: too many arguments\n"},
		{"exit 3", 3, "", ""},
		{"exit a", 1, "", "exit: numeric argument required\n"},
		{"exit 1 2", 1, "", "exit: too many arguments\n"},
		{"exit 257", 1, "", ""},
		{"which", 1, "\n", ""},
		{"basename a/b/c.ts /; basename a//; basename ''; basename", 1, "c.ts\n/\na\n\n", "usage: basename string\n"},
		{"dirname a/b/c a / /a a/b/ ''; dirname", 1, "a/b\n.\n/\n/\na\n.\n", "usage: dirname string\n"},
		{"seq 3; seq 2 4; seq 1 2 6; seq 3 1", 0, "1\n2\n3\n2\n3\n4\n1\n3\n5\n3\n2\n1\n", ""},
		{"seq 0.1 0.1 0.3; seq 1.5 3; seq -5 -4; seq 1e2 101", 0, "0.1\n0.2\n0.3\n1.5\n2.5\n-5\n-4\n100\n101\n", ""},
		{"seq -s , 3; seq -s, 2; seq -t X 2; seq -w 9 10", 0, "1,2,3,1,2,1\n2\nX9\n10\n", ""},
		{"seq; seq a; seq 1 0 3; seq 1 -1 3; seq -s", 1, "", "usage: seq [-w] [-f format] [-s string] [-t string] [first [incr]] last\n" +
			"seq: invalid argument\nseq: zero increment\nseq: needs positive increment\nseq: option requires an argument -- s\n"},
		{"seq 1000000000 | head -n 1", 0, "1\n", ""},
		{"echo -n x; echo -e 'a\\tb'; echo -E 'a\\tb'; echo -z x; echo -- x; echo a  b '' c", 0, "xa\tb\na\\tb\n-z x\n-- x\na b  c\n", ""},
		{"ls src/*.none", 1, "", "bun: no matches found: src/*.none\n"},
		{"echo a; ls *.none; echo b", 0, "a\nb\n", "bun: no matches found: *.none\n"},
		{"rm -f *.none || echo or", 0, "or\n", "bun: no matches found: *.none\n"},
		{"echo {a,b}*.none", 1, "", "bun: no matches found: {a,b}*.none\n"},
		{"X=none; echo *.$X", 1, "", "bun: no matches found: *.none\n"},
		{"touch a.ts; echo '*.ts' \\*.ts *.ts {a,b}.ts [x] a?b; rm a.ts", 0, "*.ts *.ts a.ts a.ts b.ts [x] a?b\n", ""},
		{"mkdir s; touch s/x; cd s; echo *; cd ..; rm -r s", 0, "x\n", ""},
		{"cat < nofile", 1, "", "bun: No such file or directory: nofile"},
		{"echo x > no/dir/f", 1, "", "bun: No such file or directory: no/dir/f"},
		{"mkdir s; echo x > s; rm -d s; echo after", 0, "after\n", "bun: Is a directory: s"},
		{"cat nofile", 1, "", "<cat>: nofile" + noSuch},
		{"./nope.sh; ./nope/x", 1, "", "bun: command not found: ./nope.sh\nbun: command not found: ./nope/x\n"},
	}
}

// alike takes from an output what is of the machine.
func alike(text, dir string) string {
	text = strings.ReplaceAll(text, dir, "<dir>")
	return strings.ReplaceAll(text, which("cat", "", os.Getenv("PATH"))+":", "<cat>:")
}

func TestShellBuiltins(t *testing.T) {
	for name, lines := range map[string][]bunLine{"files": bunFileLines(), "text": bunTextLines()} {
		t.Run(name, func(t *testing.T) {
			r := programRoom(t, `{"*": "allow"}`)
			for _, line := range lines {
				got := r.script(line.text)
				stdout, stderr := alike(got.stdout, r.dir), alike(got.stderr, r.dir)
				if got.Code != line.code || stdout != line.stdout || stderr != line.stderr {
					t.Errorf("%s: %d %q %q", line.text, got.Code, stdout, stderr)
				}
			}
		})
	}
}

// The tables say what Bun does.
func TestShellBuiltinsOfBun(t *testing.T) {
	bun := os.Getenv("HELVE_BUN")
	if bun == "" {
		t.Skip("HELVE_BUN names no Bun to compare with")
	}
	for name, lines := range map[string][]bunLine{"files": bunFileLines(), "text": bunTextLines()} {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, line := range lines {
				texts = append(texts, line.text)
			}
			given, err := json.Marshal(texts)
			if err != nil {
				t.Fatal(err)
			}
			source := "const all = []; for (const raw of " + string(given) + ") { const r = await Bun.$`${{ raw }}`.quiet().nothrow();" +
				" all.push([r.exitCode, r.stdout.toString(), r.stderr.toString()]); } console.log(JSON.stringify(all));"
			file := filepath.Join(t.TempDir(), "lines.ts")
			if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), bun, file)
			cmd.Dir = dir
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			var told [][3]any
			if err := json.Unmarshal(out, &told); err != nil {
				t.Fatal(err)
			}
			for i, line := range lines {
				stdout, stderr := alike(told[i][1].(string), dir), alike(told[i][2].(string), dir)
				if int(told[i][0].(float64)) != line.code || stdout != line.stdout || stderr != line.stderr {
					t.Errorf("%s: %v %q %q", line.text, told[i][0], stdout, stderr)
				}
			}
		})
	}
}

// What must not be removed is not, whatever the rules.
func TestShellRemovesNoRoot(t *testing.T) {
	r := programRoom(t, `{"*": "allow"}`)
	r.write("sub/x", "1")
	for text, want := range map[string]string{
		"rm -r .": "rm: .: Invalid argument\n", "rm -r ./": "rm: ./: Invalid argument\n", "rm -r sub/..": "rm: sub/..: Invalid argument\n",
	} {
		if got := r.script(text); got.Code != 1 || got.stderr != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
	if got := r.text(r.path("sub/x")); got != "1" {
		t.Errorf("the file holds %q", got)
	}
	// Should this one fail, the rules are against it too.
	r = programRoom(t, `{"*": "allow", "external_directory": "deny", "edit": "deny"}`)
	ended, err := r.unjudged("rm -rf --no-preserve-root sub /")
	if err != nil || ended.Code != 1 || string(ended.Err) != "rm: \"/\" may not be removed\n" {
		t.Errorf("%v %+v", err, ended)
	}
}

// unjudged runs a script that no judge has seen.
func (r *room) unjudged(text string) (ShellOutcome, error) {
	r.t.Helper()
	by, err := worker(r.ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	script, err := ParseShell(text)
	if err != nil {
		r.t.Fatal(err)
	}
	p := &programs{w: r.world}
	m := shellMachine{p: p, by: p.asker(by)}
	return script.Run(r.ctx, m, ShellSetting{Dir: r.dir, Files: m.files()})
}

// What may not be changed is refused by the judge of the line, and again where
// it would be done: by then the names are known.
func TestShellBuiltinsAreGuarded(t *testing.T) {
	rules := `{"*": "allow", "external_directory": "deny", "read": {"*": "allow", "*.env": "deny"}, "edit": {"*": "allow", "*.lock": "deny"}}`
	r := programRoom(t, rules)
	r.write("a.lock", "locked")
	r.write("d/b.lock", "locked")
	r.write("a.env", "SECRET=1")
	r.write("plain", "1")
	if err := os.WriteFile(filepath.Join(r.out, "x"), []byte("outside"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(r.out, r.path("link")); err != nil {
		t.Fatal(err)
	}
	commands := [][]string{
		{"rm", "a.lock"}, {"rm", "-f", "a.lock"}, {"rm", "-rf", "d"}, {"touch", "a.lock"}, {"touch", "new.lock"}, {"mkdir", "-p", "x.lock"}, {"mkdir", "-p", "x.lock/y"},
		{"mkdir", "x.lock"}, {"mv", "a.lock", "plain2"}, {"mv", "plain", "a.lock"}, {"mv", "d", "e"}, {"mv", "a.env", "readable"},
		{"rm", "../out/x"}, {"rm", "link/x"}, {"touch", "link/y"}, {"mkdir", "link/y"}, {"mv", "plain", "link/y"}, {"mv", "link/x", "y"},
		{"mv", "plain", "link"}, {"ls", "../out"}, {"ls", "link"}, {"ls", "-R", "link/"}, {"rm", r.out + "/x"}, {"mv", "plain", r.out},
	}
	refusals := func(how string, do func(args []string) error) {
		for _, args := range commands {
			var no *Refusal
			var fail *script.Failure
			if err := do(args); !errors.As(err, &no) && (!errors.As(err, &fail) || fail.Syscall != "permission") {
				t.Errorf("%s %q: %v", how, args, err)
			}
		}
	}
	refusals("judged", func(args []string) error {
		_, err := r.ends("proc.shell", object{"script": strings.Join(args, " ")})
		return err
	})
	refusals("done", func(args []string) error {
		_, err := r.unjudged(strings.Join(args, " "))
		return err
	})
	for _, text := range []string{
		"n=lock; rm a.$n", "echo a.lock | while read f; do touch $f; done", "for f in *.lock; do mv $f x; done", "X=$(echo link); touch $X/y", "rm -rf *.lock",
		"cd link && touch y", "PATH=/none; rm a.lock", "PATH=. rm a.lock",
	} {
		if got := r.code("proc.shell", object{"script": text, "cwd": r.dir}); got != "EACCES permission" {
			t.Errorf("%s: %s", text, got)
		}
	}
	for name, want := range map[string]string{"a.lock": "locked", "d/b.lock": "locked", "a.env": "SECRET=1", "plain": "1", "link/x": "outside", "link/y": "(none)", "new.lock": "(none)"} {
		if got := r.text(r.path(name)); got != want {
			t.Errorf("%s holds %q", name, got)
		}
	}
	if RefusedIn(r.ctx) == nil {
		t.Error("no refusal is known of the call")
	}
}

// A command of the shell is asked about as the program was, and not again.
func TestShellBuiltinsAskOnce(t *testing.T) {
	r := programRoom(t, `{"*": "ask"}`)
	r.person = func(permission.Request) error { return nil }
	r.write("d/x", "1")
	for _, tc := range []struct {
		text string
		want []string
	}{
		{"ls d", []string{"bash ls d"}},
		{"touch n", []string{"edit n", "bash touch n"}},
		{"mkdir -p q/r", []string{"edit q/r", "bash mkdir -p q/r"}},
		{"touch " + r.out + "/k", []string{"external_directory " + r.out + "/*", "edit ../out/k", "bash touch " + r.out + "/k"}},
		{"mv n m", []string{"read " + r.path("n"), "edit n", "edit m", "bash mv n m"}},
		{"rm m", []string{"edit m", "bash rm m"}},
		{"rm -rf d", []string{"edit d", "bash rm -rf d"}},
	} {
		if got := r.script(tc.text); got.Code != 0 {
			t.Errorf("%s: %+v", tc.text, got)
		}
		if got := r.questions(); !slices.Equal(got, tc.want) {
			t.Errorf("%s: asked %q", tc.text, got)
		}
	}
}

// What commands of the shell do can be taken back.
func TestShellBuiltinsUndo(t *testing.T) {
	r := programRoom(t, `{"*": "allow"}`)
	r.write("old", "before\n")
	r.write("from", "moved\n")
	r.write("tree/x", "below\n")
	r.script("rm old; mv from to; rm -rf tree; touch new")
	for name, want := range map[string]string{"old": "(none)", "from": "(none)", "to": "moved\n", "tree/x": "(none)", "new": ""} {
		if got := r.text(r.path(name)); got != want {
			t.Errorf("%s holds %q", name, got)
		}
	}
	var sets []files.ChangeSet
	for set, err := range r.files.History.Sets(t.Context(), files.HistoryQuery{Session: r.call.Session}) {
		if err != nil {
			t.Fatal(err)
		}
		sets = append(sets, set)
	}
	if _, _, err := r.files.Undo(t.Context(), (&work{call: r.call, name: "undo"}).by(), sets); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"old": "before\n", "from": "moved\n", "to": "(none)", "tree/x": "below\n", "new": "(none)"} {
		if got := r.text(r.path(name)); got != want {
			t.Errorf("after undo %s holds %q", name, got)
		}
	}
}

// Where programs may change nothing, the commands of the shell are those of the
// machine, which a sandbox is around.
func TestShellBuiltinsReadOnly(t *testing.T) {
	r := programRoom(t, `{"*": "allow"}`, func(o *plugins.Services) {
		o.Programs = func(*tool.Call) process.Program { return process.Program{ReadOnly: true} }
	})
	if lacks := r.world.opt.Shell.Lacks(); lacks != "" {
		t.Skip(lacks)
	}
	r.write("x", "1")
	for _, text := range []string{"rm x", "touch y", "mkdir z", "mv x y"} {
		if got := r.script(text); got.Code == 0 {
			t.Errorf("%s: %+v", text, got)
		}
	}
	if got := r.text(r.path("x")) + r.text(r.path("y")); got != "1(none)" {
		t.Errorf("it was changed: %q", got)
	}
}

// What a script leaves in the background ends with it.
func TestShellBackgroundEnds(t *testing.T) {
	r := programRoom(t, `{"*": "allow"}`)
	r.script("sh -c 'echo $$ > pid; mv pid ready; exec sleep 600' & while [ ! -e ready ]; do sleep 0.01; done")
	pid, err := strconv.Atoi(strings.TrimSpace(r.text(r.path("ready"))))
	if err != nil {
		t.Fatal(err)
	}
	await(t, "it goes on", func() bool { return !alive(pid) })
}

// Why something cannot be run is what the system says of it.
func TestProgramsNotRunnable(t *testing.T) {
	r := programRoom(t, `{"*": "allow"}`)
	r.write("plain", "x")
	r.write("dir/x", "x")
	for name, want := range map[string][2]string{
		"./nope.sh": {"ENOENT"}, "/none/x": {"ENOENT"}, "./plain": {"EACCES"}, "./dir": {"EACCES"}, "./plain/x": {"ENOTDIR"}, "nope": {"ENOENT", "which"},
	} {
		for _, op := range []string{"proc.run", "proc.start"} {
			var fail *script.Failure
			_, err := r.do(op, object{"argv": []string{name}, "cwd": r.dir})
			if !errors.As(err, &fail) || fail.Code != want[0] || fail.Syscall != want[1] {
				t.Errorf("%s %s: %#v", op, name, err)
			}
		}
	}
}

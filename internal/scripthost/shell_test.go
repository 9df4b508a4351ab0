//go:build unix

package scripthost

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
	"pgregory.net/rapid"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/plugins"
	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

func (r *room) script(text string, more ...object) ran {
	r.t.Helper()
	arg := object{"script": text, "quiet": true}
	for _, m := range more {
		for k, v := range m {
			arg[k] = v
		}
	}
	out, err := r.ends("proc.shell", arg)
	if err != nil {
		r.t.Fatalf("%s: %v", text, err)
	}
	return out
}

func TestShellScripts(t *testing.T) {
	r := programRoom(t, `{"*": "allow"}`)
	r.write("a.txt", "one\ntwo\n")
	r.write("sub/b.txt", "three\n")
	for _, tc := range []struct {
		text           string
		code           int
		stdout, stderr string
	}{
		{"echo hi", 0, "hi\n", ""},
		{"", 0, "", ""},
		{"# nothing", 0, "", ""},
		{"sh -c 'echo out; echo err >&2; exit 3'", 3, "out\n", "err\n"},
		{"no-such-command x", 1, "", "bun: command not found: no-such-command\n"},
		{"no-such-command || echo else", 0, "else\n", "bun: command not found: no-such-command\n"},
		{"which no-such-command", 1, "which: no-such-command not found\n", ""},
		{"which sh", 0, which("sh", "", os.Getenv("PATH")) + "\n", ""},
		{"X='a  b'; printf '[%s]' $X; printf '[%s]' $NONE; printf '[%s]' $(echo 'a  b')", 0, "[a  b][][a][b]", ""},
		{"cat a.txt | tr a-z A-Z | sort -r", 0, "TWO\nONE\n", ""},
		{"yes | head -n 1", 0, "y\n", ""},
		{"cat < a.txt > c.txt; cat c.txt >> c2.txt; cat c2.txt", 0, "one\ntwo\n", ""},
		{"echo new > c.txt 2> c.txt; cat c.txt", 0, "new\n", ""},
		{"sh -c 'echo o; echo e >&2' 2>&1 | cat", 0, "o\ne\n", ""},
		{"sh -c 'echo o; echo e >&2; echo p' 2>&1", 0, "o\ne\np\n", ""},
		{"echo lost > /dev/null; cat < /dev/null", 0, "", ""},
		{"cd sub && pwd && cat b.txt", 0, r.path("sub") + "\nthree\n", ""},
		{"echo *.txt", 0, "a.txt c.txt c2.txt\n", ""},
		{"cat none 2>/dev/null; echo $?", 0, "1\n", ""},
		{"exit 7", 7, "", ""},
		{"echo a > /dev/stderr; sh -c 'echo b' > /dev/stderr; cat a.txt > /dev/stdout", 0, "one\ntwo\n", "a\nb\n"},
		{"X='a b'; cat <<EOF\n$X [$X]\nEOF", 0, "a b [a b]\n", ""},
		{"false; echo $?$?; A=x; B=$A$A; echo $B-$B", 0, "11\nxx-xx\n", ""},
		{"printf '%s-%s' a b", 0, "a-b", ""},
		{"sh -c 'kill -9 $$'", 137, "", ""},
		{"sh -c 'exit 255'", 255, "", ""},
		{"false && echo no; true && echo yes", 0, "yes\n", ""},
		{"FOO=1 sh -c 'echo $FOO'; sh -c 'echo [$FOO]'", 0, "1\n[]\n", ""},
		{"export FOO=2; sh -c 'echo $FOO'", 0, "2\n", ""},
		{"eval echo x", 1, "", "bun: command not found: eval\n"},
		{"command eval echo x", 1, "", "bun: command not found: command\n"},
		{"source a.txt", 1, "", "bun: command not found: source\n"},
		{"echo {a,b}{1..3}", 0, "a1 a2 a3 b1 b2 b3\n", ""},
		{"sleep 60 & echo on", 0, "on\n", ""},
		{"for i in 1 2; do cat sub/b.txt; done", 0, "three\nthree\n", ""},
	} {
		got := r.script(tc.text)
		if got.Code != tc.code || got.stdout != tc.stdout || got.stderr != tc.stderr {
			t.Errorf("%s: %d %q %q", tc.text, got.Code, got.stdout, got.stderr)
		}
	}
	out, err := r.ends("proc.shell", object{"script": "read x; echo [$x]; cat", "set": object{"A": "b"}}, []byte("first\nrest")...)
	if err != nil || out.stdout != "[first]\nrest" {
		t.Errorf("%q, %v", out.stdout, err)
	}
	out, err = r.ends("proc.shell", object{"script": "head -c 3"}, make([]byte, 1<<20)...)
	if err != nil || len(out.stdout) != 3 {
		t.Errorf("%q, %v", out.stdout, err)
	}
	if got := r.script("printf '%s|' $A $B", object{"env": object{"A": "x y", "PATH": os.Getenv("PATH")}}); got.stdout != "x y|" {
		t.Errorf("given variables: %q", got.stdout)
	}
}

func TestShellFailures(t *testing.T) {
	r := programRoom(t, `{"*": "allow"}`)
	for text, want := range map[string]string{
		"echo 'open":           "reached EOF without closing quote",
		"cat <(echo x)":        "process substitution is not available",
		"f() { f; }; f":        "a function is not available",
		"echo {1..1000000000}": "braces for so many words",
		"echo {-9223372036854775808..9223372036854775807}":                                  "braces for so many words",
		"echo " + strings.Repeat("{a,b}", 40):                                               "braces for so many words",
		"cat /dev/zero":                                                                     "wrote more than 16 MiB",
		"x=$(cat /dev/zero); echo":                                                          "wrote more than 16 MiB",
		"x=aaaaaaaa; while true; do x=$x$x; done":                                           "wrote more than 16 MiB",
		"x=aaaaaaaa; " + strings.Repeat("x=$x$x; ", 60):                                     "wrote more than 16 MiB",
		"x=aaaaaaaa; for i in {1..99}; do x=$x$x; done":                                     "wrote more than 16 MiB",
		"x=$(head -c 1000000 /dev/zero | tr '\\0' a); echo " + strings.Repeat("$x", 10_000): "wrote more than 16 MiB",
		"x=(a b); echo $x":                                                                  "an array is not available",
		"x=a; echo ${x//a/$x}":                                                              "is not available",
		"echo " + strings.Repeat("x", 200_000):                                              "Write it to a file",
	} {
		_, err := r.ends("proc.shell", object{"script": text})
		var fail *script.Failure
		if !errors.As(err, &fail) || !strings.Contains(fail.Message, want) {
			t.Errorf("%.60s: %v", text, err)
		}
	}
	_, err := r.ends("proc.shell", object{"script": "echo x", "cwd": r.path("none")})
	var fail *script.Failure
	want := &script.Failure{Message: "No such file or directory", Code: "ENOENT", Errno: -2, Syscall: "open", Path: r.path("none")}
	if !errors.As(err, &fail) || !cmp.Equal(fail, want) {
		t.Errorf("no folder: %#v", err)
	}
	if got := r.script("echo x > none/file; echo $?; cat < none"); got.Code != 1 || got.stdout != "1\n" || !strings.Contains(got.stderr, "none") {
		t.Errorf("no file: %+v", got)
	}
	if got := r.script("echo x > ."); got.Code != 1 || !strings.Contains(got.stderr, "directory") {
		t.Errorf("a folder: %+v", got)
	}
}

func TestShellIsJudged(t *testing.T) {
	rules := `{"*": "allow", "external_directory": "deny", "read": {"*": "allow", "*.env": "deny"}, "edit": {"*": "allow", "*.lock": "deny"},
		"bash": {"*": "allow", "rm *": "deny"}}`
	r := programRoom(t, rules)
	r.write("a.env", "SECRET=1")
	r.write("a.lock", "locked")
	if err := os.WriteFile(filepath.Join(r.out, "x"), []byte("outside"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"rm -rf x", "echo a && rm x", "cat a.env", "cat < a.env", "echo x > a.lock", "echo x >> a.lock", "cat " + r.out + "/x", "cd .. && cat out/x",
		"echo x > ../out/y", "for f in *.env; do cat < $f; done", "ls | rm x", "echo $(rm x)", "n=lock; echo x > a.$n", "n=a.env; cat < $n",
		"echo a.lock | while read f; do echo x > $f; done", "echo a.env | while read f; do cat < $f; done",
	} {
		_, err := r.ends("proc.shell", object{"script": text})
		var fail *script.Failure
		if !errors.As(err, &fail) || fail.Code != "EACCES" || fail.Syscall != "permission" {
			t.Errorf("%s: %v", text, err)
		}
	}
	r.write("a b.env", "SECRET=2")
	if got := r.code("proc.shell", object{"script": "x='a b.env'; cat $x", "cwd": r.dir}); got != "EACCES permission" {
		t.Errorf("a word with a blank: %s", got)
	}
	if got := r.text(r.path("a.lock")); got != "locked" {
		t.Errorf("the file holds %q", got)
	}
	if err := RefusedIn(r.ctx); err == nil {
		t.Error("no refusal is known of the call")
	}
}

// A person is asked about a thing once.
func TestProgramsAskOnce(t *testing.T) {
	r := programRoom(t, `{"*": "ask"}`)
	r.person = func(permission.Request) error { return nil }
	for _, tc := range []struct {
		op   string
		arg  object
		want []string
	}{
		{"proc.shell", object{"script": "echo $A > f", "set": object{"A": "1"}}, []string{"edit f", `bash echo "$A" > f`}},
		{"proc.shell", object{"script": "pwd", "cwd": r.out}, []string{"external_directory " + r.out + "/*", "bash pwd"}},
		{"proc.run", object{"argv": []string{"pwd"}, "cwd": r.out}, []string{"external_directory " + r.out + "/*", "bash pwd"}},
	} {
		if _, err := r.ends(tc.op, tc.arg); err != nil {
			t.Fatal(err)
		}
		told := r.told
		if got := r.questions(); !slices.Equal(got, tc.want) {
			t.Errorf("%v: asked %q", tc.arg, got)
		}
		for _, req := range told {
			if req.Metadata["command"] == nil || req.Metadata["tool"] != "custom" {
				t.Errorf("it does not say what for: %v", req.Metadata)
			}
		}
	}
}

// The folder that scripts have for themselves needs no asking.
func TestProgramsInOwnFolder(t *testing.T) {
	r := programRoom(t, `{"*": "allow", "external_directory": "deny", "edit": "deny"}`)
	own, err := r.world.temp.folder()
	if err != nil {
		t.Fatal(err)
	}
	if got := r.script("echo x > y; cat y; pwd", object{"cwd": own}); got.stdout != "x\n"+own+"\n" {
		t.Errorf("%+v", got)
	}
	if got := r.runs(object{"argv": []string{"cat", filepath.Join(own, "y")}}); got.stdout != "x\n" {
		t.Errorf("%+v", got)
	}
	if err := os.Symlink(r.out, filepath.Join(own, "link")); err != nil {
		t.Fatal(err)
	}
	if got := r.code("proc.run", object{"argv": []string{"ls", filepath.Join(own, "link")}, "cwd": r.dir}); got != "EACCES permission" {
		t.Errorf("by a link: %s", got)
	}
	if got := r.code("proc.shell", object{"script": "echo x > link/y", "cwd": own}); got != "EACCES permission" {
		t.Errorf("by a link: %s", got)
	}
}

// What a script writes by redirection can be taken back.
func TestShellUndo(t *testing.T) {
	r := programRoom(t, `{"*": "allow"}`)
	r.write("old", "before\n")
	r.write("log", "first\n")
	r.script("echo after > old; echo second >> log; echo x > new")
	for name, want := range map[string]string{"old": "after\n", "log": "first\nsecond\n", "new": "x\n"} {
		if got := r.text(r.path(name)); got != want {
			t.Errorf("%s holds %q", name, got)
		}
	}
	if got := r.changed(); !slices.Equal(got, []string{"change old", "change log", "add new"}) {
		t.Errorf("told of %q", got)
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
	for name, want := range map[string]string{"old": "before\n", "log": "first\n", "new": "(none)"} {
		if got := r.text(r.path(name)); got != want {
			t.Errorf("after undo %s holds %q", name, got)
		}
	}
}

// What is not quiet is shown.
func TestShellShows(t *testing.T) {
	r := programRoom(t, `{"*": "allow"}`)
	r.script("echo a; sh -c 'echo b >&2'; printf c", object{"quiet": false})
	slices.SortFunc(r.lines, func(a, b event.ScriptLogged) int { return strings.Compare(a.Text, b.Text) })
	want := []event.ScriptLogged{{Tool: "custom", Level: "info", Text: "a"}, {Tool: "custom", Level: "warn", Text: "b"}, {Tool: "custom", Level: "info", Text: "c"}}
	if !slices.Equal(r.lines, want) {
		t.Errorf("shown: %+v", r.lines)
	}
}

// Programs of an agent that may change nothing do not, where there is a sandbox.
func TestProgramsReadOnly(t *testing.T) {
	r := programRoom(t, `{"*": "allow"}`, func(o *plugins.Services) {
		o.Programs = func(*tool.Call) process.Program { return process.Program{ReadOnly: true} }
	})
	if lacks := r.world.opt.Shell.Lacks(); lacks != "" {
		t.Skip(lacks)
	}
	for _, op := range []string{"proc.run", "proc.shell"} {
		got, err := r.ends(op, object{"argv": sh("echo x > file; echo done"), "script": "sh -c 'echo x > file; echo done'"})
		if err != nil || got.stdout != "done\n" || got.stderr == "" {
			t.Errorf("%s: %+v, %v", op, got, err)
		}
	}
	if got := r.text(r.path("file")); got != "(none)" {
		t.Errorf("it was written: %q", got)
	}
}

// A command line means the words it was made of, whatever they are.
func TestCommandLineMeansItsWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(
			rapid.StringOf(rapid.RuneFrom([]rune("ab ~$`'\"\\|&;<>(){}[]*?!#=%\n\r\t\x01\x7f-+@:,./é\u202e"))),
			rapid.SampledFrom([]string{"", "if", "time", "!", "{", "FOO=bar", "~", "$(x)", "a\r\nb", "-a", "--", "[["}),
		)
		argv := append([]string{rapid.SampledFrom([]string{"git", "cd", "a=b", "if", "echo", "./x y"}).Draw(t, "name")}, rapid.SliceOfN(word, 0, 4).Draw(t, "words")...)
		text := commandLine{argv: argv, found: "/bin/" + argv[0], usual: "/bin/" + argv[0]}.text()
		file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if len(file.Stmts) != 1 {
			t.Fatalf("%q is %d commands", text, len(file.Stmts))
		}
		call, ok := file.Stmts[0].Cmd.(*syntax.CallExpr)
		if !ok || len(call.Assigns) > 0 {
			t.Fatalf("%q is no plain command", text)
		}
		fields, err := expand.Fields(&expand.Config{Env: expand.FuncEnviron(func(string) string { return "" })}, call.Args...)
		if err != nil {
			t.Fatal(err)
		}
		if shellsOwn(argv[0]) {
			argv[0] = "/bin/" + argv[0]
		}
		if !slices.Equal(fields, argv) {
			t.Fatalf("%q means %q, not %q", text, fields, argv)
		}
	})
}

// scripting is JavaScript in this world.
func (r *room) scripting(source string) *script.VM {
	r.t.Helper()
	v, err := script.NewVM(script.VMOptions{Host: r.world})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if err := v.Close(); err != nil {
			r.t.Error(err)
		}
	})
	for name, text := range map[string]string{"prelude.js": script.Prelude()} {
		if err := v.Load(r.ctx, name, script.Code{Source: text}); err != nil {
			r.t.Fatal(err)
		}
	}
	body := "globalThis.work = async (given) => { const require = __helve.require; " + source + " };"
	if err := v.Load(r.ctx, "work.js", script.Code{Source: body}); err != nil {
		r.t.Fatal(err)
	}
	return v
}

// What scripts of tools write works as a whole.
func TestScriptsRunPrograms(t *testing.T) {
	r := programRoom(t, `{"*": "allow", "bash": {"*": "allow", "rm *": "deny"}}`)
	v := r.scripting("return (async () => {}).constructor('require', given)(require)")
	for source, want := range map[string]string{
		"return await Bun.$`echo ${'a b'} | cat`.text()":                                                                               `"a b\n"`,
		"return (await Bun.$`sh -c 'exit 3'`.nothrow()).exitCode":                                                                      `3`,
		"const p = Bun.spawn(['cat'], {stdin: 'pipe'}); p.stdin.write('x'); p.stdin.end(); return await new Response(p.stdout).text()": `"x"`,
		"const p = Bun.spawn(['sleep', '60']); p.kill(); await p.exited; return p.signalCode":                                          `"SIGTERM"`,
		"return Bun.spawnSync(['sh', '-c', 'echo $X'], {env: {...process.env, X: '1'}}).stdout.toString()":                             `"1\n"`,
		"process.env.Y = '2'; return require('child_process').execSync('echo $Y').toString()":                                          `"2\n"`,
		"try { require('child_process').execFileSync('nope') } catch (e) { return e.code }":                                            `"ENOENT"`,
		"try { await Bun.$`rm x` } catch (e) { return [e.code, e.message.includes('rm')] }":                                            `["EACCES",true]`,
		"try { require('child_process').execSync('rm x') } catch (e) { return e.code }":                                                `"EACCES"`,
		"return await new Promise((done) => require('child_process').exec('echo out; exit 2', (e, out) => done([e.code, out])))":       `[2,"out\n"]`,
		"return await new Promise((done) => { const c = require('child_process').spawn('cat'); let all = ''; c.stdout.on('data', (d) => { all += d }); c.on('close', (code) => done([all.length, code])); c.stdin.end('x'.repeat(300000)); })": `[300000,0]`,
		"return typeof Bun.which('sh')": `"string"`,
	} {
		arg, err := json.Marshal(source)
		if err != nil {
			t.Fatal(err)
		}
		told, err := v.Call(r.ctx, "work", script.Data{JSON: arg})
		if err != nil || string(told.JSON) != want {
			t.Errorf("%s: %s, %v", source, told.JSON, err)
		}
	}
}

// A program of a call ends with it, one that a plugin starts while it is made
// goes on.
func TestScriptsLeavePrograms(t *testing.T) {
	r := programRoom(t, `{"*": "allow"}`)
	v := r.scripting("return Bun.spawn(['sleep', '60']).pid")
	pid := func(ctx context.Context) (pid int) {
		told, err := v.Call(ctx, "work", script.Data{})
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(told.JSON, &pid); err != nil {
			t.Fatal(err)
		}
		return pid
	}
	lasting := pid(script.Lasting(r.ctx))
	ending := pid(r.ctx)
	await(t, "it goes on", func() bool { return !alive(ending) })
	if !alive(lasting) {
		t.Error("what a plugin has started has ended")
	}
	if err := r.world.Close(); err != nil {
		t.Fatal(err)
	}
	if alive(lasting) {
		t.Error("it goes on after all")
	}
}

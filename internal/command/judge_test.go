package command_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/internal/command"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/permission"
)

// listing gives requests as lines, with the names of the stage as the test
// writes them.
func (s stage) listing(t *testing.T, command string) []string {
	t.Helper()
	reqs, err := s.line(command).Requests(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, req := range reqs {
		for _, p := range req.Patterns {
			line := req.Permission + " " + p
			for _, d := range req.Uncertainties[p] {
				line += " ? " + d.Permission
				if d.Permission == "" {
					line += "any"
				}
			}
			out = append(out, strings.ReplaceAll(line, s.base, ""))
		}
	}
	return out
}

func TestRequests(t *testing.T) {
	s := newStage(t, "a.go", "b.go", ".env", "sub/c.go", "dist/x.js", "dist/.git/config")
	if err := os.Symlink("../out", s.base+"/ws/link"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		command string
		want    []string
	}{
		{"ls", []string{"bash ls"}},
		{"# nothing", nil},
		{" \n ", nil},
		{"cd sub", nil},
		{"cd", []string{"external_directory /home/u/*"}},
		{"FOO=1", nil},
		{"[ -f x ]", nil},
		{"ls; ls", []string{"bash ls"}},
		{"cat *.go", []string{"read /ws/a.go", "read /ws/b.go", "bash cat *.go"}},
		{"cat sub/*.go *.none", []string{"read /ws/sub/c.go", "read /ws/*.none", "bash cat sub/*.go *.none"}},
		{"cat */.none", []string{"read /ws/*/.none", "bash cat */.none"}},
		{"cat '*'.go", []string{"read /ws/*.go", "bash cat '*'.go"}},
		{"cat /out/*", []string{"external_directory /out/*", "read /out/*", "bash cat /out/*"}},
		{"cat link/x", []string{"external_directory /out/*", "read /ws/link/x", "read /out/x", "bash cat link/x"}},
		{"cat ~/x $HOME/y \"${HOME}/z\"", []string{
			"external_directory /home/u/*", "read /home/u/x", "read /home/u/y", "read /home/u/z",
			"bash cat ~/x $HOME/y \"${HOME}/z\"",
		}},
		{"cd sub && cat $PWD/c.go", []string{"read /ws/sub/c.go", "bash cat $PWD/c.go"}},
		{"PWD=/out; cat $PWD/c.go", []string{"external_directory /out/*", "read /ws/c.go", "read /out/c.go", "bash cat $PWD/c.go ? read ? external_directory"}},
		{"cat '~/x'", []string{"read /ws/~/x", "bash cat '~/x'"}},
		{"cat $X", []string{"bash cat $X ? read ? external_directory"}},
		{"ls $X", []string{"bash ls $X ? external_directory"}},
		{"echo > $X", []string{"bash echo > $X ? edit ? external_directory"}},
		{"> $X", []string{"bash > $X ? edit ? external_directory"}},
		{"for i in 1; do ls; done > $X", []string{"bash ls ? edit ? external_directory"}},
		{"cd $X && ls", []string{"external_directory /home/u/*", "bash ls ? external_directory"}},
		{`cd "$X" && ls`, []string{"bash ls ? external_directory"}},
		{"cd sub && cat c.go ../a.go", []string{"read /ws/sub/c.go", "read /ws/a.go", "bash cat c.go ../a.go"}},
		{"cp a.go b.go sub", []string{"read /ws/a.go", "read /ws/b.go", "edit sub/a.go", "edit sub/b.go", "bash cp a.go b.go sub"}},
		{"mv a.go new/", []string{"read /ws/a.go", "edit a.go", "edit new/a.go", "bash mv a.go new/"}},
		{"cp $X sub", []string{"bash cp $X sub ? read ? external_directory ? edit"}},
		{"rm -rf dist", []string{"edit dist", "edit dist/x.js", "bash rm -rf dist"}},
		{"f() { ls; }; f", []string{"bash ls", "bash f"}},
		{"ln -s dist d && echo > d/y", []string{
			"read /ws/dist", "read /ws/dist/.git/config", "read /ws/dist/x.js", "edit d", "edit dist/y", "edit d/y",
			"bash ln -s dist d", "bash echo > d/y",
		}},
		{"cp -r sub new", []string{"read /ws/sub", "read /ws/sub/c.go", "edit new", "bash cp -r sub new ? edit"}},
		{"grep -r x sub", []string{"read /ws/sub", "read /ws/sub/c.go", "bash grep -r x sub"}},
		{"cat < a.go > b.go 2>&1 >/dev/null", []string{"read /ws/a.go", "edit b.go", "bash cat < a.go > b.go 2>&1 >/dev/null"}},
		{"cat < /dev/tcp/host/80", []string{"bash cat < /dev/tcp/host/80 ? any"}},
		{"x=$(<.env)", []string{"read /ws/.env"}},
		{"tar xf a.tar", []string{"read /ws/a.tar", "edit .", "bash tar xf a.tar ? edit ? external_directory"}},
		{"git diff a.go main", []string{"read /ws/a.go", "bash git diff a.go main"}},
		{"shopt -s dotglob; cat *", []string{"bash shopt -s dotglob", "bash cat * ? read ? external_directory"}},
		{"cat " + strings.Repeat("x", 5000), []string{"bash cat " + strings.Repeat("x", 5000) + " ? read ? external_directory"}},
		{"for f in *.go x; do cat \"$f\"; done", []string{"read /ws/a.go", "read /ws/b.go", "read /ws/x", "bash cat \"$f\""}},
		{"for f in a.go; do cat $f.env; done; cat $f", []string{"read /ws/a.go.env", "read /ws/a.go", "bash cat $f.env ? read ? external_directory", "bash cat $f ? read ? external_directory"}},
		{"D=sub; cat \"$D/c.go\"", []string{"read /ws/sub/c.go", "bash cat \"$D/c.go\""}},
		{"cat $D; D=sub", []string{"read /ws/sub", "bash cat $D ? read ? external_directory"}},
		{"D=sub; read D; cat $D", []string{"read /ws/sub", "bash read D", "bash cat $D ? read ? external_directory"}},
		{"D=a.go; sh -c 'cat $D'", []string{"read /ws/a.go", "bash sh -c 'cat $D'", "bash cat $D ? read ? external_directory"}},
		{"cat {a,b}.go", []string{"read /ws/a.go", "read /ws/b.go", "bash cat {a,b}.go"}},
		{"cat {a,{b,c}}", []string{"read /ws/a", "read /ws/b", "read /ws/c", "bash cat {a,{b,c}} ? read ? external_directory"}},
		{"ls | xargs cat", []string{"bash ls", "bash xargs cat", "bash cat ? read ? external_directory"}},
		{"parallel cat ::: a b", []string{"bash parallel cat ::: a b", "bash cat ? read ? external_directory"}},
		{"find . -exec cat {} +", []string{"bash find . -exec cat {} +", "bash cat {} ? read ? external_directory"}},
		{"[[ -n x ]]", []string{"bash [[ -n x ]]"}},
		{"ls ((", []string{"bash ls ? external_directory", "bash ls (( ? any"}},
	} {
		if c.want == nil {
			c.want = []string{}
		}
		if diff := cmp.Diff(c.want, s.listing(t, c.command)); diff != "" {
			t.Errorf("%.100q:\n%s", c.command, diff)
		}
	}
}

// What the rules single out in a folder is asked about alone.
func TestSifted(t *testing.T) {
	s := newStage(t, "a.go", ".env", "sub/prod.env", "sub/b.go", ".hidden/c.env")
	if err := os.Symlink("../.env", s.base+"/ws/sub/innocent.txt"); err != nil {
		t.Fatal(err)
	}
	rules := rulesOf([][3]string{{"*", "*", "allow"}, {"read", "*.env", "deny"}, {"edit", "sub/*.go", "ask"}})
	for _, c := range []struct {
		command string
		want    []string
	}{
		{"grep -r x .", []string{"read .", "read .env", "read .hidden/c.env", "read sub/innocent.txt", "read sub/prod.env"}},
		{"grep -r x --include=*.go .", []string{"read ."}},
		{"grep -r x --include=*.go .; grep -r x --include=.env .", []string{"read .", "read .env"}},
		{"grep -r x --exclude=*.env --exclude=*.txt .", []string{"read ."}},
		{"grep -r x --exclude-dir=sub --exclude-dir '.h*' .", []string{"read .", "read .env"}},
		{"rg x", []string{"read .", "read sub/innocent.txt", "read .env", "read sub/prod.env"}},
		{"rm -r sub", []string{"edit sub", "edit sub/b.go"}},
	} {
		k := &knowing{court{policy: permission.Policy{Rules: rules}, verdict: verdict{action: permission.Allow}}}
		if err := s.line(c.command).Ask(t.Context(), k); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range k.decisions {
			if name := strings.TrimPrefix(strings.TrimPrefix(d.Pattern, s.base+"/ws"), "/"); d.Permission != "bash" {
				if name == "" {
					name = "."
				}
				got = append(got, d.Permission+" "+name)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q:\n%s", c.command, diff)
		}
	}
}

func TestNoCommand(t *testing.T) {
	for _, line := range []string{"", "ls\x00"} {
		l := command.ReadLine(&files.Workspace{}, t.TempDir(), line)
		if _, err := l.Requests(t.Context(), nil); !errors.Is(err, command.ErrNoCommand) {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// An error of the asker ends the asking and comes back as it is.
func TestAskStops(t *testing.T) {
	stop := errors.New("stop")
	n := 0
	a := askFunc(func(req permission.Request) error {
		n++
		if req.Permission == "read" {
			return stop
		}
		return nil
	})
	s := newStage(t)
	if err := s.line("cat /out/f > x").Ask(t.Context(), a); err != stop || n != 2 {
		t.Errorf("after %d requests: %v", n, err)
	}
}

// What changes what runs later needs a rule that names it, also for a command.
func TestGuards(t *testing.T) {
	s := newStage(t, ".git/config", "a/.git/hooks/x")
	all := rulesOf([][3]string{{"*", "*", "allow"}})
	for command, want := range map[string]permission.Action{
		"echo x > .git/config":          permission.Ask,
		"tee .git/hooks/pre-push":       permission.Ask,
		"rm -rf a/.git":                 permission.Ask,
		"rm -rf a":                      permission.Allow,
		"rm -rf ../ws":                  permission.Ask,
		"ln -s .git g; tee g/x":         permission.Ask,
		"ln -s .git/config g; echo > g": permission.Ask,
		"touch .envrc":                  permission.Ask,
		"cat .git/config":               permission.Allow,
		"touch x":                       permission.Allow,
	} {
		if got := s.decide(t, all, command); got.action != want {
			t.Errorf("%q: got %s, want %s", command, got.action, want)
		}
	}
	named := append(all, permission.Rule{Permission: "edit", Pattern: ".git/*", Action: permission.Allow})
	if got := s.decide(t, named, "echo x > .git/config"); got.action != permission.Allow {
		t.Errorf("a rule names it: %s", got.action)
	}
}

func TestDeceives(t *testing.T) {
	s := newStage(t)
	rules := rulesOf([][3]string{{"bash", "*", "allow"}, {"bash", "rm *", "deny"}, {"read", "*", "allow"}, {"edit", "*", "allow"}, {"external_directory", "*", "ask"}})
	for command, want := range map[string]permission.Action{
		"ls 'a\u202eb'":    permission.Ask,
		"ls 'a\u200db'":    permission.Allow,
		"ls a\u200db":      permission.Ask,
		"ls a\u200d\"b\"":  permission.Ask,
		"ls \"a\u200d\"b":  permission.Allow,
		"X=a\u200db ls":    permission.Ask,
		"ls > a\u200db":    permission.Ask,
		"echo é ü 日本":      permission.Allow,
		"ls\u00a0-la":      permission.Ask,
		"echo \"\x1b[2K\"": permission.Ask,
	} {
		if got := s.decide(t, rules, command); got.action != want {
			t.Errorf("%q: got %s, want %s\n%s", command, got.action, want, shown(got))
		}
	}
}

// Whoever is asked about a file is shown the command that wants it, and where
// it runs.
func TestRequestsShowTheCommand(t *testing.T) {
	s := newStage(t, "a.go", "sub/c.go")
	line := s.here("cat c.go /out/x > y")
	for cwd, want := range map[string]map[string]any{
		"":        {"command": line},
		"/ws":     {"command": line},
		"/ws/sub": {"command": line, "workdir": s.base + "/ws/sub"},
	} {
		place := command.Location{Dir: s.base + "/ws"}
		if cwd != "" {
			place.Cwd = s.base + cwd
		}
		reqs, err := command.ReadLineIn(&files.Workspace{Worktree: s.base + "/ws"}, place, line).Requests(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var asked []string
		for _, req := range reqs {
			asked = append(asked, req.Permission)
			if diff := cmp.Diff(want, req.Metadata); diff != "" {
				t.Errorf("%s from %q: %s", req.Permission, cwd, diff)
			}
		}
		if diff := cmp.Diff([]string{"external_directory", "read", "edit", "bash"}, asked); diff != "" {
			t.Error(diff)
		}
	}
}

// What the kernel makes up is not listed: it is not known what is read there.
func TestKernelsFolders(t *testing.T) {
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("there is no /proc")
	}
	got := newStage(t, "a.go").listing(t, "grep -r x /proc/self/task")
	if len(got) > 5 || !strings.HasSuffix(got[len(got)-1], "? read") {
		t.Errorf("it asks %q", got)
	}
}

// Another file system below a folder is not listed, which may take for ever.
func TestOtherFileSystems(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "helve")
	if told, _ := os.ReadFile("/proc/self/mountinfo"); err != nil || !strings.Contains(string(told), " /dev/shm ") {
		t.Skip("no file system is mounted on /dev/shm")
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	name := filepath.Join(dir, "b.env")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := newStage(t, "a.go")
	for line, listed := range map[string]bool{"grep -r x /dev": false, "grep -r x /dev/shm": true} {
		got := s.listing(t, line)
		if slices.ContainsFunc(got, func(ask string) bool { return strings.HasSuffix(ask, name) }) != listed {
			t.Errorf("%s asks %q, of the file there: want %v", line, got, listed)
		}
		if !listed && !strings.HasSuffix(got[len(got)-1], "? read") {
			t.Errorf("%s asks %q, without a uncertainty", line, got)
		}
	}
}

// What was looked up for one answer is not known any more for the next: the
// disk may have changed.
func TestLooksAgain(t *testing.T) {
	s := newStage(t, "a.go")
	s.write(t, "/out/x")
	link := s.base + "/ws/link"
	line := s.line("cat link; rm link")
	for _, c := range []struct{ to, want string }{{"a.go", s.base + "/ws/a.go"}, {"../out/x", s.base + "/out/x"}} {
		if err := os.Remove(link); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if err := os.Symlink(c.to, link); err != nil {
			t.Fatal(err)
		}
		reqs, err := line.Requests(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		read := reqs[slices.IndexFunc(reqs, func(r permission.Request) bool { return r.Permission == "read" })]
		if !slices.Contains(read.Patterns, c.want) {
			t.Errorf("with a link to %s it asks about reading %q", c.to, read.Patterns)
		}
	}
}

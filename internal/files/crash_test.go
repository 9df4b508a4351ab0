package files

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// helper is what the test binary does as another process. dir holds the store
// and the project.
func helper(role, dir, arg string) error {
	s := NewHistory(HistoryOptions{Dir: filepath.Join(dir, "history")})
	switch role {
	case "churn": // changes without end, each id printed when it is recorded
		return churn(s, filepath.Join(dir, "project"), arg, 1<<40)
	case "hundred":
		s = NewHistory(HistoryOptions{Dir: filepath.Join(dir, "history"), Quota: 100 * blockSize})
		return churn(s, filepath.Join(dir, arg), arg, 100)
	case "step": // dies after so many files of a set of three
		n, err := strconv.Atoi(arg)
		if err != nil {
			return err
		}
		return step(s, filepath.Join(dir, "project"), n)
	}
	return fmt.Errorf("no helper %q", role)
}

// A rewrite is a change of real files as a tool makes it.
type rewrite struct {
	set    ChangeSet
	before map[string][]byte
	after  map[string][]byte
	temps  []string
}

func (r *rewrite) add(path, data string) error {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	c := KeptChange{Path: path, Before: DescribeContent(old, err == nil, 0o600), After: DescribeContent([]byte(data), data != "", 0o600)}
	if err == nil {
		r.before[path] = old
	}
	r.set.Changes = append(r.set.Changes, c)
	r.after[path] = []byte(data)
	if data != "" {
		r.temps = append(r.temps, path+".new")
	}
	return nil
}

// write changes one file; no data is no file.
func (r *rewrite) write(path string) error {
	data := r.after[path]
	if len(data) == 0 {
		return remove(path)
	}
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func newRewrite() *rewrite {
	return &rewrite{before: map[string][]byte{}, after: map[string][]byte{}}
}

// churn changes one to four of four files n times.
func churn(s *History, project, prefix string, n int) error {
	if err := os.MkdirAll(project, 0o700); err != nil {
		return err
	}
	for i := range n {
		r := newRewrite()
		r.set.Call = fmt.Sprint(prefix, "-", i)
		for j, f := range rand.Perm(4)[:1+rand.N(4)] {
			data := strings.Repeat(fmt.Sprint("line ", rand.N(20), "\n"), rand.N(500)) // sometimes none, often seen before
			if j == 0 {
				data += fmt.Sprint("change ", i, "\n") // or nothing may change, and nothing be recorded
			}
			if err := r.add(filepath.Join(project, fmt.Sprint("f", f)), data); err != nil {
				return err
			}
		}
		p, err := s.Begin(r.set, r.before, r.temps)
		if err != nil {
			return err
		}
		for path := range r.after {
			if err := r.write(path); err != nil {
				return err
			}
			fmt.Println("mid")
		}
		if err := p.Done(nil); err != nil {
			return err
		}
		fmt.Println(p.Set().ID)
	}
	return nil
}

func step(s *History, project string, n int) error {
	r := newRewrite()
	for _, name := range []string{"a", "b", "c"} {
		if err := r.add(filepath.Join(project, name), "new "+name); err != nil {
			return err
		}
	}
	r.set.Call = "step"
	if _, err := s.Begin(r.set, r.before, r.temps); err != nil {
		return err
	}
	for i, c := range r.set.Changes {
		if i == n {
			if err := os.WriteFile(c.Path+".new", []byte("half"), 0o600); err != nil {
				return err
			}
			break
		}
		if err := r.write(c.Path); err != nil {
			return err
		}
	}
	fmt.Println("begun")
	_, err := io.Copy(io.Discard, os.Stdin) // waits to be killed
	return err
}

// A process is a running helper.
type process struct {
	cmd   *exec.Cmd
	in    io.Closer
	lines *bufio.Scanner
}

func start(t *testing.T, role, dir, arg string) *process {
	t.Helper()
	cmd := exec.Command(must(os.Executable())(t))
	cmd.Env = append(os.Environ(), helperEnv+"="+role, "HELVE_HISTORY_DIR="+dir, "HELVE_HISTORY_ARG="+arg)
	cmd.Stderr = os.Stderr
	in := must(cmd.StdinPipe())(t)
	out := must(cmd.StdoutPipe())(t)
	ok(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return &process{cmd, in, bufio.NewScanner(out)}
}

// rest reads what is left of the helper's output and waits for its end.
func (p *process) rest() []string {
	var out []string
	for p.lines.Scan() {
		out = append(out, p.lines.Text())
	}
	_ = p.cmd.Wait()
	return out
}

// realLook looks at real files, which all have one mode here.
func realLook(path string) (KeptContent, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return KeptContent{}, nil
	}
	return DescribeContent(data, true, 0o600), err
}

// A process is killed at random points while it changes files. Whatever it
// acknowledged is there; and all it did, acknowledged or not, can be undone
// without a conflict, back to the empty project.
func TestKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	project := filepath.Join(dir, "project")
	s := NewHistory(HistoryOptions{Dir: filepath.Join(dir, "history")})
	acknowledged := map[string]bool{}
	unfinished, half := 0, 0
	for round := range 25 {
		p := start(t, "churn", dir, fmt.Sprint("r", round))
		var lines []string
		if round%3 == 0 { // at any moment, also at the start
			kill := time.AfterFunc(rand.N(30*time.Millisecond), func() { _ = p.cmd.Process.Kill() })
			lines = p.rest()
			kill.Stop()
		} else { // in full run
			for range 1 + rand.N(60) {
				if !p.lines.Scan() {
					t.Fatal("the helper ended by itself")
				}
				lines = append(lines, p.lines.Text())
			}
			ok(t, p.cmd.Process.Kill())
			lines = append(lines, p.rest()...)
		}
		for _, id := range lines {
			if id != "mid" {
				acknowledged[id] = true
			}
		}
		for _, r := range must(s.Recover(t.Context(), realLook))(t) {
			unfinished++
			if r.Half() {
				half++
			}
			for _, temp := range r.Temps {
				ok(t, remove(temp))
			}
		}
		want(t, len(must(s.list("pending"))(t)), 0)
	}
	sets := list(t, s, HistoryQuery{})
	there := map[string]bool{}
	for _, set := range sets {
		there[set.ID] = true
	}
	for id := range acknowledged {
		if !there[id] {
			t.Errorf("acknowledged set %s is lost", id)
		}
	}
	for path := range tree(t, project) {
		if strings.HasSuffix(path, ".new") {
			t.Errorf("%s was not named as temporary", path)
		}
	}
	for _, item := range must(s.Plan(t.Context(), sets, realLook))(t).Items {
		if item.Want.Exists || item.State != UndoRemove && item.State != UndoNothing {
			t.Errorf("not back to the start: %+v", item)
		}
	}
	t.Logf("%d sets, %d acknowledged, %d unfinished, %d half done", len(sets), len(acknowledged), unfinished, half)
}

// A change is left half done at each of its steps.
func TestRecover(t *testing.T) {
	t.Parallel()
	for n := range 4 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			project := filepath.Join(dir, "project")
			ok(t, os.Mkdir(project, 0o700))
			for _, name := range []string{"a", "b", "c"} {
				ok(t, os.WriteFile(filepath.Join(project, name), []byte("old "+name), 0o600))
			}
			old := tree(t, project)
			s := NewHistory(HistoryOptions{Dir: filepath.Join(dir, "history")})
			p := start(t, "step", dir, strconv.Itoa(n))
			if !p.lines.Scan() {
				t.Fatal("no sign of the helper")
			}
			// While it lives its change is its own.
			want(t, len(must(s.Recover(t.Context(), realLook))(t)), 0)
			ok(t, s.Sweep(t.Context()))
			ok(t, p.cmd.Process.Kill())
			p.rest()

			got := must(s.Recover(t.Context(), realLook))(t)
			want(t, len(got), 1)
			want(t, []int{len(got[0].Set.Changes), len(got[0].Missed)}, []int{n, 3 - n})
			want(t, got[0].Half(), n == 1 || n == 2)
			want(t, len(got[0].Temps), 3)
			for _, temp := range got[0].Temps {
				ok(t, remove(temp))
			}
			want(t, len(must(s.Recover(t.Context(), realLook))(t)), 0)
			sets := list(t, s, HistoryQuery{Call: "step"})
			if n == 0 {
				want(t, len(sets), 0)
			} else {
				want(t, sets, []ChangeSet{got[0].Set})
				for _, item := range must(s.Plan(t.Context(), sets, realLook))(t).Items {
					want(t, item.State, UndoRestore)
					ok(t, os.WriteFile(item.Path, must(s.Content(item.Want.Hash))(t), 0o600))
				}
			}
			want(t, tree(t, project), old)
		})
	}
}

// What is found by Recover in the file of a change decides what is recorded.
func TestJudge(t *testing.T) {
	t.Parallel()
	before, planned := DescribeContent([]byte("old"), true, 0o644), DescribeContent([]byte("new"), true, 0o755)
	theirs := DescribeContent([]byte("theirs"), true, 0o644)
	chmod := DescribeContent([]byte("old"), true, 0o600)
	for name, c := range map[string]struct {
		plan, now KeptContent
		err       error
		want      *KeptContent // After, or nil for missed
	}{
		"nothing happened":      {plan: planned, now: before},
		"but for the mode":      {plan: planned, now: chmod},
		"as planned":            {plan: planned, now: planned, want: &planned},
		"somebody else's":       {plan: planned, now: theirs, want: &planned},
		"removed by somebody":   {plan: planned, now: KeptContent{}, want: &planned},
		"deleted as planned":    {plan: KeptContent{}, now: KeptContent{}, want: &KeptContent{}},
		"cannot be looked at":   {plan: planned, err: errors.New("x"), want: &planned},
		"the plan did not say":  {plan: KeptContent{Exists: true}, now: theirs, want: &theirs},
		"did not say, not done": {plan: KeptContent{Exists: true}, now: before},
	} {
		p := &PendingSet{set: ChangeSet{Changes: []KeptChange{{Path: "p", Before: before, After: c.plan}}}}
		r := p.reconstruct(func(string) (KeptContent, error) { return c.now, c.err })
		if c.want == nil {
			if len(r.Missed) != 1 || len(r.Set.Changes) != 0 {
				t.Errorf("%s: %+v", name, r)
			}
		} else if len(r.Missed) != 0 || len(r.Set.Changes) != 1 || r.Set.Changes[0].After != *c.want {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// Two processes and this one work in one store, which they have to sweep all
// the time; what is listed afterwards is whole.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, q := start(t, "hundred", dir, "p"), start(t, "hundred", dir, "q")
	s := NewHistory(HistoryOptions{Dir: filepath.Join(dir, "history"), Quota: 100 * blockSize})
	d := newMemDisk()
	for i := range 100 {
		d.change(t, s, ChangeSet{By: By{Call: fmt.Sprint("own-", i)}}, map[string]*file{d.path("a"): text(fmt.Sprint(i % 7))})
		if i%10 == 0 {
			want(t, len(must(s.Recover(t.Context(), d.look))(t)), 0)
		}
	}
	n := 0
	for _, line := range append(p.rest(), q.rest()...) {
		if line != "mid" {
			n++
		}
	}
	want(t, n, 200)
	ok(t, s.Sweep(context.Background()))
	whole(t, s)
	if n := usage(t, s.opt.Dir); n > s.opt.Quota+3*5*blockSize {
		t.Errorf("the store is %d bytes large", n)
	}
	calls := list(t, s, HistoryQuery{})
	if len(calls) < 10 {
		t.Errorf("%d sets are left", len(calls))
	}
}

// whole checks that every set has what it says it has, that nothing else is
// there, and that the ledger is right.
func whole(t *testing.T, s *History) {
	t.Helper()
	needed := map[string]bool{}
	for _, set := range list(t, s, HistoryQuery{}) {
		for _, c := range set.Changes {
			if c.Before.Kept {
				needed[c.Before.Hash] = true
				if _, err := s.Content(c.Before.Hash); err != nil {
					t.Errorf("%s: %s: %v", set.ID, c.Path, err)
				}
			}
		}
	}
	for path := range tree(t, filepath.Join(s.opt.Dir, "blobs")) {
		if !needed[filepath.Base(path)] {
			t.Errorf("nobody needs %s", path)
		}
	}
	want(t, len(tree(t, filepath.Join(s.opt.Dir, "tmp"))), 0)
	ok(t, s.locked(func(l *ledger) error {
		want(t, l.bytes, usage(t, s.opt.Dir)-2*blockSize) // lock, sweep
		return nil
	}))
}

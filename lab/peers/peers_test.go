package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/cli"
	"github.com/helve-dev/helve/lab/internal/proof"
)

// The test's own program plays the helve command too.
func TestMain(m *testing.M) {
	helve.RunHelper()
	if filepath.Base(os.Args[0]) == "helve" {
		dir, _ := os.Getwd()
		self, _ := os.Executable()
		os.Exit(cli.Main(context.Background(), cli.Env{
			Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Dir: dir, Self: self,
		}))
	}
	os.Exit(m.Run())
}

// tiny is just enough to see that all of it works.
func tiny(t *testing.T) *settings {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the peers are programs of Unix")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	command := filepath.Join(dir, "helve")
	if err := os.Symlink(self, command); err != nil {
		t.Fatal(err)
	}
	return &settings{
		helve: command, figures: filepath.Join(dir, "figures"), out: new(strings.Builder), log: io.Discard,
		sizes: sizes{starts: 1, runs: 1, rounds: 1, edits: 1, files: 3, hunks: 10, big: 1 << 20, bigs: 1, spawns: 20, weighs: 1},
	}
}

// figures measures some parts, and returns the figures by their ids.
func figures(t *testing.T, s *settings, parts ...string) map[string]proof.Figure {
	t.Helper()
	if err := s.measure(t.Context(), parts); err != nil {
		t.Fatal(err)
	}
	list, err := proof.ReadFile(s.figures)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]proof.Figure{}
	for _, f := range list {
		if _, twice := all[f.ID]; twice || f.Value <= 0 || f.Unit == "" || f.Peer != "" && f.PeerValue <= 0 {
			t.Errorf("a figure twice, or without a value: %+v", f)
		}
		all[f.ID] = f
	}
	return all
}

// beside makes sure of the figures of some ids beside a peer; "" for none.
func beside(t *testing.T, all map[string]proof.Figure, peer string, ids ...string) {
	t.Helper()
	for _, id := range ids {
		f, ok := all[id]
		if !ok || (f.Peer == "") != (peer == "") || !strings.HasPrefix(f.Peer, peer) {
			t.Errorf("%s beside %q: %v, %+v", id, peer, ok, f)
		}
	}
}

func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("there is no %s: %v", p, err)
		}
	}
}

func TestPatch(t *testing.T) {
	need(t, "patch")
	all := figures(t, tiny(t), "patch")
	beside(t, all, "GNU patch ", "patch.files.process.p50", "patch.files.process.cpu", "patch.files.call.p50", "patch.files.bare.p50",
		"patch.hunks.process.p50", "patch.hunks.call.p50", "patch.hunks.bare.p50")
}

func TestTail(t *testing.T) {
	need(t, "tail")
	all := figures(t, tiny(t), "tail")
	beside(t, all, "tail -n +", "tail.process.p50", "tail.call.p50")
	beside(t, all, "tail -n 10", "tail.process.end.p50", "tail.call.end.p50")
}

func TestSpawn(t *testing.T) {
	need(t, "bash")
	all := figures(t, tiny(t), "spawn")
	beside(t, all, "bash -c true", "spawn.off.p50", "spawn.off.p99", "spawn.off.cpu")
	beside(t, all, "bash -c cat", "output.process.p50", "output.call.p50")
}

func TestStart(t *testing.T) {
	need(t, "node", "true")
	all := figures(t, tiny(t), "start")
	beside(t, all, "", "start.version.p50", "start.call.p50")
	beside(t, all, "node v", "start.version.node.p50", "start.call.node.p50")
	beside(t, all, "true", "start.version.true.p50", "start.call.true.p50")
}

// Without peers helve is measured alone, and that is said.
func TestAlone(t *testing.T) {
	s := tiny(t)
	t.Setenv("PATH", t.TempDir())
	all := figures(t, s, "start", "patch", "tail")
	beside(t, all, "", "start.version.p50", "start.call.p50", "patch.files.process.p50", "patch.hunks.bare.p50", "tail.process.p50", "tail.call.p50")
	for id, f := range all {
		if f.Peer != "" {
			t.Errorf("%s has the peer %s, which is not there", id, f.Peer)
		}
	}
	for _, peer := range []string{"OpenCode", "node", "true", "patch", "tail"} {
		if said := fmt.Sprint(s.out); !strings.Contains(said, peer+" is not there") {
			t.Errorf("that there is no %s is not said: %s", peer, said)
		}
	}
}

func TestAgent(t *testing.T) {
	need(t, "git", "bash", "tail", "grep")
	s := tiny(t)
	all := figures(t, s, "agent")
	beside(t, all, "", "agent.run.p50", "agent.run.cpu", "agent.step.p50")
	if said := fmt.Sprint(s.out); !strings.Contains(said, "| read | grep | glob | edit | bash |") {
		t.Error(said)
	}
}

func TestAgentBesideOpenCode(t *testing.T) {
	need(t, "git", "bash", "tail", "grep")
	s := tiny(t)
	if s.opencode = os.Getenv("HELVE_OPENCODE"); s.opencode == "" {
		t.Skip("HELVE_OPENCODE names no OpenCode: see .ci/opencode")
	}
	all := figures(t, s, "agent", "start")
	beside(t, all, "OpenCode 1", "agent.run.p50", "agent.run.cpu", "agent.run.memory", "agent.step.p50", "start.version.p50", "start.call.p50")
	for _, tool := range tools() {
		beside(t, all, "OpenCode 1", "agent.step."+tool+".p50")
	}
}

// What is not as it should be is an error and no figure.
func TestWrong(t *testing.T) {
	s := tiny(t)
	wrong := errors.New("that is not it")
	w := &way{name: "one", do: func(context.Context) (string, error) { return "x", nil }, check: func(string) error { return wrong }}
	if err := s.race(t.Context(), 1, []*way{w}); !errors.Is(err, wrong) || len(w.walls) > 0 {
		t.Errorf("%v, %d counted", err, len(w.walls))
	}
	world, err := proof.NewWorld()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := world.Close(); err != nil {
			t.Error(err)
		}
	}()
	j := job{files: 2, lines: 40, every: 20}
	if err := j.reset(world); err != nil {
		t.Fatal(err)
	}
	if j.check(world) == nil {
		t.Error("files that nobody has changed are taken for changed ones")
	}
	l := lot{lines: 100}
	good := ""
	for n := 90; n < 100; n++ {
		good += bigLine(n)
	}
	if l.isEnd(good) != nil || l.isEnd(bigLine(89)+good) == nil || l.isEnd(strings.TrimSuffix(good, bigLine(99))) == nil {
		t.Error("the end of a file is taken for another, or another for it")
	}
}

// A program that fails says why, and what it left behind is ended.
func TestProgram(t *testing.T) {
	need(t, "sh")
	in := func(line string) program {
		return program{argv: []string{"sh", "-c", line}, dir: t.TempDir(), env: os.Environ(), in: "given"}
	}
	if said, err := in("cat").run(t.Context()); err != nil || said != "given" {
		t.Errorf("%q, %v", said, err)
	}
	if _, err := in("echo why >&2; exit 3").run(t.Context()); err == nil || !strings.Contains(err.Error(), "why") {
		t.Error(err)
	}
	if _, err := (program{argv: []string{"/no/such/program"}}).peak(t.Context()); err == nil {
		t.Error("what is not there was run")
	}
	if runtime.GOOS == "linux" {
		if most, err := in("sleep 0.2").peak(t.Context()); err != nil || most < 100<<10 {
			t.Errorf("%d bytes, %v", most, err)
		}
	}
	var e ending
	for n := range 10_000 {
		fmt.Fprintln(&e, n, strings.Repeat("x", 100))
	}
	if e.text.Len() > 2*endingBytes || e.text.Len() < endingBytes || !strings.Contains(e.String(), "\n9999 x") {
		t.Errorf("%d bytes are kept", e.text.Len())
	}
}

func TestUsage(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{nil, {"nosuch"}, {"--quick"}, {"tail", "--nosuch"}, {"tail", "--quick", "more"}, {"tail", "--helve", "/no/such"}} {
		if _, _, err := parse(args, io.Discard, io.Discard); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
	s, names, err := parse([]string{"tail", "spawn", "--quick", "--helve", self}, io.Discard, io.Discard)
	if err != nil || !slices.Equal(names, []string{"tail", "spawn"}) || s.sizes != quick() {
		t.Errorf("%v, %+v, %v", names, s, err)
	}
}

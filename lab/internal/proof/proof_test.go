package proof

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestSheet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "figures")
	var s Sheet
	want := []Figure{
		{ID: "mcp.read.p50", Value: 0.31, Unit: "ms", Peer: "other 1.2 <x>", PeerValue: 0.4, Note: "A note & more."},
		{ID: "hold.kills.lost"},
	}
	for _, f := range want {
		s.Add(f)
	}
	if err := s.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	got, err := ReadFile(path)
	if err != nil || !reflect.DeepEqual(got, want) || !reflect.DeepEqual(s.Figures(), want) {
		t.Errorf("%+v, %v", got, err)
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Count(string(text), "\n") != 2 || !strings.Contains(string(text), "<x>") {
		t.Errorf("%s, %v", text, err)
	}
	if err := s.WriteFile(""); err != nil {
		t.Error(err)
	}
}

func TestSheetRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "figures")
	for _, bad := range []Figure{{ID: "one"}, {ID: "One.two"}, {ID: "one..two"}, {ID: "one two.three"}, {ID: ""}, {ID: "a.b", PeerValue: 1}} {
		var s Sheet
		s.Add(bad)
		if err := s.WriteFile(path); err == nil {
			t.Errorf("%+v was written", bad)
		}
	}
	for _, bad := range []string{`{"id":"one"}`, `{"id":"a.b","value":1,"values":2}`, `{"id":"a.b"`, `{"id":"a.b","peerValue":2}`} {
		if err := os.WriteFile(path, []byte("\n"+bad+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadFile(path); err == nil {
			t.Errorf("%s was read as %+v", bad, got)
		}
	}
	if _, err := ReadFile(path + "x"); err == nil {
		t.Error("a file that is not there was read")
	}
}

func TestWorld(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh")
	}
	w, err := NewWorld()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(w.Root); !os.IsNotExist(err) {
			t.Error("the world is still there")
		}
	}()
	if err := w.Write("deep/in/a.txt", "hello"); err != nil {
		t.Fatal(err)
	}
}

func TestEnvLeadsNowhere(t *testing.T) {
	w := &World{Home: "/h", Temp: "/t"}
	env := w.Env("MORE=1")
	for _, want := range []string{"HOME=/h", "TMPDIR=/t", "HTTPS_PROXY=http://127.0.0.1:9", "MORE=1"} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is not in %v", want, env)
		}
	}
	for _, row := range env {
		if name, _, _ := strings.Cut(row, "="); strings.HasSuffix(name, "_KEY") || strings.HasSuffix(name, "_TOKEN") {
			t.Errorf("%s came along", name)
		}
	}
}

func TestMachine(t *testing.T) {
	if m := Machine(); !strings.Contains(m, runtime.GOOS+"/"+runtime.GOARCH) || !strings.Contains(m, runtime.Version()) {
		t.Error(m)
	}
	if Busy() == "" {
		t.Error("nothing is said of the load")
	}
	if runtime.GOOS != "linux" {
		return
	}
	if u := UsageOf(os.Getpid()); u.Resident == 0 || u.Peak < u.Resident/2 || u.Threads == 0 || u.Work == 0 {
		t.Errorf("%+v", u)
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "held"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // nothing was written
	if !slices.Contains(Descriptors(os.Getpid()), f.Name()) {
		t.Errorf("%s is not among %v", f.Name(), Descriptors(os.Getpid()))
	}
}

func TestVersion(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	if got := Version(sh, "-c", "echo ' thing 1.2 '; echo more"); got != "thing 1.2" {
		t.Errorf("%q", got)
	}
	if got := Version(sh, "-c", "echo 1; exit 3") + Version(filepath.Join(t.TempDir(), "nobody")); got != "" {
		t.Errorf("%q", got)
	}
}

package proof

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

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
	if u := UsageOf(os.Getpid()); u.Resident == 0 || u.Peak < u.Resident/2 || u.Work == 0 {
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

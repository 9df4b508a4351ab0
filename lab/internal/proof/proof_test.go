package proof

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
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

func TestQuantiles(t *testing.T) {
	list := []float64{5, 1, 4, 2, 3}
	for q, want := range map[float64]float64{0: 1, 0.2: 1, 0.21: 2, 0.5: 3, 0.99: 5, 1: 5} {
		if got := Quantile(list, q); got != want {
			t.Errorf("%v: %v, not %v", q, got, want)
		}
	}
	if !slices.Equal(list, []float64{5, 1, 4, 2, 3}) {
		t.Error("the list was sorted")
	}
	if Median(list) != 3 || Median([]float64{4, 1, 2, 3}) != 2.5 || Median([]time.Duration{}) != 0 || Quantile([]time.Duration(nil), 0.5) != 0 {
		t.Error("the middle is elsewhere")
	}
	if Millis(1500*time.Microsecond) != 1.5 || MiB(3<<19) != 1.5 {
		t.Error("the units are not right")
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
	c, err := w.Start(t.Context(), func(line string) bool { return line == "ready hello" }, "sh", "-c", `echo first; echo "ready $(cat deep/in/a.txt)"; sleep 600 & wait`)
	if err != nil {
		t.Fatal(err)
	}
	var below []int
	for range 500 { // until the sleep is there
		if below = Descendants(c.PID()); len(below) > 0 || runtime.GOOS != "linux" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if runtime.GOOS == "linux" && (len(below) == 0 || UsageOf(below[0]).Threads != 1) {
		t.Errorf("what it has started is %v", below)
	}
	c.Close()
	for _, pid := range append(below, c.PID()) {
		for range 500 { // whoever takes it over has to bury it
			if UsageOf(pid).Resident == 0 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if UsageOf(pid).Resident != 0 {
			t.Errorf("process %d still lives", pid)
		}
	}
	for _, argv := range [][]string{{"sh", "-c", "echo no words >&2; echo other"}, {filepath.Join(w.Root, "nobody")}} {
		ctx, end := t.Context(), func() {}
		if argv[0] == "sh" { // it ends without the line, and nobody waits half a minute for it
			ctx, end = context.WithTimeout(ctx, 2*time.Second)
		}
		if c, err := w.Start(ctx, func(line string) bool { return line == "ready" }, argv...); err == nil {
			c.Close()
			t.Errorf("%v is ready", argv)
		}
		end()
	}
}

func TestServe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the server is a shell script")
	}
	w, err := NewWorld()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Write("token", " secret\n"); err != nil {
		t.Fatal(err)
	}
	const says = `echo starting; echo '{"url":"http://127.0.0.1:7","tokenFile":"'"$1"'"}'; exec sleep 1000`
	at, child, err := w.Serve(t.Context(), "sh", "-c", says, "sh", filepath.Join(w.Project, "token"))
	if err != nil {
		t.Fatal(err)
	}
	if want := (Server{Name: "helve", Addr: "127.0.0.1:7", Token: "secret", PID: child.PID()}); at != want {
		t.Errorf("%+v, want %+v", at, want)
	}
	child.Close()
	if _, _, err := w.Serve(t.Context(), "sh", "-c", says, "sh", filepath.Join(w.Project, "none")); !os.IsNotExist(err) {
		t.Errorf("without a token: %v", err)
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

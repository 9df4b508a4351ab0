package helve_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/lsp"
	"github.com/helve-dev/helve/tool"
)

// generatedModule writes a Go module of 10,000 lines: 40 packages of 5 files of
// 50 lines, each package using another.
func generatedModule(t testing.TB, dir string) {
	t.Helper()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.org/large\n\ngo 1.24\n")
	for pkg := range 40 {
		for file := range 5 {
			var b strings.Builder
			fmt.Fprintf(&b, "package p%d\n\n", pkg)
			if file == 0 && pkg > 0 {
				fmt.Fprintf(&b, "import \"example.org/large/p%d\"\n\n// Below is of another package.\nvar Below = p%d.F0x0(1)\n\n", pkg/2, pkg/2)
			}
			for f := 0; strings.Count(b.String(), "\n") < 43; f++ {
				fmt.Fprintf(&b, "// F%dx%d counts.\nfunc F%dx%d(n int) int {\n\ttotal := n\n\tfor i := range n {\n\t\ttotal += i\n\t}\n\treturn total\n}\n\n", file, f, file, f)
			}
			for strings.Count(b.String(), "\n") < 49 {
				b.WriteString("//\n")
			}
			fmt.Fprintf(&b, "var value%d = 0\n", file)
			write(fmt.Sprintf("p%d/f%d.go", pkg, file), b.String())
		}
	}
}

// Variables that make the program of the tests a proxy.
const (
	proxied  = "HELVE_TEST_PROXIED_SERVER" // the program to start
	proxyLog = "HELVE_TEST_PROXY_LOG"      // where to write what passes when
)

// A passage is a message that passed the proxy.
type passage struct {
	ID      string // of a request and its answer
	Method  string // "" of an answer
	File    string
	Version int
	At      int64 // nanoseconds of the clock
}

// TestLanguageServerProxy is no test: as a process of its own it stands between
// helve and a language server, and notes when what passes.
func TestLanguageServerProxy(t *testing.T) {
	program := os.Getenv(proxied)
	if program == "" {
		t.Skip("this is a helper of the benchmark: it stands before a language server")
	}
	os.Exit(proxy(program, os.Getenv(proxyLog)))
}

// proxy passes all on, and returns the exit code of the server.
func proxy(program, log string) int {
	cmd := exec.Command(program)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return 1
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 1
	}
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil || cmd.Start() != nil {
		return 1
	}
	defer file.Close()
	var lock sync.Mutex
	note := func(p passage) {
		lock.Lock()
		defer lock.Unlock()
		_ = json.NewEncoder(file).Encode(p) // a line that is missing fails the benchmark
	}
	go func() {
		pass(os.Stdin, in, note)
		in.Close()
	}()
	pass(out, os.Stdout, note)
	_ = cmd.Wait() // its code says how it ended
	return cmd.ProcessState.ExitCode()
}

// pass copies messages, and notes when each has come.
func pass(from io.Reader, to io.Writer, note func(passage)) {
	r := bufio.NewReaderSize(from, 1<<20)
	for {
		head, length := []byte(nil), 0
		for {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			head = append(head, line...)
			if value, ok := strings.CutPrefix(string(line), "Content-Length: "); ok {
				length, _ = strconv.Atoi(strings.TrimSpace(value))
			}
			if strings.TrimSpace(string(line)) == "" {
				break
			}
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(r, body); err != nil {
			return
		}
		at := time.Now().UnixNano()
		note(seen(body, at))
		if _, err := to.Write(append(head, body...)); err != nil {
			return
		}
	}
}

// seen is what is noted of a message.
func seen(body []byte, at int64) passage {
	type document struct {
		URI     string
		Version int
	}
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			document
			TextDocument document
		}
	}
	_ = json.Unmarshal(body, &m) // one that is none is not looked for
	p := m.Params
	return passage{string(m.ID), m.Method, filepath.Base(p.URI + p.TextDocument.URI), p.Version + p.TextDocument.Version, at}
}

// passages reads what a proxy has noted.
func passages(t testing.TB, log string) (all []passage) {
	t.Helper()
	file, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for dec := json.NewDecoder(file); ; {
		var p passage
		if err := dec.Decode(&p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// serverTimes are how long the server took, from the arrival of each text of a
// file to its answer about that text, or to the first that it published where
// it was not asked.
func serverTimes(all []passage, file string) map[int]time.Duration {
	took := map[int]time.Duration{}
	version, began, question := 0, int64(0), ""
	for _, p := range all {
		switch {
		case p.Method == "textDocument/didChange" && p.File == file:
			version, began, question = p.Version, p.At, ""
		case p.Method == "textDocument/diagnostic" && p.File == file:
			question = p.ID
		case p.Method == "" && p.ID == question && question != "",
			p.Method == "textDocument/publishDiagnostics" && p.File == file && p.Version == version && took[version] == 0:
			took[version] = time.Duration(p.At - began)
		}
	}
	return took
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

// BenchmarkEditWithDiagnostics breaks and mends a file of a module of 10,000
// lines by edits. It tells how long it takes from the file being on disk to
// the result with its errors, and by a proxy how much of that the server takes.
// The rest, with the record of the call and the proxy itself, is ours; without
// any server, the rest of the call takes what is called after-write.
func BenchmarkEditWithDiagnostics(b *testing.B) {
	realServers(b)
	program, err := exec.LookPath("gopls")
	if err != nil {
		b.Skip("gopls is neither in HELVE_LANGUAGE_SERVERS nor on the PATH")
	}
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	log := filepath.Join(b.TempDir(), "passages")
	proxied := lsp.Server{
		Name: "gopls", Command: []string{self, "-test.run=^TestLanguageServerProxy$"},
		Environment: map[string]string{proxied: program, proxyLog: log},
	}
	b.Run("off", func(b *testing.B) {
		var whole, rest []float64
		for _, e := range timedEdits(b, nil) {
			whole, rest = append(whole, milliseconds(e.end.Sub(e.start))), append(rest, milliseconds(e.end.Sub(e.written)))
		}
		b.ReportMetric(median(whole), "call-ms")
		b.ReportMetric(median(rest), "after-write-ms")
	})
	b.Run("gopls", func(b *testing.B) {
		reportEdits(b, timedEdits(b, &lsp.Options{Builtin: true, Wait: time.Minute}))
	})
	b.Run("proxied", func(b *testing.B) {
		os.Remove(log) // of an earlier round
		took := timedEdits(b, &lsp.Options{Builtin: true, Wait: time.Minute, Own: []lsp.Server{proxied}})
		reportEdits(b, took)
		servers := serverTimes(passages(b, log), editedBase)
		newest := slices.Max(slices.Collect(maps.Keys(servers)))
		var server, ours, share []float64
		for i, e := range took {
			theirs, ok := servers[newest-len(took)+1+i]
			if !ok {
				b.Fatalf("the proxy has not seen what was said of edit %d", i)
			}
			all := e.end.Sub(e.written)
			server, ours = append(server, milliseconds(theirs)), append(ours, milliseconds(all-theirs))
			share = append(share, 100*float64(all-theirs)/float64(all))
		}
		b.ReportMetric(median(server), "server-ms")
		b.ReportMetric(median(ours), "ours-ms")
		b.ReportMetric(median(share), "ours-%")
	})
}

// A timedEdit is when a call began, when the file was on disk, and when the
// call ended.
type timedEdit struct{ start, written, end time.Time }

func reportEdits(b *testing.B, edits []timedEdit) {
	var whole, first []float64
	for _, e := range edits {
		whole, first = append(whole, milliseconds(e.end.Sub(e.start))), append(first, milliseconds(e.end.Sub(e.written)))
	}
	b.ReportMetric(median(whole), "call-ms")
	b.ReportMetric(median(first), "first-diagnostics-ms")
}

// The file that is edited.
const (
	editedFolder = "p20"
	editedBase   = "f3.go"
)

// timedEdits breaks and mends a file of the module as often as the benchmark
// wants, with a server that is warm.
func timedEdits(b *testing.B, languages *lsp.Options) (took []timedEdit) {
	dir := b.TempDir()
	generatedModule(b, dir)
	rt := openReal(b, helve.Options{Dir: dir, Worktree: dir, DataDir: b.TempDir(), LSP: languages})
	p := realProject{t: b, dir: dir, rt: rt}
	file := filepath.Join(editedFolder, editedBase)
	p.call("read", map[string]any{"filePath": file})
	written := make(chan time.Time, 1)
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	go func() {
		for e := range rt.Events(ctx, 0) {
			if _, ok := e.Properties.(event.FileEdited); ok {
				written <- e.Time
			}
		}
	}()
	line := "var value3 = 0"
	change := func(i int) timedEdit {
		next := fmt.Sprintf("var value3 = %d", i)
		if i%2 == 1 {
			next = fmt.Sprintf("var value3 = missing_%d", i)
		}
		input, err := json.Marshal(map[string]any{"filePath": file, "oldString": line, "newString": next})
		if err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		res, err := rt.Call(b.Context(), tool.Call{Tool: "edit", Session: "s", Input: input})
		end := time.Now()
		if err != nil {
			b.Fatal(err)
		}
		line = next
		if wrong := len(errorsShown(res.Output)); languages != nil && wrong != i%2 || strings.Contains(res.Output, "pending") {
			b.Fatalf("edit %d:\n%s", i, res.Output)
		}
		return timedEdit{start, <-written, end}
	}
	for i := range 10 {
		change(i + 1)
	}
	for i := 11; b.Loop(); i++ {
		took = append(took, change(i))
	}
	if err := rt.Close(); err != nil {
		b.Fatal(err)
	}
	return took
}

// BenchmarkMemoryFourServers is what our own process holds with four servers
// running, and what the servers hold.
func BenchmarkMemoryFourServers(b *testing.B) {
	realServers(b)
	dir := b.TempDir()
	languages := realLanguages()
	for i, l := range languages {
		if _, err := exec.LookPath(l.program); err != nil {
			b.Skipf("%s is neither in HELVE_LANGUAGE_SERVERS nor on the PATH", l.program)
		}
		plantIn(b, filepath.Join(dir, fmt.Sprint("part", i)), l.project)
	}
	for b.Loop() {
		rt := openReal(b, helve.Options{Dir: dir, Worktree: dir, DataDir: b.TempDir(), LSP: &lsp.Options{Builtin: true, Wait: time.Minute}})
		heap, resident := held(b)
		for i, l := range languages {
			p := realProject{realLanguage: l, t: b, rt: rt, dir: dir}
			p.user = fmt.Sprintf("part%d/%s", i, l.user)
			p.call("read", map[string]any{"filePath": p.user})
			p.wrong(l.server, p.swap(fmt.Sprintf(l.sound, 0), fmt.Sprintf(l.broken, 1)), "missing_1")
			p.clean(l.server, p.swap(fmt.Sprintf(l.broken, 1), fmt.Sprintf(l.sound, 0)))
		}
		heapAfter, residentAfter := held(b)
		b.ReportMetric(float64(resident)/(1<<20), "before-MiB")
		b.ReportMetric(float64(residentAfter)/(1<<20), "helve-MiB")
		b.ReportMetric(float64(heapAfter-heap)/(1<<20), "heap-grown-MiB")
		for _, s := range rt.LSP().Status() {
			if s.PID > 0 {
				b.ReportMetric(float64(s.Memory)/(1<<20), s.ID+"-MiB")
			}
		}
		if err := rt.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// held is what our process holds: in its heap, after cleaning up, and in all.
func held(b *testing.B) (heap, resident int64) {
	b.Helper()
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip("there is no /proc here that tells what a process holds")
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			resident = kb << 10
		}
	}
	return int64(m.HeapAlloc), resident
}

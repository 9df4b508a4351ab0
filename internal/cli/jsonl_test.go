package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/cli"
)

// A program talks to helve call --jsonl in this process.
type program struct {
	t     *testing.T
	in    *io.PipeWriter
	lines chan map[string]any // closed at the end of the output
	code  chan int
	stop  context.CancelFunc
}

// start runs helve call --jsonl in a folder with a few files.
func start(t *testing.T, flags ...string) *program {
	t.Helper()
	dir := t.TempDir()
	for name, body := range map[string]string{"a.txt": "hello\n", ".env": "SECRET=1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	data, home := t.TempDir(), t.TempDir()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	p := &program{t: t, in: inW, lines: make(chan map[string]any), code: make(chan int, 1), stop: cancel}
	go func() {
		code := cli.Main(ctx, cli.Env{
			Args: append([]string{"call", "--jsonl"}, flags...), Stdin: inR, Stdout: outW, Stderr: io.Discard, Dir: dir,
			Getenv: func(name string) string { return map[string]string{"HOME": home, "HELVE_DATA_DIR": data}[name] },
		})
		outW.Close()
		p.code <- code
	}()
	go func() {
		defer close(p.lines)
		sc := bufio.NewScanner(outR)
		sc.Buffer(nil, 64<<20)
		for sc.Scan() {
			var m map[string]any
			if err := json.Unmarshal(sc.Bytes(), &m); err != nil {
				m = map[string]any{"broken line": sc.Text()}
			}
			p.lines <- m
		}
	}()
	t.Cleanup(func() { // whatever the test did, nothing stays behind
		inW.Close()
		cancel()
		for range p.lines {
		}
	})
	return p
}

func (p *program) send(lines ...string) {
	p.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(p.in, l+"\n"); err != nil {
			p.t.Fatal(err)
		}
	}
}

// until reads lines up to the first one that is looked for.
func (p *program) until(what string, is func(map[string]any) bool) map[string]any {
	p.t.Helper()
	var seen []string
	for m := range p.lines {
		if is(m) {
			return m
		}
		b, _ := json.Marshal(m)
		seen = append(seen, string(b))
	}
	p.t.Fatalf("no %s came, but:\n%s", what, strings.Join(seen, "\n"))
	return nil
}

func (p *program) end(id any) map[string]any {
	p.t.Helper()
	return p.until(fmt.Sprintf("end of %v", id), func(m map[string]any) bool { return m["event"] == nil && m["id"] == id })
}

func (p *program) event(kind string) map[string]any {
	p.t.Helper()
	m := p.until("event "+kind, func(m map[string]any) bool { return get(m, "event", "type") == kind })
	return get(m, "event", "properties").(map[string]any)
}

// rest closes the input and returns the lines that still come, and the exit
// code.
func (p *program) rest() (lines []map[string]any, code int) {
	p.in.Close()
	for m := range p.lines {
		lines = append(lines, m)
	}
	return lines, <-p.code
}

func get(m map[string]any, path ...string) any {
	var v any = m
	for _, key := range path {
		inner, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = inner[key]
	}
	return v
}

func wantError(t *testing.T, m map[string]any, kind, code string) {
	t.Helper()
	if m["status"] != "error" || get(m, "error", "kind") != kind || get(m, "error", "code") != code {
		t.Errorf("got %v, want an error of kind %s with code %s", m, kind, code)
	}
}

const question = `{"questions":[{"question":"Which?","header":"h","options":[{"label":"red","description":""}]}]}`

func TestConcurrentCalls(t *testing.T) {
	t.Parallel()
	p := start(t, "--events")
	p.send(`{"id":"wait","tool":"question","args":` + question + `}`)
	asked := p.event("question.asked")
	const n = 50
	go func() { // reading and writing at once, as a program does
		for i := range n {
			fmt.Fprintf(p.in, `{"id":%d,"tool":"read","args":{"filePath":"a.txt"}}`+"\n", i)
		}
	}()
	left := map[any]bool{}
	for i := range n {
		left[float64(i)] = true
	}
	for len(left) > 0 {
		m := p.until("end of a read", func(m map[string]any) bool { return m["status"] != nil })
		if m["status"] != "completed" || !left[m["id"]] {
			t.Fatalf("unexpected: %v", m)
		}
		delete(left, m["id"])
	}
	p.send(fmt.Sprintf(`{"answer":{"id":%q,"answers":[["red"]]}}`, asked["id"]))
	m := p.end("wait")
	if out, _ := m["output"].(string); !strings.Contains(out, `"Which?"="red"`) {
		t.Errorf("got %v", m)
	}
	if lines, code := p.rest(); code != 0 {
		t.Errorf("exit code %d, lines %v", code, lines)
	}
}

func TestEventsComeBeforeTheEnd(t *testing.T) {
	t.Parallel()
	p := start(t, "--events")
	const n = 20
	for i := range n {
		p.send(fmt.Sprintf(`{"id":"c%d","tool":"read","args":{"filePath":"a.txt"}}`, i))
	}
	lines, code := p.rest()
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
	seen := map[string][]string{}
	seq := 0.0
	for _, m := range lines {
		if m["event"] == nil {
			id := m["id"].(string)
			if want := []string{"call.started", "call.running", "call.finished"}; !slices.Equal(seen[id], want) {
				t.Errorf("before the end of %s came %q, want %q", id, seen[id], want)
			}
			continue
		}
		if s := get(m, "event", "seq").(float64); s != seq+1 {
			t.Errorf("event %v follows %v", s, seq)
		}
		seq++
		switch get(m, "event", "type") {
		case "hook.ran", "session.created":
			continue // they are no state of a call
		}
		id, ok := get(m, "event", "properties", "id").(string)
		if !ok {
			id = get(m, "event", "properties", "call", "id").(string)
		}
		seen[id] = append(seen[id], get(m, "event", "type").(string))
	}
	if len(seen) != n {
		t.Errorf("events of %d calls came, want %d", len(seen), n)
	}
}

// A program that reads too slowly misses events, but nothing that waits for it.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	p := start(t, "--events")
	p.send(`{"id":"env","tool":"read","args":{"filePath":".env"}}`)
	const n = 2500 // with more events than are kept
	for i := range n {
		p.send(fmt.Sprintf(`{"id":"c%d","tool":"todoread"}`, i))
	}
	ends, missed, replied := map[any]bool{}, 0, false
	for len(ends) <= n {
		m := p.until("line", func(map[string]any) bool { return true })
		switch kind := get(m, "event", "type"); {
		case kind == "permission.asked" && !replied:
			replied = true
			go fmt.Fprintf(p.in, `{"reply":{"id":%q,"reply":"once"}}`+"\n", get(m, "event", "properties", "id"))
		case kind == "events.missed":
			missed++
		case kind == nil && (m["status"] != "completed" || ends[m["id"]]):
			t.Fatalf("unexpected: %v", m)
		case kind == nil:
			ends[m["id"]] = true
		}
	}
	t.Logf("missed events %d times", missed)
	if _, code := p.rest(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// Calls that wait for an answer keep no others from starting.
func TestManyWait(t *testing.T) {
	t.Parallel()
	p := start(t, "--events")
	const n = 600
	go func() {
		for i := range n {
			fmt.Fprintf(p.in, `{"id":%d,"session":"s%d","tool":"read","args":{"filePath":".env"}}`+"\n", i, i)
		}
	}()
	var ids []string
	for range n {
		ids = append(ids, p.event("permission.asked")["id"].(string))
	}
	go func() {
		for _, i := range rand.Perm(n) {
			fmt.Fprintf(p.in, `{"reply":{"id":%q,"reply":"once"}}`+"\n", ids[i])
		}
	}()
	ends := map[any]bool{}
	for range n {
		m := p.until("end", func(m map[string]any) bool { return m["event"] == nil })
		if m["status"] != "completed" || ends[m["id"]] {
			t.Fatalf("unexpected: %v", m)
		}
		ends[m["id"]] = true
	}
	if _, code := p.rest(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestReplies(t *testing.T) {
	t.Parallel()
	p := start(t, "--events")
	ask := func(id string) string {
		p.send(`{"id":"` + id + `","tool":"read","args":{"filePath":".env"}}`)
		return p.event("permission.asked")["id"].(string)
	}
	p.send(`{"reply":{"id":"` + ask("once") + `","reply":"once"}}`)
	if m := p.end("once"); m["status"] != "completed" {
		t.Errorf("got %v", m)
	}
	p.send(`{"reply":{"id":"` + ask("no") + `","reply":"reject","message":"look at .env.example"}}`)
	m := p.end("no")
	wantError(t, m, "rejected", "rejected")
	if got := get(m, "error", "message").(string); !strings.Contains(got, "look at .env.example") {
		t.Errorf("the feedback is not in %q", got)
	}
	p.send(`{"reply":{"id":"` + ask("always") + `","reply":"always","scope":"session"}}`)
	p.end("always")
	p.send(`{"id":"again","tool":"read","args":{"filePath":".env"}}`)
	m = p.until("end without being asked", func(m map[string]any) bool {
		return m["id"] == "again" || get(m, "event", "type") == "permission.asked"
	})
	if m["status"] != "completed" {
		t.Errorf("after always: %v", m)
	}
	if _, code := p.rest(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestDismissAndCancel(t *testing.T) {
	t.Parallel()
	p := start(t, "--events")
	p.send(`{"id":"q1","tool":"question","args":` + question + `}`)
	p.send(`{"answer":{"id":"` + p.event("question.asked")["id"].(string) + `","reject":true}}`)
	wantError(t, p.end("q1"), "rejected", "rejected")
	p.send(`{"id":7,"tool":"question","args":` + question + `}`)
	p.event("question.asked")
	p.send(`{"id":7,"tool":"todoread"}`)
	twice := p.until("the second 7", func(m map[string]any) bool { return m["duplicate"] == "7" })
	wantError(t, twice, "invalid_input", "duplicate-id")
	if id, there := twice["id"]; !there || id != nil || get(twice, "error", "line") != 4.0 {
		t.Errorf("got %v, want no id, so that it is not the end of 7", twice)
	}
	p.send(`{"cancel":7}`)
	wantError(t, p.end(7.0), "canceled", "canceled")
	if _, code := p.rest(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestWrongLines(t *testing.T) {
	t.Parallel()
	p := start(t)
	wrong := func(m map[string]any) bool { return m["id"] == nil }
	p.send("", "  ", `nonsense`)
	m := p.until("error", wrong)
	wantError(t, m, "invalid_input", "invalid-line")
	if get(m, "error", "line") != 3.0 {
		t.Errorf("got %v, want line 3", m)
	}
	p.send(`{"id":"x","tool":"read","argz":{}}`)
	wantError(t, p.end("x"), "invalid_input", "invalid-line")
	for line, key := range map[string]string{
		`{"cancel":"gone"}`:                          "cancel",
		`{"reply":{"id":"gone","reply":"once"}}`:     "reply",
		`{"answer":{"id":"gone","answers":[["a"]]}}`: "answer",
		`{"answer":{"id":"gone","reject":true}}`:     "answer",
	} {
		p.send(line)
		m := p.until("error", wrong)
		wantError(t, m, "invalid_input", "not-found")
		if m[key] != "gone" {
			t.Errorf("%s is answered with %v", line, m)
		}
	}
	p.send(`{"id":"raw","tool":"read","raw_args":"{\"filePath\": "}`)
	m = p.end("raw")
	wantError(t, m, "invalid_input", "invalid-json")
	p.send(`{"id":"strict","tool":"read","args":{"file_path":"a.txt"}}`)
	wantError(t, p.end("strict"), "invalid_input", "missing")
	p.send(`{"id":"unknown","tool":"nope"}`)
	m = p.end("unknown")
	wantError(t, m, "unknown_tool", "unknown-tool")
	if m["tool"] != "invalid" || m["title"] != "Invalid Tool" || m["output"] == "" {
		t.Errorf("the answer for the model is missing: %v", m)
	}
	p.send(`{"id":"good","tool":"read","args":{"filePath":"a.txt"}}`)
	if m := p.end("good"); m["status"] != "completed" || m["title"] == nil || m["metadata"] == nil {
		t.Errorf("got %v", m)
	}
	if _, code := p.rest(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestRepairFlag(t *testing.T) {
	t.Parallel()
	p := start(t, "--repair")
	p.send(`{"id":"1","tool":"read","args":{"file_path":"a.txt"}}`)
	if m := p.end("1"); m["status"] != "completed" || get(m, "metadata", "repairs") == nil {
		t.Errorf("got %v", m)
	}
}

func TestNobodyToAsk(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.send(`{"id":"1","tool":"read","args":{"filePath":".env"}}`)
	wantError(t, p.end("1"), "unattended", "unattended")
}

func TestEndOfInput(t *testing.T) {
	t.Parallel()
	p := start(t, "--events")
	p.send(`{"id":"env","tool":"read","args":{"filePath":".env"}}`)
	p.event("permission.asked")
	p.send(`{"id":"que","tool":"question","args":` + question + `}`)
	p.event("question.asked")
	fmt.Fprint(p.in, `{"id":"last","tool":"todoread"}`) // without a line end
	lines, code := p.rest()
	ends := map[string]map[string]any{}
	for _, m := range lines {
		if m["event"] == nil {
			ends[m["id"].(string)] = m
		}
	}
	if got := slices.Sorted(maps.Keys(ends)); !slices.Equal(got, []string{"env", "last", "que"}) {
		t.Fatalf("calls %q ended", got)
	}
	wantError(t, ends["env"], "unattended", "unattended")
	wantError(t, ends["que"], "unattended", "unattended")
	if ends["last"]["status"] != "completed" || code != 0 {
		t.Errorf("got %v and exit code %d", ends["last"], code)
	}
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	p := start(t, "--events")
	p.send(`{"id":"1","tool":"question","args":` + question + `}`)
	p.event("question.asked")
	p.stop()
	wantError(t, p.end("1"), "canceled", "canceled")
	if _, code := p.rest(); code != 130 {
		t.Errorf("exit code %d", code)
	}
}

// broken is an output that nobody reads.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestBrokenOutput(t *testing.T) {
	t.Parallel()
	in, w := io.Pipe()
	defer w.Close()
	home := t.TempDir()
	code := make(chan int, 1)
	var stderr strings.Builder
	go func() {
		code <- cli.Main(context.Background(), cli.Env{
			Args: []string{"call", "--jsonl"}, Stdin: in, Stdout: broken{}, Stderr: &stderr, Dir: home,
			Getenv: func(name string) string { return map[string]string{"HOME": home}[name] },
		})
	}()
	fmt.Fprintln(w, `{"id":"1","tool":"todoread"}`) // the input stays open: the output alone ends it
	if got := <-code; got != 1 || stderr.String() != "" {
		t.Errorf("exit code %d, standard error %q", got, stderr.String())
	}
}

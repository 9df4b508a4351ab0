package builtin_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A webVector is a network, rules and an address, and what has to become of
// fetching it. What is not known here is an error, so that no line is taken
// for less than it says.
type webVector struct {
	ID       string                     `json:"id"`
	Kind     string                     `json:"kind"` // fetch, redirect or body
	Cat      string                     `json:"cat"`
	Tier     string                     `json:"tier"`
	Rules    [][3]string                `json:"rules"`
	URL      json.RawMessage            `json:"url"`
	Chain    []json.RawMessage          `json:"chain"` // each redirects to the next
	Loop     bool                       `json:"loop"`  // and the last to the second
	Body     json.RawMessage            `json:"body"`
	DNS      map[string]json.RawMessage `json:"dns"`
	Expect   string                     `json:"expect"`
	Accept   []string                   `json:"accept"`
	Code     string                     `json:"code"`
	Dialled  string                     `json:"dial_must_be"`
	Display  string                     `json:"display"`
	Without  []string                   `json:"must_not_contain"`
	Must     string                     `json:"must"`
	MaxMS    int                        `json:"max_ms"`
	MaxMB    int                        `json:"max_mb"`
	Reason   string                     `json:"reason"`
	Note     string                     `json:"opencode_note"`
	Platform string                     `json:"platform"`
}

func TestWebVectors(t *testing.T) {
	file, err := os.Open("testdata/vectors/web.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	count := 0
	for lines.Scan() {
		var v webVector
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.DisallowUnknownFields()
		if err := d.Decode(&v); err != nil {
			t.Errorf("%s: %v", lines.Bytes(), err)
			continue
		}
		count++
		t.Run(v.ID, func(t *testing.T) {
			if v.Platform != "" && v.Platform != runtime.GOOS {
				t.Skip("not this platform: " + v.Platform)
			}
			for _, format := range v.formats() {
				switch problem := v.run(t, format); {
				case problem == "":
				case v.Tier == "should":
					t.Logf("%s: %s: not yet, which is allowed", v.Reason, problem)
				default:
					t.Errorf("%s: %s", v.Reason, problem)
				}
			}
		})
	}
	if err := lines.Err(); err != nil || count < 90 {
		t.Errorf("%d vectors were read: %v", count, err)
	}
}

// formats are those to fetch a page in: the contents of one in all, since
// each is made in another way.
func (v webVector) formats() []string {
	if v.Kind != "body" {
		return []string{"markdown"}
	}
	if len(v.Without) > 0 && strings.Contains(strings.Join(v.Without, ""), "<") {
		return []string{"markdown", "text"} // the source has tags
	}
	return []string{"markdown", "text", "html"}
}

// addresses are those that the vector speaks of, the first to be fetched.
func (v webVector) addresses(t *testing.T) []string {
	t.Helper()
	switch v.Kind {
	case "fetch":
		return []string{generated(t, v.URL)}
	case "redirect":
		var out []string
		for _, raw := range v.Chain {
			out = append(out, generated(t, raw))
		}
		return out
	case "body":
		return []string{"https://example.com/"}
	}
	t.Fatalf("the kind %q is not known here", v.Kind)
	return nil
}

// wire builds the network of a vector.
func (v webVector) wire(t *testing.T, addresses []string) (*wire, helve.Web) {
	t.Helper()
	answer := page("text/plain", "hello")
	switch {
	case v.Body != nil:
		answer = bodyOf(t, v.Body).serve
	case v.Chain != nil:
		answer = redirects(addresses, v.Loop)
	}
	w := newWire(t, answer)
	w.names["unused.example"] = nil // a table, although it may be empty
	hosts := []string{"example.com"}
	for _, a := range addresses {
		if u, err := url.Parse(a); err == nil && u.Hostname() != "" {
			hosts = append(hosts, u.Hostname())
			w.https[u.Port()] = w.https[u.Port()] || strings.EqualFold(u.Scheme, "https")
		}
	}
	for name, raw := range v.DNS {
		hosts = append(hosts, name)
		var one []string
		var each [][]string
		var word string
		switch {
		case json.Unmarshal(raw, &word) == nil && word == "timeout":
			w.stuck[name] = true
		case json.Unmarshal(raw, &one) == nil:
			w.names[name] = [][]string{one}
		case json.Unmarshal(raw, &each) == nil:
			w.names[name] = each
		default:
			t.Fatalf("the answer %s for %s is not known here", raw, name)
		}
	}
	hosts = slices.DeleteFunc(hosts, func(h string) bool { return strings.ContainsFunc(h, func(r rune) bool { return r <= ' ' || r > '~' }) })
	return w, helve.Web{Resolver: w, Dial: w.dial, TLS: w.serveTLS(t, hosts...)}
}

// redirects answers each request with the next of a chain of addresses.
func redirects(chain []string, loop bool) http.HandlerFunc {
	var mu sync.Mutex
	n := 0
	return func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if n++; loop && n >= len(chain) {
			n = 1
		}
		if n >= len(chain) {
			page("text/plain", "arrived")(w, nil)
			return
		}
		w.Header().Set("Location", chain[n])
		w.WriteHeader(http.StatusFound)
	}
}

// run fetches and says what is wrong with how that ended.
func (v webVector) run(t *testing.T, format string) string {
	t.Helper()
	addresses := v.addresses(t)
	w, network := v.wire(t, addresses)
	var rules permission.Ruleset
	for _, r := range v.Rules {
		rules = append(rules, permission.Rule{Permission: r[0], Pattern: r[1], Action: permission.Action(r[2])})
	}
	dir := t.TempDir()
	rt, err := helve.Open(helve.Options{Dir: dir, Worktree: dir, Unattended: true, Web: network,
		Agents: []agent.Spec{{Name: "test", Policy: permission.Policy{Rules: rules}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	args := map[string]any{"url": addresses[0], "format": format}
	if v.waits() { // for its own timeout, which need not be long
		args["timeout"] = 0.2
	}
	var res *tool.Result
	grown := heapGrowth(v.MaxMB > 0, func() {
		res, err = rt.Call(t.Context(), tool.Call{Tool: "webfetch", Input: asInput(t, args)})
	})
	if v.MaxMB > 0 && grown > uint64(v.MaxMB)<<20 {
		return "takes more than " + encoded(v.MaxMB) + " MB of memory: " + encoded(grown)
	}
	return v.judge(t, w, res, err)
}

// waits reports whether a vector ends by its own timeout.
func (v webVector) waits() bool {
	stuck := v.Body != nil && strings.Contains(string(v.Body), "slow_bytes_per_s")
	for _, raw := range v.DNS {
		stuck = stuck || string(raw) == `"timeout"`
	}
	return stuck
}

func (v webVector) judge(t *testing.T, w *wire, res *tool.Result, err error) string {
	t.Helper()
	got, code := outcomes(t, v.honest(t), res, err)
	allowed := v.Accept
	if allowed == nil {
		allowed = []string{v.Expect}
	}
	fits := slices.ContainsFunc(got, func(g string) bool { return slices.Contains(allowed, g) })
	switch {
	case !fits:
		return strings.Join(got, " or ") + " (" + code + "), and not " + strings.Join(allowed, " or ") + ": " + encoded(err) + sayError(err)
	case v.Code != "" && slices.Contains(got, v.Expect) && code != v.Code:
		return "has the code " + code + " and not " + v.Code + sayError(err)
	case v.Display != "" && (err == nil || !strings.Contains(err.Error(), v.Display)):
		return "does not show " + v.Display + sayError(err)
	}
	for _, addr := range w.dialled {
		if host, _, _ := net.SplitHostPort(addr); v.Dialled != "" && host != v.Dialled {
			return "dialled " + addr
		}
	}
	if v.Code == "invalid-url" && len(w.looked)+len(w.dialled) > 0 {
		return "used the network"
	}
	for _, word := range v.Without {
		if res != nil && strings.Contains(res.Output+res.Title, word) || err != nil && strings.Contains(err.Error(), word) {
			return "holds " + word
		}
	}
	if v.Body != nil && strings.Contains(string(v.Body), "svg") && res != nil && len(res.Attachments) > 0 {
		return "is attached as an image"
	}
	return ""
}

func sayError(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}

// outcomes are the words for how a call has ended. A page that was cut, and
// says so, stands for an error about its size if its server was honest: see
// docs/divergence.md. A Location that can not be read is refused, and an
// error.
func outcomes(t *testing.T, honest bool, res *tool.Result, err error) (got []string, code string) {
	t.Helper()
	if err == nil {
		if res.Metadata["cut"] == true && honest && strings.Contains(res.Output, "The page is too large") {
			return []string{"error"}, "too-large"
		}
		return []string{"allow"}, ""
	}
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		t.Fatal(err)
	}
	switch e.Kind {
	case tool.Denied:
		got = []string{"deny"}
	case tool.Unattended:
		got = []string{"ask"}
	default:
		got = []string{"error"}
		if e.Code == "redirect-refused" {
			got = append(got, "deny")
		}
	}
	return got, e.Code
}

// heapGrowth runs f and returns how much the heap has grown meanwhile, if
// that is to be measured.
func heapGrowth(measured bool, f func()) uint64 {
	if !measured {
		f()
		return 0
	}
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	most := before.HeapAlloc
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc)
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	}()
	f()
	close(done)
	<-stopped
	return most - before.HeapAlloc
}

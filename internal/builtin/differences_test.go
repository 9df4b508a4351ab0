package builtin_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/helve-dev/helve/internal/lspclient/lsptest"
	"github.com/helve-dev/helve/tooltest"
)

func TestMain(m *testing.M) {
	lsptest.Main()
	cannedServer()
	tooltest.Main(m)
}

// A difference is a place where we mean to do otherwise than the reference.
type difference struct {
	anchor string // where docs/divergence.md tells why
	name   string // the recording
	field  string // the path of the value; what lies below it may differ too
	ours   string // what our value holds, as JSON
	why    string
}

// accepted are our values where they differ, by recording and field: each is held
// exactly. "defaults." stands before what differs with helve's own defaults. They
// are written with -update; the table of differences says why each may differ.
type accepted map[string]map[string]any

const acceptedFile = "testdata/parity-accepted.json"

func loadAccepted(t *testing.T) accepted {
	t.Helper()
	all := accepted{}
	data, err := os.ReadFile(acceptedFile)
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil && !*update {
		t.Fatalf("%v (write it with -update)", err)
	}
	return all
}

func differences() []difference {
	const all = "asks_when_everything_asks"
	ds := []difference{
		{"agent.repeats", "permission.doom_loop_sequential", "asks.0", `"doom_loop"`, "a call in each of three messages is a repetition too"},
		{"arguments.unknown", "todo.read_with_args", "calls.0.metadata.repairs", `"dropped":true`, "a key that the tool does not know is named"},
		{"read.offset_string", "read.offset_string", "calls.0", "",
			"a number as a string is taken for the number; the reference lets it through and counts \"3\"+1 as 31"},
		{"read.png_text_content", "read.png_text_content", "calls.0", "",
			"what a file holds decides whether it is an image, not what it is called"},
		{"read.missing_parent", "read.missing_parent", "calls.0.error", "File not found: {{WS}}/no/such/dir/file.txt",
			"a file in a folder that does not exist is a file that is not found, not a raw system error"},
		{"read.suggestions", "read.missing_more_than_three", "calls.0.error", `{{WS}}/a.log\n{{WS}}/b.log\n{{WS}}/c.log`, "suggestions are sorted"},
		{"read.suggestions", "read.missing_similar_case", "calls.0.error", `{{WS}}/README.md\n{{WS}}/README.md.old`, "suggestions are sorted"},
		{"read.suggestions", "read.missing_similar_reverse", "calls.0.error", `{{WS}}/index.test.js\n{{WS}}/js`, "suggestions are sorted"},
		{"read.long_line_surrogate_split", "read.long_line_surrogate_split", "calls.0.output", "😀...", "a character is never cut in half"},
		{"read.long_line_surrogate_split", "read.long_line_surrogate_split", "calls.0.metadata.preview", "😀...", "a character is never cut in half"},
		{"read.relative", "read.relative_other_cwd", "calls.0", "", "a relative name starts at the folder of the session"},
		{"read.relative", "read.relative_other_cwd", all, "", "a relative name starts at the folder of the session"},
		{"read.clean_path", "read.dotdot", all + ".0.patterns.0", `"{{WS}}/a.txt"`, "what is asked about is the file, not a spelling of it"},
		{"read.clean_path", "read.subdir_session", all + ".0.patterns.0", `"{{TOP}}/b.txt"`, "what is asked about is the file, not a spelling of it"},
		{"read.symlink", "read.symlink", all + ".0.patterns.1", `"{{WS}}/real.txt"`, "a link is asked about under the name that it leads to, too"},
		{"read.symlink", "read.symlink_broken", all + ".0.patterns.1", `"{{WS}}/gone.txt"`, "a link is asked about under the name that it leads to, too"},
		{"read.directory", "read.directory", "calls.0", "", "a folder is listed"},
		{"read.directory", "read.empty_path", "calls.0", "", "a folder is listed"},
		{"read.encoding", "read.utf16le", "calls.0", "", "text is text in any encoding"},
		{"read.content", "read.binary_ext_wasm", "calls.0", "", "what a file holds decides whether it is text, not what it is called"},
		{"read.content", "read.binary_ext_upper", "calls.0", "", "what a file holds decides whether it is text, not what it is called"},
		{"read.broken_image", "read.webp", "calls.0", "", "an image that can not be decoded is not sent"},
		{"read.instructions", "read.nested_agents_md", "calls.0", "", "instruction files of the folders above are given, as later versions do"},
		{"tools.offered", "invalid.list_tool", "calls.0", "", "list is offered"},
		{"tools.offered", "invalid.list_tool", all + ".0", "", "list is offered"},
		{"tools.offered", "invalid.multiedit_tool", "calls.0", "", "multiedit is offered"},
		{"invalid.not_an_object", "invalid.array_arguments", "calls.0.error", "expected object, received array", "the model is told, and the loop goes on"},
		{"invalid.not_an_object", "invalid.string_arguments", "calls.0.error", "expected object, received string", "the model is told, and the loop goes on"},
		{"invalid.status", "invalid.good_and_bad_in_one_step", "calls.1.status", `"error"`, "a call that was not understood has failed; the model reads the same text"},
	}
	for _, name := range []string{
		"unknown_tool", "ls_tool", "patch_tool", "websearch_tool", "camel_unknown",
		"malformed_json_trailing_comma", "recovers",
	} {
		ds = append(ds, difference{"invalid.status", "invalid." + name, "calls.0.status", `"error"`,
			"a call that was not understood has failed; the model reads the same text"})
	}
	ds = append(ds, difference{"invalid.status", "batch.not_enabled", "calls.0.status", `"error"`,
		"a call that was not understood has failed; the model reads the same text"})
	return slices.Concat(ds, fileDifferences(), searchDifferences(), bashDifferences(), webDifferences(), skillDifferences(), lspDifferences())
}

// A finding is a value that is not as recorded.
type finding struct {
	field     string
	want, got any
}

func TestParity(t *testing.T) {
	known := map[string][]difference{}
	for _, d := range differences() {
		known[d.name] = append(known[d.name], d)
	}
	var mu sync.Mutex
	counts := map[string]int{}
	count := func(what string) {
		mu.Lock()
		defer mu.Unlock()
		counts[what]++
	}
	have := toolNames()
	all := loadRecordings(t)
	names := map[string]bool{}
	exact, now := loadAccepted(t), accepted{}
	t.Run("recordings", func(t *testing.T) {
		for _, r := range all {
			names[r.Name] = true
			t.Run(r.Name, func(t *testing.T) {
				t.Parallel()
				if why := r.skip(have); why != "" {
					count("skipped: " + why)
					t.Skip(why)
				}
				found := r.compare(t)
				ours := map[string]any{}
				for _, f := range found {
					ours[f.field] = brief(f.got)
				}
				mu.Lock()
				now[r.Name] = ours
				mu.Unlock()
				want := exact[r.Name]
				if *update {
					want = ours
				}
				report(t, found, known[r.Name], want)
				switch {
				case t.Failed():
					count("failed")
				case len(found) > 0:
					count("run, and different on purpose")
				default:
					count("run, and the same")
				}
			})
		}
	})
	for name := range exact {
		if !names[name] {
			t.Errorf("%s names %s, and there is no such recording", acceptedFile, name)
		}
	}
	if *update {
		maps.Copy(exact, now)
		maps.DeleteFunc(exact, func(_ string, ours map[string]any) bool { return len(ours) == 0 })
		data, err := json.MarshalIndent(exact, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(acceptedFile, append(data, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name := range known {
		if !names[name] {
			t.Errorf("the table of differences names %s, and there is no such recording", name)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%3d recordings %s", counts[what], what)
	}
}

// brief is a value with long texts by their sum.
func brief(v any) any {
	switch v := v.(type) {
	case string:
		if len(v) > 4000 {
			return map[string]any{"$sha256": digest(v), "$bytes": float64(len(v))}
		}
	case map[string]any:
		out := map[string]any{}
		for key, one := range v {
			out[key] = brief(one)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, one := range v {
			out[i] = brief(one)
		}
		return out
	}
	return v
}

// report fails for what differs and should not, or otherwise than it should,
// and for what should and does not.
func report(t *testing.T, found []finding, known []difference, exact map[string]any) {
	t.Helper()
	used := make([]bool, len(known))
	told := map[string]bool{}
	for _, f := range found {
		plain, i := strings.TrimPrefix(f.field, "defaults."), -1
		for j, d := range known {
			if strings.HasPrefix(f.field+".", d.field+".") || strings.HasPrefix(plain+".", d.field+".") {
				i, used[j] = j, true
			}
		}
		if i < 0 {
			t.Errorf("%s:\n got %s\nwant %s", f.field, encoded(f.got), encoded(f.want))
			continue
		}
		if ours := encoded(f.got); !strings.Contains(ours, known[i].ours) {
			t.Errorf("%s differs as it should, but is %s and does not hold %s", f.field, ours, known[i].ours)
		}
		told[f.field] = true
		if want, ok := exact[f.field]; !ok || encoded(want) != encoded(brief(f.got)) {
			t.Errorf("%s differs, but is\n     %s\nand not %s, as in %s", f.field, encoded(brief(f.got)), encoded(want), acceptedFile)
		}
	}
	for field := range exact {
		if !told[field] {
			t.Errorf("%s has a value for %s, which does not differ", acceptedFile, field)
		}
	}
	for i, d := range known {
		if !used[i] {
			t.Errorf("%s is in the table of differences, and does not differ (%s)", d.field, d.why)
		}
	}
}

// TestDifferencesAreTold holds the table against the paper for people.
func TestDifferencesAreTold(t *testing.T) {
	const file = "../../docs/divergence.md"
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range differences() {
		if !strings.Contains(string(doc), "`"+d.anchor+"`") {
			t.Errorf("docs/divergence.md does not tell of `%s` (%s: %s)", d.anchor, d.name, d.why)
		}
	}
}

// compare runs a recording and returns what is not as recorded.
func (r recording) compare(t *testing.T) []finding {
	t.Helper()
	found, p, same := r.hold(t, build(t, r), manner{})
	if r.hasDefaults() {
		if !same {
			p = build(t, r)
		}
		others, _, _ := r.hold(t, p, manner{defaults: true})
		for _, f := range others {
			f.field = "defaults." + f.field
			found = append(found, f)
		}
	}
	return found
}

// hold runs a recording in one manner.
func (r recording) hold(t *testing.T, p place, m manner) (found []finding, last place, same bool) {
	t.Helper()
	c := comparison{unstable: r.Expected.Unstable}
	got, available, same := r.play(t, p, m)
	c.available = available
	c.list("calls", addedLines(r.Expected.Calls), got.Calls)
	c.list("inner", addedLines(r.Expected.Inner), got.Inner)
	c.list("asks", r.inOrder(addedLines(r.Expected.Asks)), r.inOrder(got.Asks))
	c.list("questions", addedLines(r.Expected.Questions), got.Questions)
	c.list("saved_output", addedLines(r.Expected.Saved), got.Saved)
	c.files("files", r.Expected.Files, got.Files)
	c.files("files_outside", r.Expected.FilesOutside, got.FilesOutside)
	c.files("files_beside_workspace", r.Expected.FilesBeside, got.FilesBeside)
	if r.Expected.AsksAll != nil {
		if !same {
			p = build(t, r)
		}
		m.askAll = true
		got, _, same = r.play(t, p, m)
		c.list("asks_when_everything_asks", r.inOrder(addedLines(r.Expected.AsksAll)), r.inOrder(got.Asks))
	}
	return c.found, p, same
}

// inOrder sorts the requests of a batch: its calls run side by side, and
// which of them asks first is not promised.
func (r recording) inOrder(asks []any) []any {
	if r.Profile == "batch" {
		slices.SortFunc(asks, func(a, b any) int { return strings.Compare(encoded(a), encoded(b)) })
	}
	return asks
}

// addedLines leaves out of recorded values what is not compared: ids, the input
// that we sent, how a request was answered, and what another part tells the
// model.
func addedLines(list []any) []any {
	drop := []string{"id", "to_model", "call", "answered", "sessionID", "messageID"}
	var out []any
	for _, v := range list {
		m := maps.Clone(v.(map[string]any))
		if m["id"] != nil {
			delete(m, "input") // of a call: it is what was sent
		}
		for _, key := range drop {
			delete(m, key)
		}
		if text, ok := m["error"].(string); ok {
			m["error"] = stripKeys(text)
		}
		if as, ok := m["attachments"].([]any); ok {
			m["attachments"] = addedLines(as)
		}
		out = append(out, m)
	}
	return out
}

// stripKeys takes away the prefix that the reference puts before an error.
func stripKeys(text string) string { return strings.TrimPrefix(text, "Error: ") }

type comparison struct {
	available []string
	unstable  []string
	found     []finding
}

func (c *comparison) files(field string, want, got map[string]any) {
	names := maps.Clone(want)
	if names == nil {
		names = map[string]any{}
	}
	maps.Copy(names, got)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		c.value(field+"."+name, want[name], got[name])
	}
}

func (c *comparison) list(field string, want, got []any) {
	for i := range max(len(want), len(got)) {
		var w, g any
		if i < len(want) {
			w = want[i]
		}
		if i < len(got) {
			g = got[i]
		}
		c.value(fmt.Sprintf("%s.%d", field, i), w, g)
	}
}

func (c *comparison) value(field string, want, got any) {
	if slices.Contains(c.unstable, "/"+strings.ReplaceAll(field, ".", "/")) {
		return
	}
	switch w := want.(type) {
	case map[string]any:
		if hash, ok := w["$sha256"]; ok {
			if text, ok := got.(string); !ok || digest(text) != hash {
				c.found = append(c.found, finding{field, want, got})
			}
			return
		}
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		keys := maps.Clone(w)
		maps.Copy(keys, g)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			if _, both := w[key]; !both {
				c.value(field+"."+key, nil, g[key])
			} else if _, both := g[key]; !both {
				c.value(field+"."+key, w[key], nil)
			} else {
				c.value(field+"."+key, w[key], g[key])
			}
		}
		return
	case []any:
		g, ok := got.([]any)
		if !ok || len(w) == 0 || len(g) == 0 {
			break
		}
		c.list(field, w, g)
		return
	case string:
		want = onlyTools(sayings(w), c.available)
		if g, ok := got.(string); ok {
			got = onlyTools(sayings(g), listedTools(w))
		}
	}
	if encoded(want) != encoded(got) {
		c.found = append(c.found, finding{field, want, got})
	}
}

// listedTools are the tools that a text says are available.
func listedTools(s string) []string {
	if m := toolList().FindStringSubmatch(s); m != nil {
		return strings.Split(m[1], ", ")
	}
	return nil
}

// onlyTools leaves only some tools in such a list, in its order: we do not
// have all that the reference had, and have others.
func onlyTools(s string, keep []string) string {
	return toolList().ReplaceAllStringFunc(s, func(m string) string {
		names := slices.DeleteFunc(listedTools(m), func(n string) bool { return !slices.Contains(keep, n) })
		return "Available tools: " + strings.Join(names, ", ")
	})
}

func toolList() *regexp.Regexp { return regexp.MustCompile(`Available tools: ([a-z_, ]+)`) }

// sayings cuts off what a JSON parser says: those words are its own.
func sayings(s string) string {
	const mark = "Error message: "
	if i := strings.Index(s, mark); i >= 0 && strings.Contains(s[:i], "JSON parsing failed") {
		return s[:i+len(mark)]
	}
	return s
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func encoded(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

//go:build unix && !race

package custom_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// Under the race detector the engine is a hundred times slower, and nothing here is at once.

// The corpus is tool and plugin files as people write them, in testdata/corpus/config, and beside
// each a list of steps: calls of its tools, payloads of its hooks. What Bun makes of them is kept
// in testdata/corpus/answers, and ours has to be the same. With HELVE_BUN, the path of Bun's binary
// below a node_modules with zod in it, Bun's answers are made anew and held against those that are
// kept; HELVE_BUN_UPDATE=1 keeps them.
func TestCorpus(t *testing.T) {
	names := corpusNames(t)
	if len(names) < 45 {
		t.Fatalf("only %d files", len(names))
	}
	corpusEnvironment(t)
	for _, name := range names {
		t.Run(strings.TrimSuffix(name, filepath.Ext(name)), func(t *testing.T) {
			if bun := os.Getenv("HELVE_BUN"); bun != "" {
				compareWithKept(t, bun, name)
			}
			want := readCorpus[corpusRecord](t, answerFile(name))
			p := plantCorpus(t, name)
			got := p.record(t, p.runOurs(t, want.Answers))
			if diff := cmp.Diff(plain(t, want), plain(t, got)); diff != "" {
				t.Errorf("(-bun +ours)\n%s", diff)
			}
		})
	}
}

// TestCorpusTogether has all files in one folder, as they would be: they share an engine, helpers
// and packages.
func TestCorpusTogether(t *testing.T) {
	corpusEnvironment(t)
	p := plantCorpus(t, corpusNames(t)...)
	r := newCorpusRuntime(t, p)
	r.set.Gather(t.Context())
	loaded := 0
	for _, f := range r.set.Status() {
		kept := readCorpus[corpusRecord](t, answerFile(strings.TrimPrefix(filepath.ToSlash(strings.TrimPrefix(f.Path, p.config)), "/")))
		if want := kept.Answers[0].Error; want != nil {
			if !strings.Contains(p.mask(f.Problem), want.Message) {
				t.Errorf("%s: %q, want %q", f.Path, f.Problem, want.Message)
			}
			continue
		}
		loaded++
		if f.Problem != "" || f.Engine != "embedded" {
			t.Errorf("%s: %s %s %s", f.Path, f.State, f.Engine, f.Problem)
		}
	}
	if loaded < 45 {
		t.Errorf("only %d files", loaded)
	}
	if got := r.step(t.Context(), corpusStep{Call: "json-query", Args: json.RawMessage(`{"file":"package.json","path":"version"}`)}); got.Output != `"1.4.2"` {
		t.Errorf("%+v", got)
	}
}

func compareWithKept(t *testing.T, bun, name string) {
	t.Helper()
	p := plantCorpus(t, name)
	fresh := p.record(t, p.runBun(t, bun))
	if os.Getenv("HELVE_BUN_UPDATE") != "" {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", " ")
		if err := enc.Encode(fresh); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(answerFile(name), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept := readCorpus[corpusRecord](t, answerFile(name))
	if diff := cmp.Diff(plain(t, kept), plain(t, fresh)); diff != "" {
		t.Errorf("Bun's answers are not those that are kept (-kept +bun)\n%s", diff)
	}
}

func corpusFile(name ...string) string {
	return filepath.Join(append([]string{"testdata", "corpus"}, name...)...)
}

// answerFile is where the answers to a file are kept.
func answerFile(name string) string {
	return corpusFile("answers", strings.ReplaceAll(strings.TrimSuffix(name, filepath.Ext(name)), "/", "-")+".json")
}

// corpusNames are the files of the corpus, "tools/x.ts".
func corpusNames(t testing.TB) []string {
	t.Helper()
	var all []string
	for _, dir := range []string{"tools", "plugins"} {
		for _, ext := range []string{"ts", "js"} {
			found, err := filepath.Glob(corpusFile("config", dir, "*."+ext))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range found {
				all = append(all, dir+"/"+filepath.Base(f))
			}
		}
	}
	slices.Sort(all)
	return all
}

func readCorpus[T any](t testing.TB, file string) T {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var value T
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return value
}

// A corpusStep is one of: a call of a tool, a run of hooks, an event, the end.
type corpusStep struct {
	Call    string          `json:"call,omitempty"`
	Args    json.RawMessage `json:"args,omitempty"`
	Agent   string          `json:"agent,omitempty"`
	Hook    string          `json:"hook,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"`
	Output  json.RawMessage `json:"output,omitempty"`
	Event   json.RawMessage `json:"event,omitempty"`
	Dispose bool            `json:"dispose,omitempty"`
	Words   string          `json:"words,omitempty"` // why the words of an error may differ
}

// A corpusAnswer is what came of a step; that of loading is the first.
type corpusAnswer struct {
	Tools       []corpusTool    `json:"tools,omitempty"`
	Hooks       []string        `json:"hooks,omitempty"`
	Error       *corpusError    `json:"error,omitempty"`
	Title       string          `json:"title,omitempty"`
	Output      string          `json:"output,omitempty"`
	Metadata    json.RawMessage `json:"metadata,omitempty"`
	Attachments json.RawMessage `json:"attachments,omitempty"`
	Errors      []corpusError   `json:"errors,omitempty"` // of hooks
	Hooked      json.RawMessage `json:"hooked,omitempty"` // what they made of the output
	Told        []string        `json:"told,omitempty"`   // what the host was asked or told meanwhile
}

func (a *corpusAnswer) withoutWords() {
	if a.Error != nil {
		a.Error.Message = "(words of its own)"
	}
	for i := range a.Errors {
		a.Errors[i].Message = "(words of its own)"
	}
}

type corpusTool struct {
	ID          string          `json:"id"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

type corpusError struct {
	Name    string `json:"name"`
	Message string `json:"message"`
}

// plain is a record as plain values.
func plain(t *testing.T, r corpusRecord) any {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	answers, _ := all["answers"].([]any)
	for i, answer := range r.Answers {
		one, _ := answers[i].(map[string]any)
		for j, line := range answer.Told { // the order of names is nobody's business
			what, arg, _ := strings.Cut(line, " {")
			var value any
			if json.Unmarshal([]byte("{"+arg), &value) == nil {
				one["told"].([]any)[j] = []any{what, value}
			}
		}
		if thrown, ok := one["error"].(map[string]any); ok { // callers are told the message only
			delete(thrown, "name")
		}
		tools, _ := one["tools"].([]any)
		slices.SortFunc(tools, func(a, b any) int {
			return strings.Compare(fmt.Sprint(a.(map[string]any)["id"]), fmt.Sprint(b.(map[string]any)["id"]))
		})
		for _, tool := range tools {
			one := tool.(map[string]any)
			one["schema"] = normal(one["schema"])
		}
	}
	return all
}

// normal is a schema in the one form that both have: without defaults, which tools of ours have in
// their descriptions since nobody fills them in, and with no short forms.
func normal(schema any) any {
	switch s := schema.(type) {
	case bool:
		if s {
			return map[string]any{}
		}
		return map[string]any{"not": map[string]any{}}
	case map[string]any:
		delete(s, "$schema")
		for name, one := range s {
			if name != "const" && name != "enum" && name != "examples" && name != "deprecated" {
				s[name] = normal(one)
			}
		}
	case []any:
		for i, one := range s {
			s[i] = normal(one)
		}
	}
	return schema
}

// A corpusRecord is all that came of a file, with what differs from run to run masked.
type corpusRecord struct {
	Answers []corpusAnswer    `json:"answers"`
	Files   map[string]string `json:"files,omitempty"` // that are new or changed in the project and at home; "" is gone
}

// A planted corpus file is in a project of its own.
type planted struct {
	name                        string // of the file
	names                       []string
	base, project, config, home string
	server                      string
	steps                       []corpusStep
	before                      map[string]string
}

// corpusEnvironment gives all programs the same variables, so that commits have the same names
// everywhere.
func corpusEnvironment(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for name, value := range map[string]string{
		"TZ": "UTC", "LANG": "C", "LC_ALL": "C", "GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME": "Ann Author", "GIT_AUTHOR_EMAIL": "ann@shop.example", "GIT_AUTHOR_DATE": "2024-03-01T10:00:00Z",
		"GIT_COMMITTER_NAME": "Carl Committer", "GIT_COMMITTER_EMAIL": "carl@shop.example", "GIT_COMMITTER_DATE": "2024-03-01T10:00:00Z",
		"SHOP_REGION": "north", "SHOP_LEVEL": "", "NO_COLOR": "1",
	} {
		t.Setenv(name, value)
	}
}

// plantCorpus makes a project with a config folder with some files in it, and with nothing else of
// the corpus but helpers. The steps are those of the first.
func plantCorpus(t *testing.T, names ...string) *planted {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	name := names[0]
	p := &planted{name: name, names: names, base: base, project: filepath.Join(base, "shop"), home: filepath.Join(base, "home"), server: corpusServer(t)}
	p.config = filepath.Join(p.project, ".opencode")
	plantArchive(t, p.project, corpusFile("project.txtar"))
	plantArchive(t, p.config, corpusFile("packages.txtar"))
	plantHistory(t, p.project)
	for _, dir := range []string{p.home, filepath.Join(base, "tmp")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", p.home)
	t.Setenv("TMPDIR", filepath.Join(base, "tmp"))
	plantHelpers(t, p)
	stepsFile := corpusFile("config", strings.TrimSuffix(filepath.FromSlash(name), filepath.Ext(name))+".steps.json")
	text, err := os.ReadFile(stepsFile)
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.NewReplacer("$PROJECT", p.project, "$SERVER", p.server).Replace(string(text)))
	if err := json.Unmarshal(text, &p.steps); err != nil {
		t.Fatalf("%s: %v", stepsFile, err)
	}
	p.before = p.snapshot(t)
	return p
}

func plantArchive(t *testing.T, root, file string) {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Files {
		writeCorpusFile(t, filepath.Join(root, filepath.FromSlash(f.Name)), f.Data)
	}
}

func writeCorpusFile(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// plantHelpers copies the files and everything that is no tool or plugin.
func plantHelpers(t *testing.T, p *planted) {
	t.Helper()
	root := corpusFile("config")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if dir := filepath.Dir(rel); (dir == "tools" || dir == "plugins") && !slices.Contains(p.names, filepath.ToSlash(rel)) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil {
			writeCorpusFile(t, filepath.Join(p.config, rel), text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// plantHistory gives a project two commits, a tag, a branch and changes that are not committed.
func plantHistory(t *testing.T, project string) {
	t.Helper()
	git := func(args ...string) {
		command := exec.CommandContext(t.Context(), "git", args...)
		command.Dir = project
		if said, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, said)
		}
	}
	git("init", "-q", "-b", "main")
	writeCorpusFile(t, filepath.Join(project, ".git", "info", "exclude"), []byte(".opencode\n.env\n"))
	git("add", "package.json", "README.md", "CHANGELOG.md", "src", "test")
	git("commit", "-q", "-m", "feat: first version")
	git("tag", "v1.4.1")
	git("add", "scripts", "data", "docs", "logs", "locales")
	git("commit", "-q", "-m", "fix(cart): count lines\n\nRefs: #12")
	git("branch", "spare")
	appended, err := os.ReadFile(filepath.Join(project, "src", "util", "date.js"))
	if err != nil {
		t.Fatal(err)
	}
	writeCorpusFile(t, filepath.Join(project, "src", "util", "date.js"), append(appended, "export const today = () => day(new Date());\n"...))
}

// snapshot is the text of all files that steps may change.
func (p *planted) snapshot(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for label, root := range map[string]string{"": p.project, "~/": p.home} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules" || d.Name() == ".bun") {
				return filepath.SkipDir
			}
			rel, err := filepath.Rel(root, path)
			if err != nil || d.IsDir() {
				return err
			}
			if d.Type()&fs.ModeSymlink != 0 {
				to, err := os.Readlink(path)
				all[label+rel] = "-> " + to
				return err
			}
			text, err := os.ReadFile(path)
			all[label+rel] = string(text)
			if bytes.HasPrefix(text, []byte("SQLite format 3")) {
				all[label+rel] = "a database"
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// record masks answers and adds what became of the files.
func (p *planted) record(t *testing.T, answers []corpusAnswer) corpusRecord {
	t.Helper()
	for i, s := range p.steps {
		if s.Words != "" {
			answers[i+1].withoutWords()
		}
	}
	text, err := json.Marshal(answers)
	if err != nil {
		t.Fatal(err)
	}
	var r corpusRecord
	if err := json.Unmarshal([]byte(p.mask(string(text))), &r.Answers); err != nil {
		t.Fatalf("%v: %s", err, p.mask(string(text)))
	}
	r.Files = map[string]string{}
	after := p.snapshot(t)
	for name, now := range after {
		if p.before[name] != now {
			r.Files[p.mask(name)] = p.mask(now)
		}
	}
	for name := range p.before {
		if _, ok := after[name]; !ok {
			r.Files[name] = ""
		}
	}
	if len(r.Files) == 0 {
		r.Files = nil
	}
	return r
}

// mask takes out what differs from run to run: places, addresses, times, ids.
func (p *planted) mask(text string) string {
	text = strings.NewReplacer(p.project, "$PROJECT", p.base, "$BASE", p.server, "$SERVER", strings.TrimPrefix(p.server, "http://"), "$HOST").Replace(text)
	for _, m := range []struct{ pattern, with string }{
		{`\b20(2[5-9]|[3-9]\d)-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`, "<time>"},
		{`\b20(2[5-9]|[3-9]\d)-\d\d-\d\d\b`, "<day>"},
		{`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`, "<uuid>"},
		{`\b\d+(\.\d+)? ?ms\b`, "<n>ms"},
		{`\b1[89]\d{11}\b`, "<millis>"},
	} {
		text = regexp.MustCompile(m.pattern).ReplaceAllString(text, m.with)
	}
	return text
}

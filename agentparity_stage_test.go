package helve_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A stage is where a take is played.
type stage struct {
	base, top, ws, out, data string
	names                    []string // of folders, and what recordings call them
}

func (k take) stage(t *testing.T) stage {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := stage{base: base, top: filepath.Join(base, "workspace"), out: filepath.Join(base, "out"), data: filepath.Join(base, "data")}
	s.ws = filepath.Join(s.top, k.Subdir)
	s.names = []string{s.ws, "{{WS}}", s.ws[1:], "{{WS_NO_SLASH}}"}
	if s.top != s.ws {
		s.names = append(s.names, s.top, "{{TOP}}")
	}
	s.names = append(s.names, s.out, "{{OUT}}", s.data, "{{DATA}}", base, "{{BASE}}", "../data/", "{{DATA_FROM_TOP}}/")
	put := func(path, text string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{s.ws, s.out, s.data} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(s.top, ".git", "HEAD"), "ref: refs/heads/main\n")
	put(filepath.Join(s.top, ".git", "config"), "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n")
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		if err := os.MkdirAll(filepath.Join(s.top, ".git", dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if k.Config.Permission != nil {
		put(filepath.Join(s.top, "opencode.json"), "{}") // where the reference found them
	}
	for _, f := range k.Fixture {
		put(filepath.Join(map[string]string{"": s.top, "out": s.out}[f.Root], f.Path), f.Text)
	}
	if k.HTTP != nil {
		site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for _, page := range k.HTTP {
				if page.Path == r.URL.Path {
					for name, value := range page.Headers {
						w.Header().Set(name, value)
					}
					_, _ = w.Write([]byte(page.Text))
				}
			}
		}))
		t.Cleanup(site.Close)
		s.names = append(s.names, site.URL, "{{HTTP}}")
	}
	return s
}

// expand puts the folders into a text of a recording.
func (s stage) expand(text string) string {
	back := slices.Clone(s.names)
	for i := 0; i < len(back); i += 2 {
		back[i], back[i+1] = back[i+1], back[i]
	}
	return strings.NewReplacer(back...).Replace(text)
}

// normal takes folders and ids out of what happened, and gives it the types
// that JSON has.
func (s stage) normal(t *testing.T, v any) any {
	t.Helper()
	text := strings.NewReplacer(s.names...).Replace(inJSON(v))
	for pattern, name := range map[string]string{
		`(tool-output/)tool_\w+`: "${1}{{TOOL_ID}}", `ses_[0-9A-Za-z]+`: "{{SES_ID}}", `prt_[0-9A-Za-z]+`: "{{PRT_ID}}",
		`(opencode/plans/)[0-9A-Za-z_-]+\.md`: "${1}{{PLAN_FILE}}",
		// What a prompt costs goes by the length of the folder's name.
		`("cost":)0\.\d+`: `${1}0`, `("tokens":\{[^{}]*"cache":\{[^{}]*\},"input":)\d+,"output":\d+`: `${1}0,"output":0`,
	} {
		text = regexp.MustCompile(pattern).ReplaceAllString(text, name)
	}
	var out any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// files are the contents below the worktree.
func (s stage) files(t *testing.T) map[string]any {
	t.Helper()
	out := map[string]any{}
	err := fs.WalkDir(os.DirFS(s.top), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(s.top, path))
		out[path] = map[string]any{"text": string(data)}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// saved are the sums of the outputs that were kept.
func (s stage) saved(t *testing.T) (all []any) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.data, "tool-output", "tool_*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer(s.names...).Replace(string(data))
		all = append(all, map[string]any{"bytes": len(text), "sha256": fmt.Sprintf("%x", sha256.Sum256([]byte(text)))})
	}
	return all
}

// A user answers requests and questions in order, and notes them.
type user struct {
	rt       *helve.Runtime
	patience int // nothing is answered before so many requests wait

	mu               sync.Mutex
	replies, answers []json.RawMessage
	waiting          []string
	asks, questions  []any
}

// sit lets the user answer until the function is called that it returns.
func (u *user) sit() (leave func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done, events := make(chan struct{}), u.rt.Events(ctx, 0)
	go func() {
		defer close(done)
		for e := range events {
			switch q := e.Properties.(type) {
			case event.PermissionAsked:
				u.asked(q.Request)
			case event.QuestionAsked:
				u.answer(q.QuestionRequest)
			}
		}
	}()
	return func() { cancel(); <-done }
}

func (u *user) asked(req permission.Request) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.asks = append(u.asks, map[string]any{
		"permission": req.Permission, "patterns": req.Patterns, "always": req.Always, "metadata": req.Metadata,
	})
	if u.waiting = append(u.waiting, req.ID); len(u.waiting) < u.patience {
		return
	}
	for _, id := range u.waiting {
		reply := permission.Reply{Verdict: permission.ReplyOnce}
		if len(u.replies) > 0 {
			if json.Unmarshal(u.replies[0], &reply.Verdict) != nil {
				_ = json.Unmarshal(u.replies[0], &reply)
			}
			u.replies = u.replies[1:]
		}
		_ = u.rt.Requests().Reply(id, reply) // it may have been answered with another
	}
	u.waiting, u.patience = nil, 0
}

func (u *user) answer(req tool.QuestionRequest) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.questions = append(u.questions, map[string]any{"questions": req.Questions})
	var words [][]string
	if len(u.answers) > 0 {
		_ = json.Unmarshal(u.answers[0], &words)
		u.answers = u.answers[1:]
	}
	_ = u.rt.Requests().Answer(req.ID, words)
}

//go:build linux

package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/internal/lspclient/lsptest"
	"github.com/helve-dev/helve/internal/modeltest"
	"github.com/helve-dev/helve/lab/internal/proof"
)

// Sizes of what the server works on. They do not grow with the time, so that
// memory that does is not theirs.
const (
	sources = 300 // files that are searched
	shared  = 8   // files that everybody changes
)

type input = map[string]any

// A world is the server, and all that it lives with.
type world struct {
	*proof.World
	*tally
	s       *settings
	self    string // this program
	subject *server
	log     *os.File // of the server
	pages   *httptest.Server

	mu      sync.Mutex
	model   *exec.Cmd
	modelAt string
}

func newWorld(s *settings) (w *world, err error) {
	p, err := proof.NewWorld()
	if err != nil {
		return nil, err
	}
	w = &world{World: p, tally: newTally(), s: s, pages: httptest.NewServer(pages())}
	w.self, _ = os.Executable() // starting it says so where it is not known
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if w.log, err = os.Create(filepath.Join(w.Root, "server.log")); err != nil {
		return w, err
	}
	if err := errors.Join(w.startModel(), w.writeFiles()); err != nil {
		return w, err
	}
	w.subject, err = startServer(w)
	return w, err
}

// callsTemp is the temporary folder of the commands, apart from the server's:
// one that is killed leaves its folder for scripts there.
func (w *world) callsTemp() string { return filepath.Join(w.Root, "calls") }

// close ends and removes everything; what was started is ended first.
func (w *world) close() (err error) {
	if w.subject != nil {
		err = w.subject.end()
	}
	w.endModel()
	w.pages.CloseClientConnections()
	w.pages.Close()
	if w.log != nil {
		err = errors.Join(err, w.log.Close())
	}
	return errors.Join(err, w.Close())
}

// lastWords is how the server ended, if it did, and the end of its log.
func (w *world) lastWords() error {
	select {
	case <-w.subject.exited:
	case <-time.After(time.Second):
		return nil
	}
	text, err := os.ReadFile(w.log.Name())
	return errors.Join(w.subject.failed, err, fmt.Errorf("its last words:\n%s", text[max(0, len(text)-16_000):]))
}

//go:embed config calls.json model.json
var data embed.FS

// writeFiles writes the project and the configuration.
func (w *world) writeFiles() error {
	err := os.Mkdir(w.callsTemp(), 0o700)
	for i := range sources {
		err = errors.Join(err, w.Write(fmt.Sprintf("src/d%d/f%d.go", i%12, i), fmt.Sprintf("package p%d\n\n// needle-%d is here.\n%s",
			i, i, strings.Repeat(fmt.Sprintf("func f%d() int { return %d }\n", i, i), 40))))
	}
	for i := range shared {
		err = errors.Join(err, w.Write(sharedName(i), sharedText(i)))
	}
	err = errors.Join(err, w.Write(".env", "SECRET=1\n"), w.Write("large.txt", strings.Repeat("a line of a file that is read as a whole\n", 1000)))
	for _, name := range []string{"helve.json", "plugin/watch.ts", "tool/lines.ts", "tool/sulk.ts", "tool/shout.sh", "skill/tidy/SKILL.md"} {
		err = errors.Join(err, w.configure(name, ""))
	}
	return err
}

// configure writes a file of the config folder, as editors do: all at once.
// What follows makes it another version of it.
func (w *world) configure(name, more string) error {
	text, err := data.ReadFile("config/" + name)
	if err != nil {
		return err
	}
	language, err := json.Marshal(lsptest.Command("--child"))
	if err != nil {
		return err
	}
	filled := strings.NewReplacer("$MODEL", w.modelAt, "$PAGES", w.pages.URL, "$SELF", w.self, "$LSP", string(language)).Replace(string(text))
	path, half := filepath.Join(w.Home, "config", "helve", name), filepath.Join(w.Root, "half")
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(half, []byte(filled+more), 0o755), os.Rename(half, path))
}

// sharedName is a file that everybody changes.
func sharedName(i int) string { return fmt.Sprintf("shared/s%d.txt", i) }

func sharedText(i int) string {
	return strings.Repeat("a line that stays\n", 20) + fmt.Sprintf("value of %d: 0\n", i) + strings.Repeat("another line\n", 20)
}

// command is the command helve with arguments, in the project.
func (w *world) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := w.Command(ctx, append([]string{w.self, wordHelve}, args...)...)
	cmd.Env = w.Env("TMPDIR=" + w.callsTemp())
	return cmd
}

// startModel starts the model, at the address that it had before if it had one.
func (w *world) startModel() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	script, listen := filepath.Join(w.Root, "script.json"), "127.0.0.1:0"
	if w.modelAt != "" {
		listen = strings.TrimSuffix(strings.TrimPrefix(w.modelAt, "http://"), "/v1")
	} else if text, err := modelScripts(); errors.Join(err, os.WriteFile(script, text, 0o600)) != nil {
		return fmt.Errorf("the model's script: %w", err)
	}
	argv := modeltest.Command("-listen", listen, script)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Stderr = w.Env(), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	w.model = cmd
	_, err = fmt.Fscan(out, &w.modelAt)
	return err
}

// endModel kills the model.
func (w *world) endModel() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.model != nil {
		_ = w.model.Process.Kill() // it may be gone
		_ = w.model.Wait()         // it was killed
		w.model = nil
	}
}

// variants is how many prompts play a fault of the model, which is played once.
const variants = 400

// A modelFile is model.json: what the model says to prompts, and how it fails.
type modelFile struct {
	Scripts []any                      `json:"scripts"`
	Faults  map[string]modeltest.Fault `json:"faults"`
}

func readModel() (m modelFile, err error) {
	text, err := data.ReadFile("model.json")
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	return m, err
}

// modelScripts is what the model says, by what it is asked.
func modelScripts() ([]byte, error) {
	m, err := readModel()
	if err != nil {
		return nil, err
	}
	for name, fault := range m.Faults {
		for i := range variants {
			m.Scripts = append(m.Scripts, map[string]any{"match": fmt.Sprintf("%s %d.", name, i), "replies": []modeltest.Reply{{Text: "I have caught myself.", Chunk: 2, Fault: &fault}}})
		}
	}
	return json.Marshal(map[string]any{"scripts": m.Scripts})
}

// serveThings is a small MCP server whose tools are slow, talkative or deadly.
func serveThings(ctx context.Context) error {
	type wish struct {
		Text string `json:"text"`
		MS   int    `json:"ms,omitempty" jsonschema:"how long to take, in milliseconds"`
		Size int    `json:"size,omitempty" jsonschema:"how much to say, in bytes"`
	}
	fmt.Fprintln(os.Stderr, "here are things") // its log is kept from now on
	s := mcp.NewServer(&mcp.Implementation{Name: "things", Version: "1"}, nil)
	for _, name := range []string{"echo", "slow", "die"} {
		mcp.AddTool(s, &mcp.Tool{Name: name, Description: "Says it again."}, func(ctx context.Context, _ *mcp.CallToolRequest, w wish) (*mcp.CallToolResult, any, error) {
			if name == "die" {
				os.Exit(3)
			}
			sleep(ctx, time.Duration(w.MS)*time.Millisecond)
			text := w.Text + strings.Repeat(".", min(max(w.Size, 0), 4<<20))
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, ctx.Err()
		})
	}
	return s.Run(ctx, &mcp.StdioTransport{})
}

// pages is a web server that is not always well.
func pages() http.Handler {
	mux := http.NewServeMux()
	for path, paragraphs := range map[string]int{"/page": 30, "/large": 20_000, "/slow": 3, "/cut": 10} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			if path == "/cut" {
				w.Header().Set("Content-Length", "100000")
			}
			fmt.Fprint(w, "<html><head><title>A page</title></head><body><main><h1>A page</h1>")
			for i := range paragraphs {
				fmt.Fprintf(w, "<p>Paragraph %d of <b>a page</b> that has <a href=/page>links</a>.</p>", i)
			}
			if path == "/slow" {
				_ = http.NewResponseController(w).Flush() // who does not read has gone
				sleep(r.Context(), 2*time.Second)
			}
			if path == "/cut" {
				panic(http.ErrAbortHandler)
			}
		})
	}
	mux.HandleFunc("/broken", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		fmt.Fprint(w, strings.Repeat("this is not gzip", 50))
	})
	mux.Handle("/round", http.RedirectHandler("/round", http.StatusFound))
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := fmt.Fprint(w, strings.Repeat("no end of it\n", 1000)); err != nil {
				return
			}
		}
	})
	return mux
}

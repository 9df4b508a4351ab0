package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/helve-dev/helve/internal/lsp/lsptest"
	"github.com/helve-dev/helve/internal/modeltest"
	"github.com/helve-dev/helve/lab/internal/proof"
)

// Sizes of what the server works on. They do not grow with the time, so that
// memory that does is not theirs.
const (
	sources   = 300     // files that are searched
	shared    = 8       // files that everybody changes
	boxSize   = 2 << 20 // bytes of the small disk in the project
	dataSize  = 6 << 30 // bytes of the disk that records are kept on, as a bound
	dataSpare = 64 << 10
	// eventsKept is more than the server keeps of its events, in bytes.
	eventsKept = 72 << 20
)

// A house is the server, and all that it lives with.
type house struct {
	*proof.World
	s       *settings
	subject *subject
	log     *os.File // of the server
	pages   *pages
	count   *tally
	mounted []string

	mu    sync.Mutex
	model *exec.Cmd
	at    string // the model's address
}

// build makes the house and starts everything in it.
func build(s *settings, count *tally) (h *house, err error) {
	w, err := proof.NewWorld()
	if err != nil {
		return nil, err
	}
	h = &house{World: w, s: s, count: count}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close())
		}
	}()
	if s.mounts {
		if err := h.mount(); err != nil {
			fmt.Fprintf(s.log, "soak: nothing can be mounted (%v): disks are neither full nor read-only in this run\n", err)
			s.mounts = false
		}
	}
	if h.pages, err = servePages(); err != nil {
		return h, err
	}
	if err := h.startModel(); err != nil {
		return h, err
	}
	if err := h.furnish(); err != nil {
		return h, err
	}
	if h.log, err = os.Create(filepath.Join(w.Root, "server.log")); err != nil {
		return h, err
	}
	h.subject, err = startSubject(w, s, h.log)
	return h, err
}

// box is the small disk in the project, data the folder of all records.
func (h *house) box() string  { return filepath.Join(h.Project, "box") }
func (h *house) data() string { return filepath.Join(h.Home, "data") }

func (h *house) mount() error {
	for dir, size := range map[string]int64{h.box(): boxSize, h.data(): dataSize} {
		if err := mountSmall(dir, size); err != nil {
			return err
		}
		h.mounted = append(h.mounted, dir)
	}
	return nil
}

// close ends and removes everything; what was started is ended first.
func (h *house) close() (err error) {
	if h.subject != nil {
		err = h.subject.end()
	}
	h.endModel()
	if h.pages != nil {
		h.pages.close()
	}
	if h.log != nil {
		err = errors.Join(err, h.log.Close())
	}
	for _, dir := range h.mounted {
		err = errors.Join(err, unmount(dir))
	}
	return errors.Join(err, h.Close())
}

// furnish writes the project and the configuration.
func (h *house) furnish() error {
	if err := errors.Join(os.MkdirAll(h.box(), 0o755), os.Mkdir(h.callsTemp(), 0o700)); err != nil {
		return err
	}
	for i := range sources {
		text := fmt.Sprintf("package p%d\n\n// needle-%d is here.\n%s", i, i, strings.Repeat(fmt.Sprintf("func f%d() int { return %d }\n", i, i), 40))
		if err := h.Write(fmt.Sprintf("src/d%d/f%d.go", i%12, i), text); err != nil {
			return err
		}
	}
	for i := range shared {
		if err := h.Write(sharedName(i), sharedText(i)); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{".env": "SECRET=1\n", "large.txt": strings.Repeat("a line of a file that is read as a whole\n", 1000)} {
		if err := h.Write(name, text); err != nil {
			return err
		}
	}
	config, err := h.config()
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"helve.json": config, "plugin/watch.ts": pluginText(0), "tool/lines.ts": toolText(0), "tool/sulk.ts": sulkText,
		"skill/tidy/SKILL.md": "---\nname: tidy\ndescription: How to tidy up\n---\nTidy up.\n",
	} {
		if err := h.configure(name, text, 0o644); err != nil {
			return err
		}
	}
	return h.configure("tool/shout.sh", shoutText, 0o755)
}

// configure writes a file of the config folder, as editors do: all at once.
func (h *house) configure(name, text string, mode os.FileMode) error {
	path := filepath.Join(h.Home, "config", "helve", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	half := filepath.Join(h.Root, "half")
	if err := os.WriteFile(half, []byte(text), mode); err != nil {
		return err
	}
	return os.Rename(half, path)
}

// config is the config of the server and of all commands.
func (h *house) config() (string, error) {
	type object = map[string]any
	models := object{"script": object{"limit": object{"context": 200_000, "output": 4000}}}
	text, err := json.MarshalIndent(object{
		"model": "open/script", "small_model": "open/script",
		"provider": object{
			"open":  object{"npm": "@ai-sdk/openai-compatible", "options": object{"baseURL": h.at, "apiKey": "none", "timeout": 2000}, "models": models},
			"other": object{"npm": "@ai-sdk/anthropic", "options": object{"baseURL": h.at, "apiKey": "none", "timeout": 2000}, "models": models},
		},
		"permission": object{
			"webfetch": object{"*": "deny", h.pages.url + "/*": "allow"}, "doom_loop": "allow",
			"bash": object{"*": "allow", "touch asked*": "ask", "touch denied*": "deny"},
		},
		"mcp": object{"things": object{"type": "local", "command": []string{h.s.self, wordThings}, "timeout": 5000}},
		"lsp": object{"fake": object{"command": lsptest.Command("--child"), "extensions": []string{".foo"}}},
		// Language servers go by themselves in a rest, so that none is there in
		// either look: after being killed often enough one is given up.
		"language_servers": object{"idle_ms": 1500, "wait_ms": 1500},
		"experimental":     object{"lsp_tool": true, "batch_tool": true},
		"tool_output":      object{"quota_bytes": 64 << 20},
		"history":          object{"quota_bytes": 32 << 20},
		"bash":             object{"timeout_ms": 20_000, "job_bytes": 1 << 20},
		"wall":             object{"required": false},
	}, "", "\t")
	return string(text), err
}

// pluginText is a plugin that looks at every call, in one of its versions.
func pluginText(version int) string {
	return fmt.Sprintf(`export const Watch = async ({ client }) => {
  let seen = 0
  return {
    "tool.execute.before": async (input, output) => { seen++; if (output.args?.text === "refused") throw new Error("version %d says no") },
    "tool.execute.after": async (input, output) => { output.metadata = { ...output.metadata, seen } },
    event: async ({ event }) => { if (event.type === "todo.updated") await client.app.log({ body: { service: "watch", level: "info", message: "todo" } }) },
  }
}
`, version)
}

// toolText is a tool that works with files and programs, in one of its versions.
func toolText(version int) string {
	return fmt.Sprintf(`import { tool } from "@opencode-ai/plugin"

export default tool({
  description: "Counts the lines of a file, version %d",
  args: { path: tool.schema.string().describe("the file") },
  async execute(args, context) {
    const text = await Bun.file(context.directory + "/" + args.path).text()
    const said = await Bun.$`+"`echo counted`"+`.text()
    return text.split("\n").length + " lines, " + said.trim()
  },
})
`, version)
}

// sulkText is a tool that waits, fails, loops or eats memory, as it is told.
const sulkText = `import { tmpdir } from "node:os"
import { tool } from "@opencode-ai/plugin"

export default tool({
  description: "Does what it should not",
  args: { how: tool.schema.string() },
  async execute(args, context) {
    if (args.how === "throw") throw new Error("no")
    const place = tmpdir() // it is made when somebody asks, and left by who is killed
    if (args.how === "wait") await new Promise((done, stop) => {
      const t = setTimeout(done, 1500)
      context.abort.addEventListener("abort", () => { clearTimeout(t); stop(new Error("aborted")) })
    })
    if (args.how === "eat") { const all = []; for (;;) all.push(new Array(1e6).fill(1.5)) }
    if (args.how === "loop") for (;;) {}
    return "done at " + place.length
  },
})
`

// shoutText is a tool that is a program.
const shoutText = `#!/bin/sh
if [ "$1" = describe ]; then
  echo '{"description": "Says it loudly", "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}'
  exit
fi
tr a-z A-Z
`

// startModel starts the model, at the address that it had before if it had one.
func (h *house) startModel() error {
	script := filepath.Join(h.Root, "script.json")
	if _, err := os.Stat(script); err != nil {
		if err := os.WriteFile(script, scripts(), 0o600); err != nil {
			return err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	listen := "127.0.0.1:0"
	if h.at != "" {
		listen = strings.TrimSuffix(strings.TrimPrefix(h.at, "http://"), "/v1")
	}
	argv := modeltest.Command("-listen", listen, script)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Stderr = h.Env(), h.s.log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	said := make([]byte, 100)
	n, err := out.Read(said)
	at := strings.TrimSpace(string(said[:n]))
	if err != nil || !strings.HasPrefix(at, "http://") {
		return errors.Join(fmt.Errorf("the model does not start: %q", at), err, cmd.Process.Kill(), cmd.Wait())
	}
	h.model, h.at = cmd, at
	return nil
}

// endModel kills the model.
func (h *house) endModel() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.model != nil {
		_ = h.model.Process.Kill() // it may be gone
		_ = h.model.Wait()         // it was killed
		h.model = nil
	}
}

// callsTemp is the temporary folder of the commands, apart from the server's:
// one that is killed leaves its folder for scripts there.
func (h *house) callsTemp() string { return filepath.Join(h.Root, "calls") }

// command is the command helve with arguments, in the project.
func (h *house) command(ctx context.Context, args ...string) *exec.Cmd {
	argv := append(h.s.helve[:len(h.s.helve):len(h.s.helve)], args...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = h.Project, h.Env("TMPDIR="+h.callsTemp())
	proof.OwnGroup(cmd)
	cmd.Cancel = func() error { return proof.EndGroup(cmd.Process) }
	return cmd
}

// dial opens a bare connection to the server.
func (h *house) dial(ctx context.Context) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", strings.TrimPrefix(h.subject.url, "http://"))
}

// sharedName is a file that everybody changes.
func sharedName(i int) string { return "shared/s" + strconv.Itoa(i) + ".txt" }

func sharedText(i int) string {
	return strings.Repeat("a line that stays\n", 20) + fmt.Sprintf("value of %d: 0\n", i) + strings.Repeat("another line\n", 20)
}

//go:build unix

package script_test

import (
	"context"
	"encoding/json"
	"errors"
	"github.com/helve-dev/helve/internal/script"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// performed runs the body of an async function in an engine of its own; work is given as text of
// JavaScript.
func performed(ctx context.Context, t *testing.T, work string) (string, error) {
	t.Helper()
	w := withPrograms(t, newWorld(t))
	w.cwd = tableFolder(t)
	v := newEngine(t, w)
	source := "globalThis.work = async (given) => { const require = __helve.require;" + work + "};"
	if err := v.Load(t.Context(), "work.js", script.Code{Source: source}); err != nil {
		t.Fatal(err)
	}
	arg, err := json.Marshal(w.cwd)
	if err != nil {
		t.Fatal(err)
	}
	told, err := v.Call(ctx, "work", script.Data{JSON: arg})
	return string(told.JSON), err
}

// What an engine has not says so by its name.
func TestMissingNamesItself(t *testing.T) {
	for work, name := range map[string]string{
		`require("net").connect(80)`:                    "net.connect",
		`new (require("net").Socket)()`:                 "net.Socket",
		`require("http").createServer()`:                "http.createServer",
		`require("https").createServer()`:               "https.createServer",
		`Bun.serve({ fetch() {} })`:                     "Bun.serve",
		`require("crypto").createCipheriv("aes", 1, 2)`: "crypto.createCipheriv",
		`require("zlib").brotliCompressSync("x")`:       "zlib.brotliCompressSync",
		`require("child_process").fork("x")`:            "child_process.fork",
		`await crypto.subtle.encrypt({}, {}, "x")`:      "crypto.subtle.encrypt",
	} {
		_, err := performed(t.Context(), t, work)
		thrown, ok := errors.AsType[*script.Thrown](err)
		if !ok || !strings.Contains(thrown.Message, name+" is not available") {
			t.Errorf("%s: %v", work, err)
		}
	}
}

// A call that is taken back takes its programs and requests with it.
func TestEndOfCallEndsItsWork(t *testing.T) {
	for name, work := range map[string]string{
		"shell":     "await Bun.$`sh -c 'echo > begun; sleep 60'`.quiet();",
		"sync":      `require("child_process").execSync("echo > begun; sleep 60", { cwd: given });`,
		"spawn":     `const p = Bun.spawn(["sh", "-c", "echo > begun; sleep 60"]); await new Response(p.stdout).text();`,
		"callbacks": `await new Promise((done) => { require("child_process").exec("echo > begun; sleep 60", done); });`,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			w := withPrograms(t, newWorld(t))
			w.cwd = tableFolder(t)
			v := newEngine(t, w)
			source := "globalThis.work = async (given) => { const require = __helve.require;" + work + "};"
			if err := v.Load(t.Context(), "work.js", script.Code{Source: source}); err != nil {
				t.Fatal(err)
			}
			arg, err := json.Marshal(w.cwd)
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() {
				_, err := v.Call(ctx, "work", script.Data{JSON: arg})
				ended <- err
			}()
			awaitFile(t, filepath.Join(w.cwd, "begun"))
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("the call ends with %v", err)
			}
		})
	}
}

func awaitFile(t *testing.T, path string) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if t.Context().Err() != nil {
			t.Fatal("the program did not begin")
		}
	}
}

// Modules that a script does not use are not read.
func TestShellNeedsLittle(t *testing.T) {
	var asked []string
	w := withPrograms(t, newWorld(t))
	source := w.ops["module.source"]
	w.ops["module.source"] = func(ctx context.Context, arg script.Data) (script.Data, error) {
		var a struct{ Name string }
		if err := json.Unmarshal(arg.JSON, &a); err != nil {
			return script.Data{}, err
		}
		asked = append(asked, a.Name)
		return source(ctx, arg)
	}
	v := newEngine(t, w)
	if err := v.Load(t.Context(), "work.js", script.Code{Source: "globalThis.work = () => Bun.$`echo hi`.text();"}); err != nil {
		t.Fatal(err)
	}
	if told, err := v.Call(t.Context(), "work", script.Data{}); err != nil || string(told.JSON) != `"hi\n"` {
		t.Fatalf("%s, %v", told.JSON, err)
	}
	for _, name := range asked {
		switch name {
		case "fetch", "crypto", "zlib", "http", "child_process", "stream", "fs", "bun:sqlite", "helve:yaml":
			t.Errorf("%s was read for echo: %v", name, asked)
		}
	}
}

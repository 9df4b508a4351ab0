package builtin_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/lspclient/lsptest"
	"github.com/helve-dev/helve/lsp"
)

const cannedWord = "canned-language-server"

// cannedServer makes this program a language server that says what a file
// says, if it was started as one: the results by method, and under
// "capabilities" what it can do. A result {"$error": text} is an error.
func cannedServer() {
	if len(os.Args) < 3 || os.Args[1] != cannedWord {
		return
	}
	data, err := os.ReadFile(os.Args[2])
	var results map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(data, &results)
	}
	in := bufio.NewReader(os.Stdin)
	for err == nil {
		err = serveCanned(in, results)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// serveCanned answers one message.
func serveCanned(in *bufio.Reader, results map[string]json.RawMessage) error {
	head, err := textproto.NewReader(in).ReadMIMEHeader()
	if err != nil {
		return err
	}
	size, err := strconv.Atoi(head.Get("Content-Length"))
	if err != nil {
		return err
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(in, body); err != nil {
		return err
	}
	var m lsptest.Message
	if err := json.Unmarshal(body, &m); err != nil {
		return err
	}
	switch {
	case m.Method == "exit":
		os.Exit(0)
	case m.ID == nil:
		return nil
	}
	answer := map[string]any{"jsonrpc": "2.0", "id": m.ID}
	result, known := results[m.Method]
	var refusal struct {
		Error string `json:"$error"`
	}
	_ = json.Unmarshal(result, &refusal) // what has another form is no refusal
	switch {
	case m.Method == "initialize":
		answer["result"] = map[string]any{"capabilities": results["capabilities"]}
	case m.Method == "shutdown":
		answer["result"] = nil
	case refusal.Error != "":
		answer["error"] = map[string]any{"code": -32803, "message": refusal.Error}
	case known:
		answer["result"] = result
	default:
		answer["error"] = map[string]any{"code": -32601, "message": "unknown method " + m.Method}
	}
	out, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	_, err = fmt.Printf("Content-Length: %d\r\n\r\n%s", len(out), out)
	return err
}

// canned adds a server for .foo that says what is given, with ROOT for the
// project and OUT for the folder outside. It never says what is wrong with a
// file, so that is not waited for long.
func canned(t *testing.T, name, results string) func(*helve.Options) {
	t.Helper()
	return func(o *helve.Options) {
		file := filepath.Join(t.TempDir(), "results.json")
		outside := filepath.Join(filepath.Dir(o.Dir), "outside")
		write(t, file, []byte(strings.NewReplacer("ROOT", "file://"+o.Dir, "OUT", "file://"+outside).Replace(results)))
		if o.LSP == nil {
			o.LSP = &lsp.Options{Wait: 50 * time.Millisecond}
		}
		o.LSP.Own = append(o.LSP.Own, lsp.Server{Name: name, Command: []string{self(t), cannedWord, file}, Extensions: []string{".foo"}})
		o.Flags = map[string]bool{"lsp": true}
	}
}

// speaks adds the usual server for .foo, with flags.
func speaks(name string, flags ...string) func(*helve.Options) {
	return func(o *helve.Options) {
		if o.LSP == nil {
			o.LSP = &lsp.Options{}
		}
		o.LSP.Own = append(o.LSP.Own, lsp.Server{Name: name, Command: lsptest.Command(flags...), Extensions: []string{".foo"}})
		o.Flags = map[string]bool{"lsp": true}
	}
}

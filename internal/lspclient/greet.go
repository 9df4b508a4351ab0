package lspclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

// abilities are what a server can do, as far as we ask for it.
type abilities struct {
	all map[string]json.RawMessage // by the names of the protocol

	incremental bool // it takes changes of a part of a text
	saves       bool // it wants to know when a text is on disk
	savesText   bool // and to be given the text again
	tsserver    bool // it passes questions on to TypeScript's checker
}

// greet does the handshake.
func (l *link) greet(ctx context.Context, how launch) error {
	ctx, cancel := context.WithTimeout(ctx, l.c.set.opt.Start)
	defer cancel()
	var pid any = os.Getpid()
	if l.c.server.Wall {
		pid = nil // in the sandbox, process numbers differ
	}
	folder := []any{map[string]any{"uri": uriOf(l.c.root), "name": "workspace"}}
	params := map[string]any{
		"processId": pid, "clientInfo": map[string]any{"name": "helve"}, "rootUri": uriOf(l.c.root), "rootPath": l.c.root,
		"workspaceFolders": folder, "capabilities": capabilities(!l.c.server.pushes),
	}
	if len(how.init) > 0 {
		params["initializationOptions"] = how.init
	}
	raw, err := l.conn.call(ctx, "initialize", params)
	if err != nil {
		switch cause := context.Cause(ctx); {
		case errors.Is(cause, context.DeadlineExceeded):
			return fmt.Errorf("it has not answered initialize within %s", l.c.set.opt.Start)
		case cause != nil:
			return cause
		}
		return fmt.Errorf("initialize: %w", err)
	}
	if err := l.learn(raw); err != nil {
		return err
	}
	if err := l.conn.notify("initialized", map[string]any{}); err != nil {
		return fmt.Errorf("initialized: %w", err)
	}
	if len(how.init) > 0 {
		return l.conn.notify("workspace/didChangeConfiguration", map[string]any{"settings": how.init})
	}
	return nil
}

// capabilities returns the client capabilities; pull enables diagnostic requests.
func capabilities(pull bool) map[string]any {
	dynamic := map[string]any{"dynamicRegistration": true}
	all := map[string]any{
		"general": map[string]any{"positionEncodings": []counting{utf16Units, utf8Units, utf32Units}},
		"window":  map[string]any{"workDoneProgress": true},
		"workspace": map[string]any{
			"configuration": true, "workspaceFolders": true, "applyEdit": false,
			"didChangeConfiguration": dynamic,
			"didChangeWatchedFiles":  map[string]any{"dynamicRegistration": true, "relativePatternSupport": true},
			"workspaceEdit":          map[string]any{"documentChanges": true, "resourceOperations": []string{"create", "rename", "delete"}},
			"symbol":                 map[string]any{},
		},
		"textDocument": map[string]any{
			"synchronization":    map[string]any{"didSave": true},
			"publishDiagnostics": map[string]any{"versionSupport": true, "relatedInformation": true},
			"diagnostic":         map[string]any{"dynamicRegistration": true, "relatedDocumentSupport": true},
			"definition":         map[string]any{"linkSupport": false},
			"implementation":     map[string]any{"linkSupport": false},
			"references":         map[string]any{},
			"hover":              map[string]any{"contentFormat": []string{"markdown", "plaintext"}},
			"documentSymbol":     map[string]any{"hierarchicalDocumentSymbolSupport": true},
			"callHierarchy":      map[string]any{},
			"rename":             map[string]any{"prepareSupport": true},
			"codeAction": map[string]any{
				"codeActionLiteralSupport": map[string]any{"codeActionKind": map[string]any{"valueSet": []string{
					"quickfix", "refactor", "refactor.extract", "refactor.inline", "refactor.rewrite", "source", "source.organizeImports", "source.fixAll",
				}}},
				"dataSupport": true, "disabledSupport": true, "isPreferredSupport": true,
				"resolveSupport": map[string]any{"properties": []string{"edit"}},
			},
		},
	}
	if document, ok := all["textDocument"].(map[string]any); ok && !pull {
		delete(document, "diagnostic")
	}
	return all
}

// learn stores what the server says about itself.
func (l *link) learn(raw json.RawMessage) error {
	var res struct {
		Capabilities map[string]json.RawMessage `json:"capabilities"`
		ServerInfo   struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"serverInfo"`
		OffsetEncoding string `json:"offsetEncoding"` // clangd's own
	}
	if err := json.Unmarshal(raw, &res); err != nil {
		return fmt.Errorf("what it says of itself can not be read: %w", err)
	}
	l.able.all = res.Capabilities
	l.program = strings.TrimSpace(res.ServerInfo.Name + " " + shortVersion(res.ServerInfo.Version))
	l.able.incremental = syncKind(res.Capabilities["textDocumentSync"]) == 2
	l.able.tsserver = passesOn(res.Capabilities["executeCommandProvider"])
	l.able.saves, l.able.savesText = saveKind(res.Capabilities["textDocumentSync"])
	encoding := res.OffsetEncoding
	if named := res.Capabilities["positionEncoding"]; isSupported(named) {
		_ = json.Unmarshal(named, &encoding) // what is not text is not one we know
	}
	switch e := counting(encoding); e {
	case "":
	case utf8Units, utf16Units, utf32Units:
		l.encoding = e
	default:
		return fmt.Errorf("it counts positions in %q, which we do not know", encoding)
	}
	return nil
}

// shortVersion is the first line of what may be much: gopls sends its whole
// build as JSON.
func shortVersion(v string) string {
	var build struct {
		Main struct{ Version string }
	}
	if strings.HasPrefix(v, "{") && json.Unmarshal([]byte(v), &build) == nil {
		v = build.Main.Version
	}
	v, _, _ = strings.Cut(v, "\n")
	return v[:min(len(v), 80)]
}

// isSupported reports whether a capability is there, and not just false.
func isSupported(raw json.RawMessage) bool {
	s := string(bytes.TrimSpace(raw))
	return s != "" && s != "null" && s != "false"
}

// syncKind returns how the server wants to be sent changes: 0 not at all, 1 whole, 2 in parts.
func syncKind(raw json.RawMessage) int {
	var kind int
	if json.Unmarshal(raw, &kind) == nil {
		return kind
	}
	var o struct {
		Change int `json:"change"`
	}
	_ = json.Unmarshal(raw, &o) // unreadable settings change nothing
	return o.Change
}

// saveKind reports whether the server wants to be notified of saving, and with the text.
func saveKind(raw json.RawMessage) (told, text bool) {
	var o struct {
		Save json.RawMessage `json:"save"`
	}
	if json.Unmarshal(raw, &o) != nil || !isSupported(o.Save) {
		return false, false
	}
	var how struct {
		IncludeText bool `json:"includeText"`
	}
	_ = json.Unmarshal(o.Save, &how) // true is as good
	return true, how.IncludeText
}

// provider is the capability that a request needs; "" for one that needs none.
func provider(method string) string {
	switch method {
	case "textDocument/definition":
		return "definitionProvider"
	case "textDocument/references":
		return "referencesProvider"
	case "textDocument/hover":
		return "hoverProvider"
	case "textDocument/documentSymbol":
		return "documentSymbolProvider"
	case "workspace/symbol":
		return "workspaceSymbolProvider"
	case "textDocument/implementation":
		return "implementationProvider"
	case "textDocument/prepareCallHierarchy":
		return "callHierarchyProvider"
	case "textDocument/rename":
		return "renameProvider"
	case "textDocument/codeAction":
		return "codeActionProvider"
	case "textDocument/diagnostic":
		return "diagnosticProvider"
	}
	return ""
}

// supports reports whether the server supports a request, as far as it has said.
func (l *link) supports(method string) bool {
	key := provider(method)
	if key == "" || isSupported(l.able.all[key]) {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.registered {
		if r.method == method {
			return true
		}
	}
	return false
}

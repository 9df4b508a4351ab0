package lspclient

import (
	"context"
	"encoding/json"
	"errors"
	"github.com/helve-dev/helve/lsp"
	"slices"
	"time"
)

// tsserverRequest is the command by which TypeScript's language server passes a
// question on to its checker. What it publishes by itself has no number, comes
// in several steps, and not at all where nothing is wrong before and after;
// what the checker answers is about the text that it has.
const tsserverRequest = "typescript.tsserverRequest"

// passesOn reports whether a server offers that command.
func passesOn(provider json.RawMessage) bool {
	var p struct {
		Commands []string `json:"commands"`
	}
	return json.Unmarshal(provider, &p) == nil && slices.Contains(p.Commands, tsserverRequest)
}

// A tsDiagnostic is what the checker of TypeScript found; it counts from 1.
type tsDiagnostic struct {
	Start, End struct{ Line, Offset int }
	Text       string
	Code       int
	Category   string
	Source     string
}

// toLSP is the diagnostic in the words of the protocol.
func (d tsDiagnostic) toLSP() (json.RawMessage, error) {
	severity := 1
	switch d.Category {
	case "warning":
		severity = 2
	case "message":
		severity = 3
	case "suggestion":
		severity = 4
	}
	source := d.Source
	if source == "" {
		source = "typescript"
	}
	code, err := json.Marshal(d.Code)
	if err != nil {
		return nil, err
	}
	at := lsp.Range{Start: lsp.Position{Line: max(d.Start.Line-1, 0), Character: max(d.Start.Offset-1, 0)}, End: lsp.Position{Line: max(d.End.Line-1, 0), Character: max(d.End.Offset-1, 0)}}
	return json.Marshal(lsp.Diagnostic{Range: at, Severity: severity, Code: code, Source: source, Message: d.Text})
}

// pullTypeScript requests the diagnostics of a file from the checker.
func (l *link) pullTypeScript(ctx context.Context, d *doc) error {
	for asked := false; ; asked = true {
		version, done := l.versionToPull(d, asked)
		if done {
			return nil
		}
		items := []json.RawMessage{}
		for _, command := range []string{"syntacticDiagnosticsSync", "semanticDiagnosticsSync"} {
			found, err := l.askTypeScript(ctx, command, d.path)
			if err != nil {
				return err
			}
			items = append(items, found...)
		}
		list, err := json.Marshal(items)
		if err != nil {
			return err
		}
		raw, err := json.Marshal(pulledReport{Items: list})
		if err != nil {
			return err
		}
		if err := l.storeDiagnostics(d, version, raw); err != nil {
			return err
		}
	}
}

// errUnasked says that the checker did not answer.
var errUnasked = errors.New("the checker of TypeScript has not answered")

// unasked reports whether the checker cannot be queried about a file. Then the published
// diagnostics must do.
func unasked(err error) bool {
	_, failed := errors.AsType[*rpcError](err)
	return failed || errors.Is(err, errUnasked)
}

func (l *link) askTypeScript(ctx context.Context, command, path string) ([]json.RawMessage, error) {
	raw, err := l.conn.call(ctx, "workspace/executeCommand", map[string]any{
		"command": tsserverRequest, "arguments": []any{command, map[string]any{"file": path}, map[string]any{}},
	})
	if err != nil {
		return nil, err
	}
	var answer struct {
		Success bool
		Body    []tsDiagnostic
	}
	if json.Unmarshal(raw, &answer) != nil || !answer.Success {
		return nil, errUnasked
	}
	var out []json.RawMessage
	for _, d := range answer.Body {
		one, err := d.toLSP()
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// How long after its start the checker of TypeScript may miss a new file: it
// looks at folders first and watches them a little later.
const (
	missesFor  = 30 * time.Second
	reloadTime = time.Second
)

// reloadTypeScript has the checker look at all files anew, where it may have
// missed one that was made.
func (l *link) reloadTypeScript(changes []FileChange) {
	made := slices.ContainsFunc(changes, func(ch FileChange) bool { return ch.Kind == Created && l.c.server.matches(ch.Path) })
	if !l.able.tsserver || !made || time.Since(l.born) > missesFor {
		return
	}
	ctx, cancel := context.WithTimeout(l.c.set.life, reloadTime)
	defer cancel()
	_, _ = l.conn.call(ctx, "workspace/executeCommand", map[string]any{ // if it fails, the server sees the file later
		"command": tsserverRequest, "arguments": []any{"reloadProjects", map[string]any{}, map[string]any{"expectsResult": false}},
	})
}

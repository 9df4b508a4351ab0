package lsp

import (
	"encoding/json"
	"fmt"
	"strings"
)

// request answers what the server asks of us. Nothing that it asks for changes
// a file or starts a program.
func (l *link) request(method string, params json.RawMessage) (any, error) {
	switch method {
	case "workspace/configuration":
		return l.configuration(params), nil
	case "workspace/workspaceFolders":
		return []any{map[string]any{"uri": uriOf(l.c.root), "name": "workspace"}}, nil
	case "client/registerCapability":
		l.register(params)
		return nil, nil
	case "client/unregisterCapability":
		l.unregister(params)
		return nil, nil
	case "window/workDoneProgress/create", "window/showMessageRequest":
		return nil, nil
	case "window/showDocument":
		return map[string]any{"success": false}, nil
	case "workspace/applyEdit":
		return map[string]any{"applied": false, "failureReason": "changes are made by who asked for them"}, nil
	}
	if strings.HasPrefix(method, "workspace/") && strings.HasSuffix(method, "/refresh") {
		return nil, nil
	}
	return nil, &rpcError{Code: -32601, Message: "not supported: " + method}
}

// configuration answers every item with what the settings hold there.
func (l *link) configuration(params json.RawMessage) []any {
	var p struct {
		Items []struct {
			Section string `json:"section"`
		} `json:"items"`
	}
	if json.Unmarshal(params, &p) != nil || len(p.Items) > 1000 {
		return []any{}
	}
	out := make([]any, len(p.Items))
	for i, item := range p.Items {
		out[i] = section(l.settings, item.Section)
	}
	return out
}

// section is the part of settings that a dotted name leads to; nil where there
// is none.
func section(settings json.RawMessage, name string) any {
	if len(settings) == 0 {
		settings = json.RawMessage("{}")
	}
	if name == "" {
		return settings
	}
	for part := range strings.SplitSeq(name, ".") {
		var o map[string]json.RawMessage
		if json.Unmarshal(settings, &o) != nil || o[part] == nil {
			return nil
		}
		settings = o[part]
	}
	return settings
}

// maxRegistered is how many registrations one server may have.
const maxRegistered = 10_000

func (l *link) register(params json.RawMessage) {
	var p struct {
		Registrations []struct {
			ID      string          `json:"id"`
			Method  string          `json:"method"`
			Options json.RawMessage `json:"registerOptions"`
		} `json:"registrations"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range p.Registrations {
		if len(l.registered) >= maxRegistered {
			return
		}
		reg := registration{method: r.Method}
		if r.Method == "workspace/didChangeWatchedFiles" {
			w, err := parseWatchers(r.Options, l.c.root)
			if err != nil {
				l.c.log.Add("helve", fmt.Sprintf("files to watch: %v", err))
			}
			reg.watchers = &w
		}
		l.registered[r.ID] = reg
	}
	l.tell() // it may be asked for diagnostics from now on
}

func (l *link) unregister(params json.RawMessage) {
	var p struct {
		// The protocol has this spelling.
		Unregistrations []struct {
			ID string `json:"id"`
		} `json:"unregisterations"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range p.Unregistrations {
		delete(l.registered, r.ID)
	}
}

// notified takes what the server tells.
func (l *link) notified(method string, params json.RawMessage) {
	switch method {
	case "textDocument/publishDiagnostics":
		l.published(params)
	case "window/logMessage", "window/showMessage":
		var m struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(params, &m) == nil {
			l.c.log.Add("log", m.Message)
		}
	case "$/progress":
		l.progressed(params)
	}
}

// progressed keeps what work is under way.
func (l *link) progressed(params json.RawMessage) {
	var p struct {
		Token json.RawMessage `json:"token"`
		Value struct {
			Kind string `json:"kind"`
		} `json:"value"`
	}
	if json.Unmarshal(params, &p) != nil || len(p.Token) > 1<<10 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch p.Value.Kind {
	case "begin":
		if len(l.progress) < maxRegistered {
			l.progress[string(p.Token)] = true
		}
	case "end":
		delete(l.progress, string(p.Token))
		l.tell()
	}
}

// stray logs what the server prints between its messages.
func (l *link) stray(line string) { l.c.log.Add("stdout", line) }

package lspclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// request serves a server's request. None of them changes a file or starts a program.
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
	return nil, &rpcError{Code: codeNoMethod, Message: "not supported: " + method}
}

// The limits of one message of a server.
const (
	maxItems      = 1000    // of settings that it asks for
	maxRegistered = 1000    // registrations, in all
	maxSteps      = 1 << 17 // of the patterns of files to watch, in all
)

// errEnough ends decoding at a limit.
var errEnough = errors.New("too much at once")

// configuration returns the settings of every requested item.
func (l *link) configuration(params json.RawMessage) []any {
	var p struct {
		Items json.RawMessage `json:"items"`
	}
	out := []any{}
	if json.Unmarshal(params, &p) != nil {
		return out
	}
	_ = eachIn(p.Items, '[', func(_ string, d *json.Decoder) error { // an unreadable item gets no value
		var item struct {
			Section string `json:"section"`
		}
		if err := d.Decode(&item); err != nil || len(out) >= maxItems {
			return errEnough
		}
		out = append(out, section(l.settings, item.Section))
		return nil
	})
	return out
}

// section returns the part of settings that a dotted name leads to; nil if there is none.
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

// register records what the server offers, or wants to be notified of, from now on.
func (l *link) register(params json.RawMessage) {
	var p struct {
		Registrations json.RawMessage `json:"registrations"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	watch := false
	err := eachIn(p.Registrations, '[', func(_ string, d *json.Decoder) error {
		var r struct {
			ID      string          `json:"id"`
			Method  string          `json:"method"`
			Options json.RawMessage `json:"registerOptions"`
		}
		if err := d.Decode(&r); err != nil {
			return err
		}
		reg := registration{method: r.Method}
		if r.Method == "workspace/didChangeWatchedFiles" {
			w, err := parseWatchers(r.Options, l.c.root)
			if err != nil {
				l.c.log.Add("helve", fmt.Sprintf("files to watch: %v", err))
			}
			reg.watchers, watch = &w, true
		}
		return l.addRegistration(r.ID, reg)
	})
	if err != nil {
		l.c.log.Add("helve", "a registration was left out: "+err.Error())
	}
	l.mu.Lock()
	l.wake() // it may be asked for diagnostics from now on
	l.mu.Unlock()
	if watch {
		l.c.set.spawn(func() { l.newTree(l.c.set.life) })
	}
}

// addRegistration keeps a registration, as long as there is not too much of them.
func (l *link) addRegistration(id string, r registration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	steps := r.steps()
	for _, have := range l.registered {
		steps += have.steps()
	}
	if len(l.registered) >= maxRegistered || steps > maxSteps || len(id)+len(r.method) > 1<<10 {
		return errEnough
	}
	l.registered[id] = r
	return nil
}

// steps is how long the patterns of a registration are.
func (r registration) steps() (n int) {
	if r.watchers == nil {
		return 0
	}
	for _, w := range *r.watchers {
		n += len(w.glob.steps)
	}
	return n
}

// unregister forgets registrations.
func (l *link) unregister(params json.RawMessage) {
	var p struct {
		Unregistrations json.RawMessage `json:"unregisterations"` // the protocol has this spelling
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	_ = eachIn(p.Unregistrations, '[', func(_ string, d *json.Decoder) error { // an unreadable entry stays
		var r struct {
			ID string `json:"id"`
		}
		err := d.Decode(&r)
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.registered, r.ID)
		return err
	})
}

// notified handles a server's notification.
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
	}
}

// stray logs what the server prints between its messages.
func (l *link) stray(line string) { l.c.log.Add("stdout", line) }

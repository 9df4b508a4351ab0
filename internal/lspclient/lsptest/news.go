package lsptest

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"
)

// notified handles a notification.
func (s *server) notified(m Message) {
	if m.Method == exit {
		s.exit()
		return
	}
	if !s.ready {
		s.complain("%s before initialize", m.Method)
	}
	switch m.Method {
	case "initialized":
		s.afterInitialized()
	case "textDocument/didOpen":
		s.open(m.Params)
	case "textDocument/didChange":
		s.applyChange(m.Params)
	case "textDocument/didClose":
		s.close(m.Params)
	case "$/cancelRequest":
		var p struct {
			ID json.RawMessage `json:"id"`
		}
		s.must(json.Unmarshal(m.Params, &p))
		s.cancel(p.ID)
	}
}

func (s *server) exit() {
	if s.o.never[exit] {
		return
	}
	if s.finished {
		panic(over{0})
	}
	panic(over{1})
}

// afterInitialized does what is asked for the time after initialized.
func (s *server) afterInitialized() {
	var wants []any
	if s.o.registerPull {
		wants = append(wants, map[string]any{"id": "pull", "method": "textDocument/diagnostic", "registerOptions": pullOptions()})
	}
	if s.o.watch != "" {
		globs := []any{map[string]any{"globPattern": s.o.watch}}
		wants = append(wants, map[string]any{
			"id": "watch", "method": "workspace/didChangeWatchedFiles", "registerOptions": map[string]any{"watchers": globs},
		})
	}
	if wants != nil {
		s.sendRequest("client/registerCapability", map[string]any{"registrations": wants}, func(m Message) { s.logAnswer("registered", m) })
	}
	if s.o.config != nil {
		var items []any
		for _, section := range s.o.config {
			items = append(items, map[string]string{"section": section})
		}
		s.sendRequest("workspace/configuration", map[string]any{"items": items}, func(m Message) { s.logAnswer("configuration", m) })
	}
	s.memory = make([]byte, s.o.grow<<20)
	for i := 0; i < len(s.memory); i += 512 {
		s.memory[i] = 1
	}
}

func (s *server) open(raw json.RawMessage) {
	var p struct {
		Document struct {
			URI      string `json:"uri"`
			Language string `json:"languageId"`
			Version  *int   `json:"version"`
			Text     string `json:"text"`
		} `json:"textDocument"`
	}
	s.must(json.Unmarshal(raw, &p))
	d := p.Document
	if _, open := s.docs[d.URI]; open || d.Version == nil || d.Language == "" || !strings.HasPrefix(d.URI, "file:///") {
		s.complain("wrong didOpen of %s", d.URI)
	}
	s.docs[d.URI] = document{*d.Version, d.Text}
	s.act("textDocument/didOpen", "", func() { s.publish(d.URI) })
}

func (s *server) applyChange(raw json.RawMessage) {
	var p struct {
		Document struct {
			URI     string `json:"uri"`
			Version int    `json:"version"`
		} `json:"textDocument"`
		Changes []struct {
			Range *span  `json:"range"`
			Text  string `json:"text"`
		} `json:"contentChanges"`
	}
	s.must(json.Unmarshal(raw, &p))
	uri := p.Document.URI
	before, open := s.docs[uri]
	if !open || p.Document.Version <= before.version {
		s.complain("wrong didChange of %s: version %d after %d", uri, p.Document.Version, before.version)
	}
	text := before.text
	for _, c := range p.Changes {
		switch {
		case c.Range == nil:
			text = c.Text
		case s.o.fullSync:
			s.complain("part of a text, and whole ones are asked for")
		default:
			text = s.splice(text, *c.Range, c.Text)
		}
	}
	s.docs[uri] = document{p.Document.Version, text}
	if s.o.stale == 0 || s.pulls() {
		s.act("textDocument/didChange", "", func() { s.publish(uri) })
		return
	}
	s.later(s.o.stale, "", func() {
		s.publishOne(uri, before, true)
		s.later(3*s.o.stale, "", func() { s.publish(uri) })
	})
}

func (s *server) close(raw json.RawMessage) {
	var p params
	s.must(json.Unmarshal(raw, &p))
	if _, open := s.docs[p.Document.URI]; !open {
		s.complain("wrong didClose of %s", p.Document.URI)
	}
	delete(s.docs, p.Document.URI)
	s.publish(p.Document.URI)
}

// pulls tells whether diagnostics are only given when asked for.
func (s *server) pulls() bool { return s.o.pull || s.o.registerPull }

// publish sends what is wrong with a document now, and with the files that it
// breaks or has broken.
func (s *server) publish(uri string) {
	if s.pulls() {
		return
	}
	d, open := s.docs[uri]
	s.publishOne(uri, d, open)
	hurt := map[string]bool{}
	for _, other := range s.uris() {
		for _, name := range breaks(other, s.docs[other].text) {
			hurt[name] = true
		}
	}
	maps.Copy(s.hurt, hurt)
	for _, name := range slices.Sorted(maps.Keys(s.hurt)) {
		if name != uri {
			d, open := s.docs[name]
			s.publishOne(name, d, open)
		}
	}
	s.hurt = hurt
	for i := range s.o.flood {
		other := finding{span{End: position{0, 1}}, 1, "fake", fmt.Sprintf("flood %d", i)}
		s.notify(publish, map[string]any{"uri": fmt.Sprintf("%s/flood/%d.foo", s.root, i), "diagnostics": []finding{other}})
	}
}

func (s *server) publishOne(uri string, d document, open bool) {
	p := map[string]any{"uri": uri, "diagnostics": s.findings(uri, d.text)}
	if open && !s.o.noVersion {
		p["version"] = d.version
	}
	s.act(publish, "", func() {
		s.send(map[string]any{"jsonrpc": "2.0", "method": publish, "params": p})
		s.told = true
	})
}

// diagnostic answers a question for diagnostics.
func (s *server) diagnostic(p params) (any, error) {
	if !s.pulls() {
		return nil, &rpcError{codeNoMethod, "unknown method"}
	}
	uri := p.Document.URI
	report, id := s.report(uri)
	related := map[string]any{}
	for _, name := range breaks(uri, s.docs[uri].text) {
		related[name], _ = s.report(name)
	}
	hurt := map[string]bool{}
	for name := range related {
		hurt[name] = true
	}
	for name := range s.hurt {
		related[name], _ = s.report(name)
	}
	s.hurt = hurt
	if p.Previous == id {
		report = map[string]any{"kind": "unchanged", "resultId": id}
	}
	report["relatedDocuments"] = related
	return report, nil
}

// report returns what is wrong with a file in the form of an answer, and an id
// that is the same as long as that is.
func (s *server) report(uri string) (map[string]any, string) {
	items := s.findings(uri, s.docs[uri].text)
	raw, err := json.Marshal(items)
	s.must(err)
	id := fmt.Sprintf("%08x", crc32.ChecksumIEEE(raw))
	return map[string]any{"kind": "full", "resultId": id, "items": items}, id
}

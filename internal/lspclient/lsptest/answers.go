package lsptest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// params are those of all requests about a place in a document.
type params struct {
	Document struct {
		URI string `json:"uri"`
	} `json:"textDocument"`
	Position position `json:"position"`
	Range    span     `json:"range"`
	NewName  string   `json:"newName"`
	Previous string   `json:"previousResultId"`
	Context  struct {
		Only []string `json:"only"`
	} `json:"context"`
	Item json.RawMessage `json:"item"`
}

// request answers a request.
func (s *server) request(m Message) (any, error) {
	if m.Method == "initialize" {
		return s.initialize(m.Params)
	}
	if !s.ready || s.finished {
		return nil, &rpcError{codeNotReady, "the server is not ready"}
	}
	if m.Method == "shutdown" {
		s.finished = true
		return nil, nil
	}
	answer := s.answers()[m.Method]
	if answer == nil {
		return nil, &rpcError{codeNoMethod, "unknown method " + m.Method}
	}
	var p params
	if m.Method == "codeAction/resolve" || m.Method == "workspace/executeCommand" {
		p.Item = m.Params
	} else if err := json.Unmarshal(m.Params, &p); err != nil {
		return nil, &rpcError{codeParams, err.Error()}
	}
	if uri := p.Document.URI; uri != "" {
		if _, open := s.docs[uri]; !open {
			return nil, &rpcError{codeParams, "not open: " + uri}
		}
	}
	return answer(p)
}

func (s *server) answers() map[string]func(params) (any, error) {
	return map[string]func(params) (any, error){
		"textDocument/hover":                s.hover,
		"textDocument/definition":           s.definition,
		"textDocument/references":           s.references,
		"textDocument/implementation":       func(params) (any, error) { return []location{}, nil },
		"textDocument/documentSymbol":       s.symbols,
		"workspace/symbol":                  s.allSymbols,
		"textDocument/prepareCallHierarchy": s.prepareCalls,
		"callHierarchy/incomingCalls":       func(p params) (any, error) { return calls("from", p.Item) },
		"callHierarchy/outgoingCalls":       func(p params) (any, error) { return calls("to", p.Item) },
		"textDocument/prepareRename":        s.prepareRename,
		"textDocument/rename":               s.rename,
		"textDocument/codeAction":           s.actions,
		"codeAction/resolve":                s.resolve,
		"workspace/executeCommand":          s.execute,
		"textDocument/diagnostic":           s.diagnostic,
	}
}

func (s *server) initialize(raw json.RawMessage) (any, error) {
	var p struct {
		Root    string `json:"rootUri"`
		Folders []struct {
			URI string `json:"uri"`
		} `json:"workspaceFolders"`
		Can struct {
			General struct {
				Encodings []string `json:"positionEncodings"`
			} `json:"general"`
			Workspace struct {
				Edit struct {
					Changes bool `json:"documentChanges"`
				} `json:"workspaceEdit"`
			} `json:"workspace"`
		} `json:"capabilities"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, &rpcError{codeParams, err.Error()}
	}
	if s.ready {
		s.complain("initialize again")
	}
	s.ready = true
	s.root = p.Root
	if len(p.Folders) > 0 {
		s.root = p.Folders[0].URI
	}
	s.edits = p.Can.Workspace.Edit.Changes
	s.bytes = s.o.utf8 && slices.Contains(p.Can.General.Encodings, "utf-8")
	return map[string]any{"capabilities": s.capabilities(), "serverInfo": map[string]string{"name": "fake", "version": "1"}}, nil
}

func (s *server) capabilities() map[string]any {
	if s.o.modest {
		s.bytes = false
		return map[string]any{}
	}
	sync := 2
	if s.o.fullSync {
		sync = 1
	}
	can := map[string]any{
		"textDocumentSync":        map[string]any{"openClose": true, "change": sync, "save": map[string]any{"includeText": false}},
		"hoverProvider":           true,
		"definitionProvider":      true,
		"referencesProvider":      true,
		"implementationProvider":  true,
		"documentSymbolProvider":  true,
		"workspaceSymbolProvider": true,
		"callHierarchyProvider":   true,
		"renameProvider":          map[string]any{"prepareProvider": true},
		"codeActionProvider":      map[string]any{"codeActionKinds": []string{"quickfix"}, "resolveProvider": true},
		"executeCommandProvider":  map[string]any{"commands": []string{"fake.run"}},
	}
	if s.bytes {
		can["positionEncoding"] = "utf-8"
	}
	if s.o.pull {
		can["diagnosticProvider"] = pullOptions()
	}
	return can
}

func pullOptions() map[string]any {
	return map[string]any{"identifier": "fake", "interFileDependencies": true, "workspaceDiagnostics": false}
}

func (s *server) hover(p params) (any, error) {
	value := fmt.Sprintf("hover at %d:%d", p.Position.Line, p.Position.Character)
	return map[string]any{"contents": map[string]string{"kind": "markdown", "value": value}}, nil
}

func (s *server) definition(p params) (any, error) {
	name, _, ok := s.wordAt(p.Document.URI, p.Position)
	if !ok {
		return nil, nil
	}
	for _, uri := range s.uris() {
		for number, line := range lines(s.docs[uri].text) {
			if at := definedBy(line); at == name {
				return location{uri, s.spanOf(number, line, len("def "), len("def ")+len(name))}, nil
			}
		}
	}
	return nil, nil
}

// definedBy returns the name that a line defines, "" for none.
func definedBy(line string) string {
	rest, ok := strings.CutPrefix(line, "def ")
	if !ok {
		return ""
	}
	if end := strings.IndexFunc(rest, func(r rune) bool { return !isWord(r) }); end >= 0 {
		rest = rest[:end]
	}
	return rest
}

// references are the name itself, and the same place in the line after.
func (s *server) references(p params) (any, error) {
	_, at, ok := s.wordAt(p.Document.URI, p.Position)
	if !ok {
		return []location{}, nil
	}
	below := at
	below.Start.Line++
	below.End.Line++
	return []location{{p.Document.URI, at}, {p.Document.URI, below}}, nil
}

func (s *server) symbols(p params) (any, error) {
	list := []any{}
	for number, line := range lines(s.docs[p.Document.URI].text) {
		if name := definedBy(line); name != "" {
			list = append(list, map[string]any{
				"name": name, "kind": 12, "range": s.spanOf(number, line, 0, len(line)),
				"selectionRange": s.spanOf(number, line, len("def "), len("def ")+len(name)),
			})
		}
	}
	return list, nil
}

// A symbol, a callItem and a callOf have their keys in the order of the
// recorded server.
type symbol struct {
	Name     string   `json:"name"`
	Kind     int      `json:"kind"`
	Location location `json:"location"`
}

type callItem struct {
	Name           string `json:"name"`
	Kind           int    `json:"kind"`
	URI            string `json:"uri"`
	Range          span   `json:"range"`
	SelectionRange span   `json:"selectionRange"`
}

type callOf struct {
	From   json.RawMessage `json:"from,omitempty"`
	To     json.RawMessage `json:"to,omitempty"`
	Ranges []span          `json:"fromRanges"`
}

func (s *server) allSymbols(params) (any, error) {
	if s.o.late && !s.told {
		return nil, nil
	}
	return allKinds(), nil
}

// allKinds returns a symbol of every kind. The tenth comes last, so that an
// order that is not kept shows.
func allKinds() []any {
	var list []any
	add := func(kind int) {
		at := location{"file:///fake/" + strconv.Itoa(kind), span{End: position{0, 1}}}
		list = append(list, symbol{"sym" + strconv.Itoa(kind), kind, at})
	}
	for kind := 1; kind <= 26; kind++ {
		if kind != 10 {
			add(kind)
		}
	}
	add(10)
	return list
}

func (s *server) prepareCalls(p params) (any, error) {
	name, at, ok := s.wordAt(p.Document.URI, p.Position)
	if !ok {
		return nil, nil
	}
	return []any{callItem{name, 12, p.Document.URI, at, at}}, nil
}

func calls(way string, item json.RawMessage) (any, error) {
	var at struct {
		Range *span `json:"selectionRange"`
	}
	if err := json.Unmarshal(item, &at); err != nil || at.Range == nil {
		return nil, &rpcError{codeParams, "no item"}
	}
	c := callOf{Ranges: []span{*at.Range}}
	if way == "from" {
		c.From = item
	} else {
		c.To = item
	}
	return []any{c}, nil
}

func (s *server) prepareRename(p params) (any, error) {
	name, at, ok := s.wordAt(p.Document.URI, p.Position)
	if !ok {
		return nil, &rpcError{codeFailed, "no name here"}
	}
	return map[string]any{"range": at, "placeholder": name}, nil
}

func (s *server) rename(p params) (any, error) {
	name, _, ok := s.wordAt(p.Document.URI, p.Position)
	if !ok {
		return nil, &rpcError{codeFailed, "no name here"}
	}
	if p.NewName == "" || strings.ContainsFunc(p.NewName, func(r rune) bool { return !isWord(r) }) {
		return nil, &rpcError{codeParams, "not a name: " + p.NewName}
	}
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	if s.o.near > 0 {
		s.o.near--
		files = map[string]string{p.Document.URI: s.docs[p.Document.URI].text}
	}
	changes := map[string][]any{}
	for uri, text := range files {
		for _, at := range s.uses(text, name) {
			changes[uri] = append(changes[uri], map[string]any{"range": at, "newText": p.NewName})
		}
	}
	return s.workspaceEdit(changes), nil
}

// workspaceEdit makes an edit of files in the form that the client takes.
func (s *server) workspaceEdit(changes map[string][]any) any {
	if !s.edits {
		return map[string]any{"changes": changes}
	}
	list := []any{}
	for _, uri := range slices.Sorted(maps.Keys(changes)) {
		file := map[string]any{"uri": uri, "version": nil}
		if d, open := s.docs[uri]; open {
			file["version"] = d.version
		}
		list = append(list, map[string]any{"textDocument": file, "edits": changes[uri]})
	}
	return map[string]any{"documentChanges": list}
}

func (s *server) actions(p params) (any, error) {
	list := []any{}
	wanted := func(only string) bool { return only == "" || only == "quickfix" }
	if len(p.Context.Only) > 0 && !slices.ContainsFunc(p.Context.Only, wanted) {
		return list, nil
	}
	for _, f := range s.findings(p.Document.URI, s.docs[p.Document.URI].text) {
		if f.Range.Start.Line <= p.Range.End.Line && f.Range.End.Line >= p.Range.Start.Line {
			list = append(list, map[string]any{
				"title": "Remove the line", "kind": "quickfix", "diagnostics": []finding{f},
				"data": location{p.Document.URI, f.Range},
			})
		}
	}
	return append(list, map[string]any{"title": "Run something", "command": "fake.run", "arguments": []string{p.Document.URI}}), nil
}

// resolve adds the edit to an action.
func (s *server) resolve(p params) (any, error) {
	var action map[string]json.RawMessage
	var at location
	if json.Unmarshal(p.Item, &action) != nil || json.Unmarshal(action["data"], &at) != nil {
		return nil, &rpcError{codeParams, "not an action of mine"}
	}
	line := span{position{at.Range.Start.Line, 0}, position{at.Range.Start.Line + 1, 0}}
	edit := s.workspaceEdit(map[string][]any{at.URI: {map[string]any{"range": line, "newText": ""}}})
	raw, err := json.Marshal(edit)
	action["edit"] = raw
	return action, err
}

// execute asks the client to change a file, which no client of ours should do
// by itself, and logs what it says.
func (s *server) execute(p params) (any, error) {
	var c struct {
		Command   string   `json:"command"`
		Arguments []string `json:"arguments"`
	}
	if json.Unmarshal(p.Item, &c) != nil || c.Command != "fake.run" || len(c.Arguments) != 1 {
		return nil, &rpcError{codeParams, "no such command"}
	}
	edit := s.workspaceEdit(map[string][]any{c.Arguments[0]: {map[string]any{"range": span{}, "newText": "changed by a command\n"}}})
	s.sendRequest("workspace/applyEdit", map[string]any{"edit": edit}, func(m Message) { s.logAnswer("applyEdit", m) })
	return nil, nil
}

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

type object = map[string]any

// A step is one move of the scripted model: a call of a tool of the server under
// proof.
type step struct {
	tool string // as the server names it
	args object
}

// An offer is a tool that an agent shows the model. Some send the tools of a
// server as a named group.
type offer struct{ group, name string }

// A model plays a script to any agent that asks, in the agent's wire format.
// Where it stands is read from the conversation that the agent sends, so a
// request that is sent twice gets the same answer twice.
type model struct {
	server string // the name under which agents know the server
	script []step

	mu      sync.Mutex
	offered int      // tools of the server
	results []string // of all calls
	missing string   // a tool of the script that was not offered
}

// read takes the tools and the results of a conversation from a request, which
// may be one of chat completions, responses or generate content.
func read(req object) (offers []offer, results []string) {
	var tools func(list any, group string)
	tools = func(list any, group string) {
		for _, t := range objects(list) {
			name, _ := t["name"].(string)
			if inner := objects(t["tools"]); len(inner) > 0 {
				tools(t["tools"], name)
			} else if name != "" {
				offers = append(offers, offer{group, name})
			}
			tools(t["functionDeclarations"], group)
			tools([]any{t["function"]}, group)
		}
	}
	tools(req["tools"], "")
	for _, m := range objects(req["messages"]) {
		if m["role"] == "tool" {
			results = append(results, texts(m["content"]))
		}
	}
	for _, in := range objects(req["input"]) {
		if in["type"] == "function_call_output" {
			results = append(results, texts(in["output"]))
		}
	}
	for _, c := range objects(req["contents"]) {
		for _, p := range objects(c["parts"]) {
			if f, ok := p["functionResponse"].(object); ok {
				results = append(results, texts(f["response"]))
			}
		}
	}
	return offers, results
}

// objects are those of a list; none where it is no list.
func objects(list any) (all []object) {
	values, _ := list.([]any)
	for _, v := range values {
		if o, ok := v.(object); ok {
			all = append(all, o)
		}
	}
	return all
}

// next decides what to answer, a call or a text, and keeps what it is shown.
func (m *model) next(offers []offer, results []string) (call *offer, args, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ours := 0
	for _, o := range offers {
		if strings.Contains(o.group+"_"+o.name, m.server) {
			ours++
		}
	}
	m.offered = max(m.offered, ours)
	if len(results) > len(m.results) {
		m.results = results
	}
	switch {
	case len(offers) == 0:
		return nil, "", "A title" // for a session
	case len(results) >= len(m.script):
		return nil, "", "done"
	}
	s := m.script[len(results)]
	if call = m.find(offers, s.tool); call == nil {
		m.missing = s.tool
		return nil, "", "The tool " + s.tool + " is not offered."
	}
	data, err := json.Marshal(s.args)
	if err != nil {
		return nil, "", err.Error()
	}
	return call, string(data), ""
}

// find returns the server's tool of a name among all that an agent offers.
// Agents put the server's name before the tool's, each in its own way.
func (m *model) find(offers []offer, name string) *offer {
	for i, o := range offers {
		full := o.group + "_" + o.name
		head, ok := strings.CutSuffix(full, name)
		if ok && strings.Contains(full, m.server) && (strings.HasSuffix(head, "_") || strings.HasSuffix(head, ".")) {
			return &offers[i]
		}
	}
	return nil
}

// ServeHTTP tells the wire formats apart by their paths.
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req := object{}
	if r.Method == http.MethodPost {
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	offers, results := read(req)
	id := fmt.Sprintf("call_%d", len(results)+1)
	path := r.URL.Path
	switch {
	case r.Method == http.MethodGet && strings.HasSuffix(path, "/models"):
		answer(w, "", object{"object": "list", "data": []object{{"id": "script-1", "object": "model"}}, "models": []object{}})
	case strings.HasSuffix(path, ":countTokens"):
		answer(w, "", object{"totalTokens": 1})
	case strings.HasSuffix(path, "/chat/completions"):
		call, args, text := m.next(offers, results)
		message, reason := object{"role": "assistant", "content": text}, "stop"
		if call != nil {
			message, reason = object{"role": "assistant", "tool_calls": []object{{
				"index": 0, "id": id, "type": "function", "function": object{"name": call.name, "arguments": args},
			}}}, "tool_calls"
		}
		whole := object{
			"id": "script", "object": "chat.completion", "created": 1, "model": "script-1", "usage": object{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
			"choices": []object{{"index": 0, "message": message, "delta": message, "finish_reason": reason}},
		}
		if req["stream"] != true {
			answer(w, "", whole)
			return
		}
		whole["object"] = "chat.completion.chunk"
		answer(w, "data: [DONE]\n\n", whole)
	case strings.HasSuffix(path, "/responses"):
		call, args, text := m.next(offers, results)
		item := object{
			"type": "message", "id": "msg_script", "role": "assistant", "status": "completed",
			"content": []object{{"type": "output_text", "text": text, "annotations": []object{}}},
		}
		if call != nil {
			item = object{"type": "function_call", "id": "fc_" + id, "call_id": id, "status": "completed", "name": call.name, "arguments": args}
			if call.group != "" {
				item["namespace"] = call.group
			}
		}
		response := func(status string, output ...object) object {
			return object{"id": "resp_script", "object": "response", "created_at": 1, "model": "script-1", "status": status, "output": output,
				"usage": object{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, "input_tokens_details": object{"cached_tokens": 0}, "output_tokens_details": object{"reasoning_tokens": 0}}}
		}
		answer(w, "\n", object{"type": "response.created", "response": response("in_progress")},
			object{"type": "response.output_item.added", "output_index": 0, "item": item}, object{"type": "response.output_item.done", "output_index": 0, "item": item},
			object{"type": "response.completed", "response": response("completed", item)})
	case strings.Contains(path, ":"):
		call, args, text := m.next(offers, results)
		part := object{"text": text}
		if call != nil {
			part = object{"functionCall": object{"id": id, "name": call.name, "args": json.RawMessage(args)}}
		}
		end := ""
		if strings.HasSuffix(path, ":streamGenerateContent") {
			end = "\n"
		}
		answer(w, end, object{
			"candidates":    []object{{"index": 0, "finishReason": "STOP", "content": object{"role": "model", "parts": []object{part}}}},
			"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}, "modelVersion": "script-1", "responseId": "script-" + id,
		})
	default:
		http.NotFound(w, r)
	}
}

// answer writes events, and how a stream of them ends; or an object alone, where
// there is no end.
func answer(w http.ResponseWriter, end string, events ...object) {
	if end == "" {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(events[0]) // who does not read has gone
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		text, err := json.Marshal(e)
		if err != nil {
			text = []byte(err.Error())
		}
		if kind, ok := e["type"]; ok {
			fmt.Fprintf(w, "event: %s\n", kind)
		}
		fmt.Fprintf(w, "data: %s\n\n", text)
	}
	fmt.Fprint(w, end)
}

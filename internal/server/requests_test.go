package server

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

func writing(session, file string) fields {
	return fields{"tool": "write", "input": fields{"filePath": file, "content": "written\n"}, "session": session}
}

func asking(t testing.TB) *house {
	t.Helper()
	return build(t, changes{rules: permission.Ruleset{ask("edit", "*")}})
}

func TestReplyOnce(t *testing.T) {
	t.Parallel()
	h := asking(t)
	before := time.Now()
	later := behind(t, h, "POST /v1/calls", writing("ses_a", "a.txt"))
	r := nextRequest(t, h)
	if r.Permission != "edit" || r.Session != "ses_a" || len(r.Store) == 0 || r.Call == nil || r.Metadata["diff"] == nil {
		t.Errorf("%+v", r)
	}
	if left := time.UnixMilli(r.Expires).Sub(before); left < DefaultPatience-time.Second || left > DefaultPatience+time.Minute {
		t.Errorf("it waits for %s", left)
	}
	at := "POST /v1/permissions/" + r.ID
	bad := problem{Status: 422, Kind: tool.InvalidInput, Code: "bad-request"}
	for _, in := range []fields{
		{}, {"reply": "perhaps"}, {"reply": "once", "more": 1}, {"reply": "once", "scope": "user"}, {"reply": "always", "scope": "world"},
		{"reply": "once", "store": []fields{{"permission": "edit", "pattern": "*"}}},
		{"reply": "always", "store": []fields{}},
		{"reply": "always", "store": []fields{{"permission": "bash", "pattern": "*"}}},
		{"reply": "always", "store": []fields{{"permission": "edit", "pattern": ""}}},
		{"reply": "always", "store": []fields{{"permission": "edit"}}},
		{"reply": "reject", "message": strings.Repeat("x", 16<<10+1)},
	} {
		fails(t, h, at, in, bad)
	}
	if again := nextRequest(t, h); again.ID != r.ID {
		t.Error("a bad answer was taken for one")
	}
	do[none](t, h, 204, at, fields{"reply": "once"})
	if g := <-later; g.status != 200 || h.read(t, "a.txt") != "written\n" {
		t.Errorf("%d %s", g.status, g.body)
	}
	fails(t, h, at, fields{"reply": "once"}, problem{Status: 404, Code: "not-found"})
	fails(t, h, "POST /v1/permissions/none", fields{"reply": "reject"}, problem{Status: 404, Code: "not-found"})
	if left := do[requests](t, h, 200, "GET /v1/requests", nil); len(left.Permissions)+len(left.Questions) != 0 {
		t.Errorf("%+v", left)
	}
}

// What a person has edited is what is kept, and no more.
func TestReplyAlways(t *testing.T) {
	t.Parallel()
	h := asking(t)
	later := behind(t, h, "POST /v1/calls", writing("ses_a", "a.txt"))
	r := nextRequest(t, h)
	do[none](t, h, 204, "POST /v1/permissions/"+r.ID, fields{"reply": "always", "scope": "project",
		"store": []fields{{"permission": "edit", "pattern": "*.md"}, {"permission": "edit", "pattern": "a.txt", "exact": true}}})
	if g := <-later; g.status != 200 {
		t.Fatalf("%d %s", g.status, g.body)
	}
	do[called](t, h, 200, "POST /v1/calls", writing("ses_b", "b.md"))
	later = behind(t, h, "POST /v1/calls", writing("ses_b", "b.txt"))
	r = nextRequest(t, h)
	do[none](t, h, 204, "POST /v1/permissions/"+r.ID, fields{"reply": "always"})
	<-later
	have := do[rules](t, h, 200, "GET /v1/rules", nil)
	if len(have.Approvals) != 3 || have.Agent != "build" {
		t.Fatalf("%+v", have.Approvals)
	}
	var project, session int
	for _, a := range have.Approvals {
		switch {
		case a.Scope == permission.Project && a.Pattern == "*.md" && !a.Exact, a.Scope == permission.Project && a.Pattern == "a.txt" && a.Exact:
			project++
		case a.Scope == permission.Session && a.Session == "ses_b":
			session++
		}
	}
	if project != 2 || session != 1 {
		t.Errorf("%+v", have.Approvals)
	}
	if one := do[rules](t, h, 200, "GET /v1/rules?session=ses_a", nil); len(one.Approvals) != 2 {
		t.Errorf("%+v", one.Approvals)
	}
	for _, a := range have.Approvals {
		do[none](t, h, 204, "DELETE /v1/approvals/"+a.ID, nil)
		fails(t, h, "DELETE /v1/approvals/"+a.ID, nil, problem{Status: 404, Code: "not-found"})
	}
	if left := do[rules](t, h, 200, "GET /v1/rules", nil); len(left.Approvals) != 0 {
		t.Errorf("%+v", left.Approvals)
	}
}

// A reject says why, and rejects what else the session waits for.
func TestReplyReject(t *testing.T) {
	t.Parallel()
	h := asking(t)
	one, two := behind(t, h, "POST /v1/calls", writing("ses_a", "a.txt")), behind(t, h, "POST /v1/calls", writing("ses_a", "b.txt"))
	eventually(t, "both", func() bool { return len(h.rt.Requests().Pending()) == 2 })
	do[none](t, h, 204, "POST /v1/permissions/"+h.rt.Requests().Pending()[0].ID, fields{"reply": "reject", "message": "use <another> file"})
	told := 0
	for _, later := range []<-chan got{one, two} {
		p := problemIn(t, <-later)
		if p.Status != 403 || p.Kind != tool.Rejected || p.Code != "rejected" {
			t.Errorf("%+v", p)
		}
		if strings.Contains(p.Detail, "use <another> file") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("%d were told why", told)
	}
}

func questions() fields {
	return fields{"tool": "question", "session": "ses_q", "input": fields{"questions": []fields{
		{"question": "Which colour?", "header": "colour", "options": []fields{{"label": "red", "description": "like this"}, {"label": "blue", "description": "or that"}}},
		{"question": "Which size?", "header": "size", "options": []fields{{"label": "small", "description": "s"}}},
	}}}
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	h := build(t, changes{})
	later := behind(t, h, "POST /v1/calls", questions())
	q := nextQuestion(t, h)
	if q.Session != "ses_q" || len(q.Questions) != 2 || q.Expires < time.Now().UnixMilli() {
		t.Errorf("%+v", q)
	}
	at := "POST /v1/questions/" + q.ID
	bad := problem{Status: 422, Kind: tool.InvalidInput, Code: "bad-request"}
	for _, in := range []fields{{}, {"answers": [][]string{{"red"}}}, {"answers": "red"}, {"answers": []string{"red", "small"}}} {
		fails(t, h, at, in, bad)
	}
	do[none](t, h, 204, at, fields{"answers": [][]string{{"blue"}, {}}})
	g := <-later
	if g.status != 200 || !strings.Contains(string(g.body), `Which colour?\"=\"blue`) || !strings.Contains(string(g.body), "Unanswered") {
		t.Errorf("%d %s", g.status, g.body)
	}
	fails(t, h, at, fields{"answers": [][]string{{"red"}, {}}}, problem{Status: 404, Code: "not-found"})

	later = behind(t, h, "POST /v1/calls", questions())
	q = nextQuestion(t, h)
	do[none](t, h, 204, "POST /v1/questions/"+q.ID+"/dismiss", nil)
	if p := problemIn(t, <-later); p.Status != 403 || p.Kind != tool.Rejected {
		t.Errorf("%+v", p)
	}
	fails(t, h, "POST /v1/questions/"+q.ID+"/dismiss", nil, problem{Status: 404, Code: "not-found"})
}

// What nobody answers ends, and says why.
func TestPatience(t *testing.T) {
	t.Parallel()
	h := build(t, changes{
		rules:  permission.Ruleset{ask("edit", "*")},
		server: func(o *Options) { o.Patience = 50 * time.Millisecond },
	})
	later := behind(t, h, "POST /v1/calls", writing("ses_a", "a.txt"))
	if p := problemIn(t, <-later); p.Status != 403 || p.Kind != tool.Unattended || !strings.Contains(p.Detail, "Nobody answered within 50ms") {
		t.Errorf("%+v", p)
	}
	later = behind(t, h, "POST /v1/calls", questions())
	if p := problemIn(t, <-later); p.Kind != tool.Unattended || !strings.Contains(p.Detail, "Nobody answered within 50ms") {
		t.Errorf("%+v", p)
	}
	one, two := behind(t, h, "POST /v1/calls", writing("ses_a", "a.txt")), behind(t, h, "POST /v1/calls", writing("ses_b", "b.txt"))
	for _, later := range []<-chan got{one, two} {
		if p := problemIn(t, <-later); p.Kind != tool.Unattended {
			t.Errorf("%+v", p)
		}
	}
	eventually(t, "nothing to wait for", func() bool {
		h.watch.mu.Lock()
		defer h.watch.mu.Unlock()
		return len(h.watch.asked) == 0
	})
}

// What nobody answers ends alone: the session's other requests go on.
func TestPatienceWithOne(t *testing.T) {
	t.Parallel()
	h := asking(t)
	one := behind(t, h, "POST /v1/calls", writing("ses_a", "a.txt"))
	first := nextRequest(t, h)
	two := behind(t, h, "POST /v1/calls", writing("ses_a", "b.txt"))
	eventually(t, "both", func() bool { return len(h.rt.Requests().Pending()) == 2 })
	h.expireRequest(first.ID, asked{})
	if p := problemIn(t, <-one); p.Kind != tool.Unattended {
		t.Errorf("%+v", p)
	}
	second := nextRequest(t, h)
	if second.ID == first.ID {
		t.Fatal("it still waits")
	}
	do[none](t, h, 204, "POST /v1/permissions/"+second.ID, fields{"reply": "once"})
	if g := <-two; g.status != 200 || h.read(t, "b.txt") != "written\n" {
		t.Errorf("%d %s", g.status, g.body)
	}
}

// A watch that was told too little asks.
func TestResync(t *testing.T) {
	t.Parallel()
	h := asking(t)
	later := behind(t, h, "POST /v1/calls", writing("ses_a", "a.txt"))
	q := behind(t, h, "POST /v1/calls", questions())
	r, asked := nextRequest(t, h), nextQuestion(t, h)
	h.watch.mu.Lock()
	since := h.watch.asked[r.ID].at
	delete(h.watch.asked, asked.ID)
	h.watch.asked["gone"] = h.watch.asked[r.ID]
	h.watch.mu.Unlock()
	h.resync()
	h.watch.mu.Lock()
	have := len(h.watch.asked)
	same := h.watch.asked[r.ID].at.Equal(since)
	question := h.watch.asked[asked.ID].question
	h.watch.mu.Unlock()
	if have != 2 || !same || !question {
		t.Errorf("%d %t %t", have, same, question)
	}
	do[none](t, h, 204, "POST /v1/permissions/"+r.ID, fields{"reply": "reject"})
	do[none](t, h, 204, "POST /v1/questions/"+asked.ID+"/dismiss", nil)
	<-later
	<-q
}

// The end of a session answers what it waits for.
func TestEndSession(t *testing.T) {
	t.Parallel()
	h := asking(t)
	later := behind(t, h, "POST /v1/calls", writing("ses_a", "a.txt"))
	nextRequest(t, h)
	do[none](t, h, 204, "POST /v1/sessions/ses_a/end", nil)
	if p := problemIn(t, <-later); p.Kind != tool.Rejected {
		t.Errorf("%+v", p)
	}
	fails(t, h, "POST /v1/sessions/none/end", nil, problem{Status: 404, Code: "not-found"})
}

// Lists are never null, whatever the runtime holds.
func TestNeverNull(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(permissionRequest{Request: fillLists(permission.Request{})})
	if err != nil || strings.Contains(string(raw), "null") {
		t.Errorf("%s %v", raw, err)
	}
	res := wholeResult(&tool.Result{Inner: []tool.Inner{{Result: &tool.Result{}}, {}}})
	if res.Metadata == nil || res.Inner[0].Metadata == nil || wholeResult(nil) != nil {
		t.Errorf("%+v", res)
	}
	h := build(t, changes{})
	for path, item := range h.doc.paths {
		if _, ok := item["get"]; !ok || strings.Contains(path, "{") || path == "/v1/events" || path == "/v1/openapi.json" {
			continue
		}
		g, err := h.send(t.Context(), "GET "+path, nil)
		if err != nil || g.status == 200 && strings.Contains(string(g.body), ":null") || string(g.body) == "null\n" {
			t.Errorf("%s: %s %v", path, g.body, err)
		}
	}
}

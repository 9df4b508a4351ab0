package helve_test

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A departure is a place where agents mean to do otherwise than the
// reference's.
type departure struct {
	anchor string // where docs/divergence.md tells why
	name   string // the recording
	field  string // the path of the value; what lies below it may differ too
	ours   string // what our value holds, as JSON
	why    string
}

// acceptedFile has our values where they differ, by recording and protocol, and
// by field: each is held exactly. It is written with -update; the table of
// departures says why each may differ.
const acceptedFile = "testdata/agent-accepted.json"

var update = flag.Bool("update", false, "write the golden files anew")

func loadAccepted(t *testing.T) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	data, err := os.ReadFile(acceptedFile)
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil && !*update {
		t.Fatalf("%v (write it with -update)", err)
	}
	return all
}

func departures() []departure {
	const all = "asks_when_everything_asks"
	var ds []departure
	add := func(anchor, why, ours, name string, fields ...string) {
		for _, field := range fields {
			ds = append(ds, departure{anchor, name, field, ours, why})
		}
	}
	why := "who pays is told what an agent took, and with which model"
	for _, name := range []string{
		"general", "child_tool_error", "custom_agent", "primary_agent", "explore_default_permission", "explore_cannot_edit", "child_uses_tool",
		"two_parallel",
	} {
		add("agent.usage", why, "", "task."+name, "calls.0.metadata.cost", "calls.0.metadata.model", "calls.0.metadata.tokens")
	}
	add("agent.usage", why, "", "task.two_parallel", "calls.1.metadata.cost", "calls.1.metadata.model", "calls.1.metadata.tokens")
	for _, name := range []string{
		"task.missing_prompt", "invalid.missing_required", "invalid.wrong_type", "invalid.wrong_type_null", "invalid.wrong_type_several",
		"invalid.snake_case_arguments", "invalid.enum", "question.missing_options", "todo.missing", "todo.missing_content", "todo.no_id",
		"todo.not_array",
	} {
		add("agent.hints", "the model is told what is wrong in a line, too", `wanted `, name, "calls.0.error", "to_model.0")
	}
	add("agent.hints", "the model is told what is wrong in a line, too", `wanted `, "invalid.good_and_bad_in_one_step", "calls.2.error", "to_model.2")
	for _, name := range []string{"invalid.array_arguments", "invalid.string_arguments"} {
		add("invalid.not_an_object", "the model is told, and the loop goes on", "expected object, received", name, "calls.0.error", "to_model.0")
		add("invalid.not_an_object", "the model is told, and the loop goes on", "2", name, "model_requests")
	}
	for _, name := range []string{"invalid.list_tool", "invalid.multiedit_tool"} {
		add("tools.offered", "they are offered", "", name, "calls.0", "to_model.0")
	}
	add("tools.offered", "they are offered", "", "invalid.list_tool", all)
	why = "a call that was not understood is answered alike, whoever made it"
	add("agent.unavailable", why, "", "task.explore_default_permission", "calls.0.metadata.summary.0", "child_sessions.0.0")
	add("agent.unavailable", why, "Model tried to call unavailable tool 'write'", "task.explore_default_permission", "children.editor.0")
	add("search.git", "a repository's own folder is not searched unless it is the path", "", "task.explore_default_permission",
		"children.editor.1", "child_sessions.0.1")

	why = "what holds now is told in our words, and with what was said last"
	add("agent.reminder", why, "You are planning.", "plan.enter_yes", "extra_messages.1")
	add("agent.reminder", why, "Planning is over", "plan.exit_yes", "extra_messages.1")
	add("agent.reminder", why, "You are planning.", "permission.plan_agent_edit", "extra_messages.0")
	add("agent.reminder", why, "You are planning.", "permission.plan_agent_bash", "extra_messages.0")
	add("agent.custom", "every question may be answered in other words", "null", "plan.enter_yes", "questions.0.questions.0.custom")
	add("agent.custom", "every question may be answered in other words", "null", "plan.exit_yes", "questions.0.questions.0.custom")
	add("arguments.unknown", "a key that the tool does not know is named", `"dropped":true`, "todo.read_with_args", "calls.0.metadata.repairs")
	add("agent.repeats", "also a call in each of three messages is a repetition", `"doom_loop"`, "permission.doom_loop_sequential", "asks.0")

	why = "a command is asked about as it is written"
	for _, name := range []string{"bash_ask_env_prefix", "bash_ask_heredoc", "bash_ask_loop", "bash_ask_patterns", "continue_loop_on_deny", "reject_two_parallel"} {
		add("bash.asks", why, "", "permission."+name, "asks.0.always", "asks.0.metadata.command", "asks.0.patterns")
	}
	add("bash.asks", why, "", "permission.reject_two_parallel", "asks.1.always", "asks.1.metadata.command", "asks.1.patterns")
	add("bash.asks", why, "", "task.two_parallel", all+".2.always", all+".2.metadata.command")
	why = "files are asked about as the file tools ask"
	for _, name := range []string{"external_bash_cd", "external_bash_head_not_checked", "external_bash_rm", "external_bash_workdir"} {
		add("bash.files", why, "", "permission."+name, "asks.0")
	}
	add("bash.files", "a command that writes a file edits", "prevents you", "permission.plan_agent_bash", "calls.0.error", "to_model.0")
	add("bash.files", "a command that writes a file edits", "", "permission.plan_agent_bash", "calls.0", "files.n.txt")
	add("bash.middle", "the beginning and the end of a long output are shown", "truncated...", "permission.truncation_hint_without_task", "calls.0.output", "to_model.0")
	add("webfetch.always", `"always" is about one site`, `"{{HTTP}}/*"`, "permission.webfetch_ask", "asks.0.always.0")
	add("webfetch.inside", "what is on this machine is told", `"this machine"`, "permission.webfetch_ask", "asks.0.metadata.place")
	return ds
}

// TestDeparturesAreTold holds the table against the paper for people.
func TestDeparturesAreTold(t *testing.T) {
	doc, err := os.ReadFile("docs/divergence.md")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, d := range departures() {
		if !told[d.anchor] && !strings.Contains(string(doc), "`"+d.anchor+"`") {
			told[d.anchor] = true
			t.Errorf("docs/divergence.md does not tell of `%s` (%s: %s)", d.anchor, d.name, d.why)
		}
	}
}

// A discrepancy is a value that is not as recorded.
type discrepancy struct {
	field     string
	want, got any
}

// settle fails for what differs and should not, or otherwise than it should,
// and for what should and does not.
func settle(t *testing.T, found []discrepancy, known []departure, exact map[string]any) {
	t.Helper()
	used := make([]bool, len(known))
	for _, f := range found {
		i := slices.IndexFunc(known, func(d departure) bool {
			return f.field == d.field || strings.HasPrefix(f.field, d.field+".")
		})
		if i < 0 {
			t.Errorf("%s:\n got %s\nwant %s", f.field, inJSON(f.got), inJSON(f.want))
			continue
		}
		used[i] = true
		ours := inJSON(f.got)
		if !strings.Contains(ours, known[i].ours) {
			t.Errorf("%s differs as it should, but is %s and does not hold %s", f.field, ours, known[i].ours)
		}
		want, ok := exact[f.field]
		if !ok || inJSON(want) != ours {
			t.Errorf("%s differs, but is\n     %s\nand not %s, as in %s", f.field, ours, inJSON(want), acceptedFile)
		}
	}
	for _, field := range slices.Sorted(maps.Keys(exact)) {
		if !slices.ContainsFunc(found, func(f discrepancy) bool { return f.field == field }) {
			t.Errorf("%s has a value for %s, which does not differ", acceptedFile, field)
		}
	}
	for i, d := range known {
		if !used[i] {
			t.Errorf("%s is in the table of differences, and does not differ (%s)", d.field, d.why)
		}
	}
}

// A collation holds what happened against what was recorded.
type collation struct{ found []discrepancy }

func (c *collation) list(field string, want, got []any) {
	for i := range max(len(want), len(got)) {
		var w, g any
		if i < len(want) {
			w = want[i]
		}
		if i < len(got) {
			g = got[i]
		}
		c.value(fmt.Sprintf("%s.%d", field, i), w, g)
	}
}

func (c *collation) value(field string, want, got any) {
	switch w := want.(type) {
	case map[string]any:
		if hash, ok := w["$sha256"]; ok {
			if text, ok := got.(string); !ok || fmt.Sprintf("%x", sha256.Sum256([]byte(text))) != hash {
				c.found = append(c.found, discrepancy{field, want, got})
			}
			return
		}
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		keys := maps.Clone(w)
		maps.Copy(keys, g)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			c.value(field+"."+key, w[key], g[key])
		}
		return
	case []any:
		g, ok := got.([]any)
		if !ok || len(w) == 0 || len(g) == 0 {
			break
		}
		c.list(field, w, g)
		return
	case string:
		if g, ok := got.(string); ok {
			want, got = withoutList(w), withoutList(g)
		}
	}
	if inJSON(want) != inJSON(got) {
		c.found = append(c.found, discrepancy{field, want, got})
	}
}

// withoutList leaves out which tools there are, since we do not have all that
// the reference had, and have others; and what a JSON parser says, since those
// words are its own.
func withoutList(s string) string {
	const mark = "Error message: "
	if i := strings.Index(s, mark); i >= 0 && strings.Contains(s[:i], "JSON parsing failed") {
		s = s[:i+len(mark)]
	}
	return regexp.MustCompile(`Available tools: ([a-z_, ]+)`).ReplaceAllString(s, "Available tools: …")
}

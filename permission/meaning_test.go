package permission

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMeaning(t *testing.T) {
	rules := func(lines ...string) (rs Ruleset) {
		for _, l := range lines {
			name, rest, _ := strings.Cut(l, " ")
			action, pattern, _ := strings.Cut(rest, " ")
			rs = append(rs, Rule{Permission: name, Pattern: pattern, Action: Action(action)})
		}
		return rs
	}
	list := rules("bash ask *", "bash allow git *", "bash deny git push *", "bash allow find * -exec grep *")
	open := rules("bash allow *", "read allow *", "edit allow *")
	for _, tc := range []struct {
		name          string
		rules         Ruleset
		pattern       string
		spellings     []string
		uncertainties []Uncertainty
		want          string
	}{
		{"text", list, "git status", nil, nil, "allow"},
		{"a spelling is denied", list, "'git' push", []string{"git push"}, nil, "deny"},
		{"a spelling is allowed", list, "/bin/git log", []string{"git log"}, nil, "ask"},
		{"an unknown word that may be denied", list, "git $X", []string{"git \x00"}, nil, "ask opaque"},
		{"an unknown word that can not be", list, "git log $X", []string{"git log \x00"}, nil, "allow"},
		{"denied whatever it is", list, "git push $X", []string{"git push \x00"}, nil, "deny"},
		{"an unknown command", list, "git $X", nil, []Uncertainty{{Why: "code"}}, "ask opaque"},
		{"an unknown command where all is allowed", open, "eval $X", nil, []Uncertainty{{Why: "code"}}, "allow"},
		{"where a file is denied", append(open[:3:3], rules("read deny *.env")...), "eval $X", nil, []Uncertainty{{Why: "code"}}, "ask opaque"},
		{"where a command is asked about", append(open[:3:3], rules("bash ask rm *")...), "eval $X", nil, []Uncertainty{{Why: "code"}}, "ask opaque"},
		{"a restriction that was undone", rules("bash deny rm *", "bash allow *"), "eval $X", nil, []Uncertainty{{Why: "code"}}, "allow"},
		{"named consent", list, "find . -exec grep x {} +", nil, []Uncertainty{{Why: "runs", Flag: "-exec"}}, "allow"},
		{"consent that does not name it", list, "git -c a=b log", nil, []Uncertainty{{Why: "runs", Flag: "-c"}}, "ask opaque"},
		{"consent that only looks like it", rules("bash ask *", "bash allow ssh my-other *"), "ssh my-other -o x", nil, []Uncertainty{{Why: "runs", Flag: "-o"}}, "ask opaque"},
		{"consent that names it", rules("bash ask *", "bash allow ssh * -o *"), "ssh my-other -o x", nil, []Uncertainty{{Why: "runs", Flag: "-o"}}, "allow"},
		{"consent to the whole text", rules("bash ask *", "bash allow eval $X"), "eval $X", nil, []Uncertainty{{Why: "code"}}, "allow"},
		{"an unknown file where none is denied", list, "git log $X", nil, []Uncertainty{{Why: "file", Permission: "read"}}, "allow"},
		{"an unknown file where one is", append(list[:4:4], rules("read deny *.env")...), "git log $X", nil, []Uncertainty{{Why: "file", Permission: "read"}}, "ask opaque"},
		{"never looser than the text alone", rules("bash deny A=1 rm *", "bash ask rm *"), "A=1 rm x", []string{"rm x"}, nil, "deny"},
	} {
		req := Request{
			Permission: "bash", Patterns: []string{tc.pattern},
			Spellings: map[string][]string{tc.pattern: tc.spellings}, Uncertainties: map[string][]Uncertainty{tc.pattern: tc.uncertainties},
		}
		said := func(d Decision) string {
			if d.Opaque != "" {
				return string(d.Action) + " opaque"
			}
			return string(d.Action)
		}
		if got := said(Policy{Rules: tc.rules}.Judge(req, tc.pattern)); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
		limited := Policy{Rules: rules("bash allow *"), Ceilings: []Ruleset{tc.rules}}
		if got := said(limited.Judge(req, tc.pattern)); got != tc.want {
			t.Errorf("%s, as a limit: %s, want %s", tc.name, got, tc.want)
		}
	}
}

// An approval of many commands answers no uncertainty about one; an approval of its
// text does.
func TestApprovalOfDoubt(t *testing.T) {
	const text = "git $X"
	req := Request{Permission: "bash", Patterns: []string{text}, Uncertainties: map[string][]Uncertainty{text: {{Why: "code"}}}}
	p := Policy{Rules: Ruleset{{Permission: "bash", Pattern: "*", Action: Ask}}}
	for _, tc := range []struct {
		a    Approval
		want Action
	}{
		{Approval{Permission: "bash", Pattern: "git *"}, Ask},
		{Approval{Permission: "bash", Pattern: text, Exact: true}, Allow},
	} {
		d := p.Judge(req, text)
		d.consult(req, []Approval{tc.a})
		if d.Action != tc.want {
			t.Errorf("%+v: %s", tc.a, d.Action)
		}
	}
}

// What matches for some text is what matches for one of a few that are tried,
// and what matches whatever the text is matches for all of them.
func TestUnknownText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.StringMatching(`[ab /]{0,3}`)
		head, tail := part.Draw(t, "head"), part.Draw(t, "tail")
		pattern := rapid.StringMatching(`[ab /*?]{0,6}`).Draw(t, "pattern")
		text := head + "\x00" + tail
		some := false
		values := []string{""}
		for len(values[len(values)-1]) < 5 {
			for n := len(values); n > 0; n-- {
				v := values[0]
				values = values[1:]
				for _, c := range "ab /" {
					values = append(values, v+string(c))
				}
				matched := Match(head+v+tail, pattern)
				some = some || matched
				if !matched && matchAny(text, pattern) {
					t.Fatalf("%q does not match %q", head+v+tail, pattern)
				}
			}
			if len(values) > 300 {
				break
			}
		}
		if some && !matchSome(text, pattern) {
			t.Fatalf("%q matches %q for some value", text, pattern)
		}
		if !some && len(pattern) < 4 && matchSome(text, pattern) {
			t.Fatalf("%q matches %q for none", text, pattern)
		}
	})
}

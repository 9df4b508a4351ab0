package permission

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseConfig(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		want     string // rules as perm/pattern/action, one each
	}{
		{"one action", `"ask"`, "* * ask"},
		{"empty", `{}`, ""},
		{"an action", `{"bash":"allow"}`, "bash * allow"},
		{"patterns", `{"bash":{"*":"allow","rm":"deny"}}`, "bash * allow|bash rm deny"},
		{"mixed, in order", `{"bash":{"a":"ask"},"edit":"allow","webfetch":"ask"}`, "bash a ask|edit * allow|webfetch * ask"},
		{"a map for any name", `{"todowrite":{"x":"deny"},"mcp_*":{"*":"ask"}}`, "todowrite x deny|mcp_* * ask"},
		{"number-like keys", `{"10":"deny","2":{"9":"allow","1":"ask"}}`, "10 * deny|2 9 allow|2 1 ask"},
		{"home", `{"e":{"~":"ask","~/p/*":"ask","$HOME":"ask","$HOME/p":"ask","$HOME*":"ask"}}`,
			"e /home/u ask|e /home/u/p/* ask|e /home/u ask|e /home/u/p ask|e /home/u* ask"},
		{"not home", `{"e":{"/a/~/b":"ask","$HOMEX":"ask","~x":"ask","a$HOME":"ask","$HOME_":"ask"}}`,
			"e /a/~/b ask|e $HOMEX ask|e ~x ask|e a$HOME ask|e $HOME_ ask"},
		{"names are not expanded", `{"~":"ask"}`, "~ * ask"},
		{"empty pattern object", `{"bash":{}}`, ""},
		{"blanks", " {\n \"bash\" : { \"a\" : \"ask\" } }\n", "bash a ask"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rules, err := ParseConfig([]byte(tc.in), ConfigOptions{Home: "/home/u"})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range rules {
				got = append(got, r.Permission+" "+r.Pattern+" "+string(r.Action))
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, "|")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseConfigMistakes(t *testing.T) {
	const want = `want "allow", "ask" or "deny"`
	for _, tc := range []struct {
		name, in string
		home     string
		at       string // the text the offset points at
		msg      string
	}{
		{"case", `{"bash":"Allow"}`, "/h", `"Allow"`, `"bash": "Allow" is not an action; did you mean "allow"? (` + want + `)`},
		{"a whole config", `{"permission":{"bash":"deny"}}`, "/h", `"permission"`, `"permission": this is the key that the rules stand under; give what is in it`},
		{"a word", `{"bash":{"rm *":"denied"}}`, "/h", `"denied"`, `"bash: rm *": "denied" is not an action; did you mean "deny"? (` + want + `)`},
		{"no near word", `{"bash":"maybe"}`, "/h", `"maybe"`, `"bash": "maybe" is not an action; ` + want},
		{"one action", `"yes"`, "/h", `"yes"`, `"yes" is not an action; ` + want},
		{"bool", `{"bash": true}`, "/h", `true`, `"bash": true is not an action; ` + want + `, or an object of patterns`},
		{"null", `{"bash":{"*" : null}}`, "/h", `null`, `"bash: *": null is not an action; ` + want},
		{"null policy", `null`, "/h", `null`, `null is not a policy; ` + want + `, or an object of permissions`},
		{"list", `{"bash":[1,{"a":[]}],"x":"ask"}`, "/h", `[1,`, `"bash": a list is not an action; ` + want + `, or an object of patterns`},
		{"list of policies", `[{"bash":"ask"}]`, "/h", `[{`, `a list is not a policy; ` + want + `, or an object of permissions`},
		{"too deep", `{"bash":{"a":{"b":"ask"}}}`, "/h", `{"b"`, `"bash: a": an object is not an action; ` + want},
		{"number", `{"bash":{"a":1}}`, "/h", `1`, `"bash: a": a number is not an action; ` + want},
		{"twice", `{"bash":"ask","edit":"ask","bash":"deny"}`, "/h", `"bash":"deny"`, `"bash": this key stands twice, so the order of the rules is unclear; keep one`},
		{"twice by escape", `{"bash":{"a":"ask","\u0061":"deny"}}`, "/h", `"\u0061"`, `"bash: a": this key stands twice, so the order of the rules is unclear; keep one`},
		{"home unknown", `{"e":{"~/x":"deny"}}`, "", `"~/x"`, `"e: ~/x": the home folder is not known, so the start of this pattern has no meaning; write the path out`},
		{"more", `"ask" "deny"`, "/h", `"deny"`, `there is more text after the policy`},
		{"nothing", ``, "/h", ``, `not JSON: the text ends too early`},
		{"cut", `{"bash":{"a":"ask"`, "/h", ``, `"bash": not JSON: the text ends too early`},
		{"two mistakes", `{"a":"x","b":"y"}`, "/h", `"x"`, `"a": "x" is not an action; ` + want + "\n" + `"b": "y" is not an action; ` + want},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rules, err := ParseConfig([]byte(tc.in), ConfigOptions{Home: tc.home})
			var ce *ConfigError
			if !errors.As(err, &ce) {
				t.Fatalf("got rules %v and error %v, want a ConfigError", rules, err)
			}
			if rules != nil {
				t.Errorf("rules %v beside an error", rules)
			}
			if diff := cmp.Diff(tc.msg, err.Error()); diff != "" {
				t.Error(diff)
			}
			if rest := tc.in[ce.Offset:]; !strings.HasPrefix(rest, tc.at) || tc.at == "" && rest != "" {
				t.Errorf("offset %d points at %q, want %q", ce.Offset, rest, tc.at)
			}
		})
	}
}

func TestParseConfigSource(t *testing.T) {
	in := []byte("{\n\"bash\": {\n  \"a\": \"ask\",\n  \"b\": \"deny\"\n},\n\"edit\": \"ask\"}")
	rules, err := ParseConfig(in, ConfigOptions{At: func(offset int) Source {
		return Source{File: "f", Line: 1 + strings.Count(string(in[:offset]), "\n")}
	}})
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, r := range rules {
		got = append(got, r.From.Line)
	}
	if want := []int{3, 4, 6}; !slices.Equal(got, want) {
		t.Errorf("lines %v, want %v", got, want)
	}
}

func TestConfigVectors(t *testing.T) {
	f, err := os.Open("testdata/config.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := 0
	for sc := bufio.NewScanner(f); sc.Scan(); {
		lines++
		var v struct {
			ID, Home, Permission, Pattern, Expect, Reason string
			Config                                        json.RawMessage
			ConfigText                                    string `json:"config_text"`
			Accept                                        []string
		}
		if err := json.Unmarshal(sc.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		if v.ConfigText != "" {
			var whole struct{ Permission json.RawMessage }
			if err := json.Unmarshal([]byte(v.ConfigText), &whole); err != nil {
				t.Fatal(err)
			}
			v.Config = whole.Permission
		}
		got := "error"
		if rules, err := ParseConfig(v.Config, ConfigOptions{Home: v.Home}); err == nil {
			got = string(Evaluate(v.Permission, v.Pattern, rules).Action)
		}
		if got != v.Expect {
			t.Errorf("%s: got %s, want %s: %s", v.ID, got, v.Expect, v.Reason)
		}
	}
	if lines < 13 {
		t.Errorf("only %d vectors", lines)
	}
}

func FuzzParseConfig(f *testing.F) {
	for _, s := range []string{`"ask"`, `{"bash":{"~/x":"deny"}}`, `{"a":"ask","a":"deny"}`, `{"a":[[{}]]}`, `[`, `{"a"`, "{\"\xff\":\"ask\"}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		inside := func(offset int) {
			if offset < 0 || offset > len(data) {
				t.Fatalf("offset %d of %d", offset, len(data))
			}
		}
		rules, err := ParseConfig(data, ConfigOptions{Home: "/h", At: func(o int) Source { inside(o); return Source{Line: o + 1} }})
		if err != nil {
			var ce *ConfigError
			if !errors.As(err, &ce) || rules != nil {
				t.Fatalf("rules %v, error %v", rules, err)
			}
			inside(ce.Offset)
			return
		}
		if !json.Valid(data) {
			t.Fatalf("accepted text that is not JSON: %q", data)
		}
		last := 0
		for _, r := range rules {
			if !r.Action.Valid() || r.From.Line < last {
				t.Fatalf("rule %+v after line %d", r, last)
			}
			last = r.From.Line
		}
	})
}

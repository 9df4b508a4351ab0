package permission

import (
	"strings"
	"testing"
)

func TestShadows(t *testing.T) {
	for _, c := range []struct{ config, want string }{
		{`{"bash": {"rm *": "deny", "*": "allow"}}`, "bash rm * by bash *"},
		{`{"bash": {"*": "allow", "rm *": "deny"}}`, ""},
		{`{"bash": {"git push *": "ask", "git *": "allow"}}`, "bash git push * by bash git *"},
		{`{"bash": {"git push *": "deny", "git *": "ask"}}`, "bash git push * by bash git *"},
		{`{"bash": {"git *": "deny", "git push *": "allow"}}`, ""}, // an exception
		{`{"bash": {"git *": "ask", "*": "deny"}}`, ""},            // stricter
		{`{"bash": {"rm *": "deny", "* x": "allow"}}`, ""},
		{`{"bash": {"rm*": "deny", "rm *": "allow"}}`, ""}, // rmdir is left
		{`{"bash": {"rm *": "deny"}, "edit": "allow"}`, ""},
		{`{"edit": "deny", "*": "allow"}`, "edit * by * *"},
		{`{"github_push": "deny", "github_*": "ask"}`, "github_push * by github_* *"},
		{`{"read": {"?.env": "ask", "*.env": "allow"}}`, "read ?.env by read *.env"},
		{`{"bash": {"rm *": "deny", "*": "allow", "rm -rf *": "deny"}}`, "bash rm * by bash *"},
	} {
		rules, err := ParseConfig([]byte(c.config), ConfigOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range rules.Shadows() {
			got = append(got, s.Rule.Permission+" "+s.Rule.Pattern+" by "+s.By.Permission+" "+s.By.Pattern)
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s: got %q", c.config, got)
		}
	}
}

func TestBare(t *testing.T) {
	for _, c := range []struct{ config, want string }{
		{`{"bash": {"rm": "deny"}}`, "rm"},
		{`{"bash": {"rm": "ask", "ls": "allow", "git push": "deny", "cat?": "deny"}}`, "rm"},
		{`{"bash": {"rm": "deny", "rm *": "deny"}}`, ""},
		{`{"bash": {"*": "ask", "rm": "deny", "dd": "ask"}}`, "rm"},
		{`{"*": "deny", "bash": {"rm": "deny"}}`, ""},
		{`{"edit": {"Makefile": "deny"}}`, ""},
	} {
		rules, err := ParseConfig([]byte(c.config), ConfigOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range rules.Bare() {
			got = append(got, r.Pattern)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q", c.config, got)
		}
	}
}

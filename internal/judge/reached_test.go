package judge_test

import (
	"testing"

	"helve/permission"
)

// reached is a line and what has to come of it where one kind of file is
// denied.
type reached struct{ line, want string }

func (s stage) holds(t *testing.T, denied [3]string, lines []reached) {
	t.Helper()
	rules := rulesOf([][3]string{{"*", "*", "allow"}, denied})
	for _, c := range lines {
		if got := s.decide(t, rules, c.line); got.action != permission.Action(c.want) {
			t.Errorf("%s: got %s, want %s\n%s", c.line, got.action, c.want, shown(got))
		}
	}
}

// Links that a line makes are followed from where they lie.
func TestLinksOfTheLine(t *testing.T) {
	s := newStage(t, "a.txt", "secret/key", "sub/c.txt")
	s.holds(t, [3]string{"edit", "secret/**", "deny"}, []reached{
		{"ln -s ../secret sub; echo z > sub/secret/key", "deny"},
		{"ln -s ../secret/key sub/; echo z > sub/key", "deny"},
		{"ln -st sub ../secret; echo z > sub/secret/key", "deny"},
		{"ln -rs secret sub/q; echo z > sub/q/key", "deny"},
		{"ln -s ../secret sub/q; echo z > sub/q/key", "deny"},
		{"mkdir d; ln -s ../secret d; echo z > d/secret/key", "deny"},
		{"rm -r sub; ln -s secret sub; echo z > sub/key", "deny"},
		{"cp -s $PWD/secret/key q; echo z > q", "deny"},
		{"ln -s secret q; cp -a q t; echo z > t/key", "deny"},
		{"ln -s secret q; cp -P q t; echo z > t/key", "deny"},
		{"ln -s secret q; mv q t; echo z > t/key", "deny"},
		{"ln -s secret sub/q; mv sub/q .; echo z > q/key", "deny"},
		{"ln -s ../secret sub/q; mv sub t; echo z > t/q/key", "deny"},
		{"trap 'cd secret' DEBUG; true; > key", "ask"},
		{"ln -s ../secret sub; echo z > sub/c.txt", "allow"},
		{"ln -s ../a.txt sub; cat sub/a.txt", "allow"},
		{"ln -s a.txt q; echo z > q", "allow"},
		{"ln -sfn sub q; cp -a q t; echo z > t/key", "allow"},
		{"ln -s sub q; mv q sub/; cat a.txt > t", "allow"},
		{"trap 'cd sub' EXIT; echo z > a.txt", "allow"},
		{"trap 'rm -f q' EXIT INT; echo z > a.txt", "allow"},
	})
	s.holds(t, [3]string{"external_directory", "*", "deny"}, []reached{
		{"ln -s ../a.txt sub", "allow"},
		{"ln -s ../a.txt sub/b", "allow"},
		{"ln -s ../a.txt b", "deny"},
		{"ln -s ../../a.txt sub/b", "deny"},
		{"ln -rs a.txt sub/b", "allow"},
	})
}

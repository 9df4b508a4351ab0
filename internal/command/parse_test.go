package command

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// texts gives the units of a command line as kind and text.
func texts(line Line) []string {
	var all []string
	for _, u := range line.Units {
		s := u.Text
		switch u.Kind {
		case Declaration:
			s = "decl: " + s
		case Assignment:
			s = "set: " + s
		case Redirection:
			s = "redir: " + s
		case Test:
			s = "test: " + s
		case Piece:
			s = "piece: " + s
		}
		all = append(all, s)
	}
	return all
}

func TestParseUnits(t *testing.T) {
	tests := []struct {
		command string
		want    []string
	}{
		{"", nil},
		{"  # only a comment", nil},
		{"ls -la", []string{"ls -la"}},
		{"echo a && echo b; echo c | grep d || true", []string{"echo a", "echo b", "echo c", "grep d", "true"}},
		{"FOO=1 git status", []string{"FOO=1 git status"}},
		{"ls -la 2>&1 | tee out.txt", []string{"ls -la 2>&1", "tee out.txt"}},
		{"(cd sub && ls)", []string{"cd sub", "ls"}},
		{"{ ls; } > f", []string{"ls", "redir: > f"}},
		{"echo $(cat f)", []string{"echo $(cat f)", "cat f"}},
		{"echo \"$(rm `id`)\" | wc", []string{"echo \"$(rm `id`)\"", "rm `id`", "id", "wc"}},
		{"for i in $(ls); do echo $i; done", []string{"ls", "echo $i"}},
		{"if true; then rm x; elif a; then b; else c; fi", []string{"true", "rm x", "a", "b", "c"}},
		{"while read x; do y; done < f", []string{"read x", "y", "redir: < f"}},
		{"until a; do b; done", []string{"a", "b"}},
		{"case $(a) in b|$(c)) d;; esac", []string{"a", "c", "d"}},
		{"function f() { ls; }; f", []string{"ls", "f"}},
		{"coproc rm x", []string{"rm x"}},
		{"sleep 1 & wait", []string{"sleep 1", "wait"}},
		{"! ls", []string{"ls"}},
		{"time ls -l", []string{"time ls -l", "ls -l"}},
		{"time -p a | b", []string{"time -p a", "a", "b"}},
		{"time { a; }", []string{"a"}},
		{"cat <(rm x) > >(tee y)", []string{"cat <(rm x) > >(tee y)", "rm x", "tee y"}},
		{"export A=$(b) C", []string{"decl: export A=$(b) C", "b"}},
		{"A=$(b) C=1", []string{"set: A=$(b) C=1", "b"}},
		{"A=(x $(y))", []string{"set: A=(x $(y))", "y"}},
		{"a[$(b)]=1", []string{"set: a[$(b)]=1", "b"}},
		{"> f", []string{"redir: > f"}},
		{"echo x > $(y)", []string{"echo x > $(y)", "y"}},
		{"[ -f x ] && [[ -n $(y) ]]", []string{"test: [ -f x ]", "y"}},
		{"(( a = $(b) )); echo $(( $(c) )) ${d:-$(e)} ${f/$(g)/$(h)} ${i:$(j)}", []string{"b", "echo $(( $(c) )) ${d:-$(e)} ${f/$(g)/$(h)} ${i:$(j)}", "c", "e", "g", "h", "j", "test: (( a = $(b) ))"}},
		{"let x=1+$(y)", []string{"let x=1+$(y)", "y"}},
		{"cat <<EOF\nhi $(rm x)\nEOF\nls", []string{"cat <<EOF\nhi $(rm x)\nEOF", "rm x", "ls"}},
		{"cat <<'EOF'\nhi $(rm x)\nEOF\nls", []string{"cat <<'EOF'\nhi $(rm x)\nEOF", "ls"}},
		{"sh <<EOF | wc\nrm x\nEOF", []string{"sh <<EOF | wc\nrm x\nEOF", "rm x", "wc"}},
		{"cat <<EOF\nEOF", []string{"cat <<EOF"}},
		{"cat <<A <<B\nrm x\nA\nrm z\nB\nrm y", []string{"cat <<A <<B\nrm x\nA\nrm z\nB", "rm y"}},
		{"cat <<< \"$(x)\"", []string{"cat <<< \"$(x)\"", "x"}},
		{"echo a #'\nrm y #'", []string{"echo a", "rm y"}},
		{"echo ok&rm y", []string{"echo ok", "rm y"}},
		{"ls \\\n -l", []string{"ls \\\n -l"}},
		{"< f cat", []string{"< f cat"}},
		{"bash -c 'rm -rf /'", []string{"bash -c 'rm -rf /'", "rm -rf /"}},
	}
	for _, tt := range tests {
		line := Parse(tt.command)
		if line.Opaque != "" {
			t.Errorf("%q is opaque: %s", tt.command, line.Opaque)
		}
		if diff := cmp.Diff(tt.want, texts(line)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.command, diff)
		}
	}
}

func TestParseOpaque(t *testing.T) {
	tests := []struct {
		command string
		want    []string
		why     string
	}{
		{"ls &&& rm y", []string{"piece: ls", "piece: rm y"}, "syntax error"},
		{"echo 'unterminated", []string{"piece: echo 'unterminated"}, "syntax error"},
		{"echo $(ls", []string{"piece: echo $", "piece: ls"}, "syntax error"},
		{"if then rm y", []string{"piece: if then rm y"}, "syntax error"},
		{"rm y\n)", []string{"rm y", "piece: rm y"}, "syntax error"},
		{"cat <<EOF > f\nx\nEOF ", []string{"piece: cat <<EOF > f", "piece: x", "piece: EOF"}, "syntax error"},
		{"ls \x00; rm y", []string{"ls", "rm y", "piece: ls", "piece: rm y"}, "NUL"},
		{"echo a \\\r\nrm y", []string{"echo a \\\r\nrm y", "piece: echo a \\", "piece: rm y"}, "carriage return"},
		{strings.Repeat("(", 100_000), nil, "nested too deeply"},
		{strings.Repeat("(", 200_000), nil, "longer than"},
		{strings.Repeat("$(", 600) + "rm y" + strings.Repeat(")", 600), []string{"piece: rm y"}, "nested too deeply"},
	}
	for _, tt := range tests {
		line := Parse(tt.command)
		if !strings.Contains(line.Opaque, tt.why) {
			t.Errorf("%.40q: opaque is %q", tt.command, line.Opaque)
		}
		if diff := cmp.Diff(tt.want, texts(line)); diff != "" {
			t.Errorf("%.40q (-want +got):\n%s", tt.command, diff)
		}
	}
	words := Parse("if then 'r'm y").Units[0].Words
	if diff := cmp.Diff([]Word{{Raw: "'r'm", Value: "rm", Shape: "rm"}, {Raw: "y", Value: "y", Shape: "y"}}, words); diff != "" {
		t.Errorf("words of a piece (-want +got):\n%s", diff)
	}
}

// TestParseNesting goes deep in every way the grammar allows.
func TestParseNesting(t *testing.T) {
	for _, open := range []string{
		"(", "$(", "{ ", "if ", "while ", "time ", "coproc ", "$((", "$[", "((", "( (", "${a:-", "\"$(", "${a[", "a[", "a[$(",
		"<(", "f() ", "f() { ", "case a in a) ", "for i in a; do ", "cat <<E\n$(", "((a=", "((a?", "[[ ! ", "[[ ( ",
	} {
		if line := Parse(strings.Repeat(open, 20_000/len(open))); line.Opaque == "" {
			t.Errorf("%q many times is not opaque", open)
		}
	}
	for head, more := range map[string]string{"((": "a=", "(( ": "a?", "((2": "**2", "[[ ": "! ", "[[  ": "( ", "[[ a": " && a", "$((": "(", "let ": "a="} {
		if line := Parse(head + strings.Repeat(more, 8000)); line.Opaque == "" {
			t.Errorf("%q, then many times %q, is not opaque", head, more)
		}
	}
	for _, nest := range [][2]string{{"(", ")"}, {"$(", ")"}, {"{ ", "; }"}, {"\"$(", ")\""}} {
		if line := Parse(strings.Repeat(nest[0], 100) + "ls" + strings.Repeat(nest[1], 100)); line.Opaque != "" {
			t.Errorf("100 times %q: %s", nest[0], line.Opaque)
		}
	}
}

// TestParseMany has no bound but the size.
func TestParseMany(t *testing.T) {
	for _, sep := range []string{"; ", " && ", " | ", "\n", " || ", " & "} {
		line := Parse(strings.Repeat("true"+sep, 10_000) + "rm y")
		if n := len(line.Units); n != 10_001 || line.Units[n-1].Text != "rm y" || line.Opaque != "" {
			t.Errorf("%q: %d units, opaque %q", sep, n, line.Opaque)
		}
	}
}

// quoted is a word whose value is known and written in another way.
func quoted(raw, value string) Word { return Word{Raw: raw, Value: value, Literal: true, Shape: value} }

func TestParseParts(t *testing.T) {
	got := Parse(`A=1 B="$c" cmd 2>>log <in {fd}>&1 'x y'`).Units
	want := []Unit{{
		Text:    `A=1 B="$c" cmd 2>>log <in {fd}>&1 'x y'`,
		Assigns: []Assign{{"A", "A=1"}, {"B", `B="$c"`}},
		Words:   []Word{literalWord("cmd"), quoted("'x y'", "x y")},
		Redirects: []Redirect{
			{">>", "2", literalWord("log")}, {"<", "", literalWord("in")}, {">&", "{fd}", literalWord("1")},
		},
		Spellings: []string{"cmd x y"},
		Dir:       Dir{Known: true},
	}}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got = Parse(`export -n A='b c' D=$e F`).Units
	want = []Unit{{
		Kind: Declaration, Text: `export -n A='b c' D=$e F`,
		Words: []Word{
			literalWord("export"), literalWord("-n"), quoted("A='b c'", "A=b c"), {Raw: "D=$e", Value: "D=$e", Shape: "D=" + Unknown}, literalWord("F"),
		},
		Spellings: []string{"export -n A=b c D=" + Unknown + " F"},
		Dir:       Dir{Known: true},
	}}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWords(t *testing.T) {
	tests := []struct {
		raw, value string
		literal    bool
	}{
		{`rm`, "rm", true}, {`r\m`, "rm", true}, {`'r'm`, "rm", true}, {`"r"m`, "rm", true}, {`$'\x72m'`, "rm", true}, {`$"rm"`, "rm", true},
		{"r\\\nm", "rm", true}, {"\"r\\\nm\"", "rm", true}, {`$'\162\u006d'`, "rm", true}, {`$'a\tb\'c\\d\e\cA\q'`, "a\tb'c\\d\x1b\x01\\q", true},
		{`$'rm\0x'`, "rm", true}, {`$'rm\x00y'`, "rm", true}, {`$'\xzz'`, `\xzz`, true}, {`""`, "", true},
		{`"a\$b\n\"c"`, `a$b\n"c`, true}, {`a\*b`, "a*b", true}, {`'*'`, "*", true}, {`~/x`, "~/x", true},
		{`*`, "*", false}, {`a?`, "a?", false}, {`[ab]`, "[ab]", false}, {`["a"b]`, "[ab]", false}, {`[`, "[", true}, {`a]`, "a]", true},
		{`{a,b}`, "{a,b}", false}, {`{1..3}`, "{1..3}", false}, {`{a,"b"}`, "{a,b}", false}, {`{}`, "{}", true}, {`\{a,b}`, "{a,b}", true}, {`{a}`, "{a}", true},
		{`$x`, "$x", false}, {`a"$x"b`, "a$xb", false}, {`$(ls)`, "$(ls)", false}, {"`ls`", "`ls`", false}, {`${x:-y}`, "${x:-y}", false},
		{`$((1))`, "$((1))", false}, {`<(ls)`, "<(ls)", false}, {`@(a|b)`, "@(a|b)", false}, {`$`, "$", true}, {`é\é`, "éé", true},
	}
	for _, tt := range tests {
		units := Parse("c " + tt.raw).Units
		if len(units) == 0 || len(units[0].Words) != 2 {
			t.Errorf("%q: %+v", tt.raw, units)
			continue
		}
		got := units[0].Words[1]
		if diff := cmp.Diff(Word{Raw: tt.raw, Value: tt.value, Literal: tt.literal}, Word{Raw: got.Raw, Value: got.Value, Literal: got.Literal}); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.raw, diff)
		}
	}
}

func TestSpellings(t *testing.T) {
	tests := []struct {
		command string
		want    []string
	}{
		{"rm x", []string{"rm x"}},
		{"A=1 'r'm   x > f", []string{"A=1 'r'm   x > f", "rm x"}},
		{`\rm x`, []string{`\rm x`, "rm x"}},
		{"/bin/rm x", []string{"/bin/rm x", "rm x"}},
		{"git -C d push", []string{"git -C d push", "git push"}},
		{"/usr/bin/git --git-dir=x -c a=b push y", []string{"/usr/bin/git --git-dir=x -c a=b push y", "git --git-dir=x -c a=b push y", "git push y"}},
		{"git --no-pager push", []string{"git --no-pager push", "git push"}},
		{"git --new-option push x", []string{"git --new-option push x", "git push x", "git x"}},
		{"git --new-option v push", []string{"git --new-option v push", "git v push", "git push"}},
		{"docker --context c compose up", []string{"docker --context c compose up", "docker compose up"}},
		{"cargo +nightly publish", []string{"cargo +nightly publish", "cargo publish"}},
		{"git -C", []string{"git -C", "git"}},
		{"ls -l x", []string{"ls -l x"}},
		{"git push -f", []string{"git push -f"}},
		{"rm $x", []string{"rm $x", "rm " + Unknown, "rm"}},
		{"> f", []string{"> f"}},
		{"/", []string{"/"}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, spellings(Parse(tt.command).Units[0])); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.command, diff)
		}
	}
}

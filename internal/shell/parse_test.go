package shell

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		{"(( a = $(b) )); echo $(( $(c) )) ${d:-$(e)} ${f/$(g)/$(h)} ${i:$(j)}", []string{"b", "echo $(( $(c) )) ${d:-$(e)} ${f/$(g)/$(h)} ${i:$(j)}", "c", "e", "g", "h", "j"}},
		{"let x=1+$(y)", []string{"let x=1+$(y)", "y"}},
		{"cat <<EOF\nhi $(rm x)\nEOF\nls", []string{"cat <<EOF\nhi $(rm x)\nEOF", "rm x", "ls"}},
		{"cat <<'EOF'\nhi $(rm x)\nEOF\nls", []string{"cat <<'EOF'\nhi $(rm x)\nEOF", "ls"}},
		{"sh <<EOF | wc\nrm x\nEOF", []string{"sh <<EOF | wc\nrm x\nEOF", "wc"}},
		{"cat <<EOF\nEOF", []string{"cat <<EOF"}},
		{"cat <<A <<B\nrm x\nA\nrm z\nB\nrm y", []string{"cat <<A <<B\nrm x\nA\nrm z\nB", "rm y"}},
		{"cat <<< \"$(x)\"", []string{"cat <<< \"$(x)\"", "x"}},
		{"echo a #'\nrm y #'", []string{"echo a", "rm y"}},
		{"echo ok&rm y", []string{"echo ok", "rm y"}},
		{"ls \\\n -l", []string{"ls \\\n -l"}},
		{"< f cat", []string{"< f cat"}},
		{"bash -c 'rm -rf /'", []string{"bash -c 'rm -rf /'"}},
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
	if diff := cmp.Diff([]Word{{Raw: "'r'm", Value: "rm"}, {Raw: "y", Value: "y"}}, words); diff != "" {
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

func TestParseParts(t *testing.T) {
	got := Parse(`A=1 B="$c" cmd 2>>log <in {fd}>&1 'x y'`).Units
	want := []Unit{{
		Text:    `A=1 B="$c" cmd 2>>log <in {fd}>&1 'x y'`,
		Assigns: []Assign{{"A", "A=1"}, {"B", `B="$c"`}},
		Words:   []Word{{"cmd", "cmd", true}, {"'x y'", "x y", true}},
		Redirects: []Redirect{
			{">>", "2", Word{"log", "log", true}}, {"<", "", Word{"in", "in", true}}, {">&", "{fd}", Word{"1", "1", true}},
		},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got = Parse(`export -n A='b c' D=$e F`).Units
	want = []Unit{{Kind: Declaration, Text: `export -n A='b c' D=$e F`, Words: []Word{
		{"export", "export", true}, {"-n", "-n", true}, {"A='b c'", "A=b c", true}, {"D=$e", "D=$e", false}, {"F", "F", true},
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
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
		if diff := cmp.Diff(Word{tt.raw, tt.value, tt.literal}, units[0].Words[1]); diff != "" {
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
		{"rm $x", []string{"rm $x"}},
		{"> f", []string{"> f"}},
		{"/", []string{"/"}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, Spellings(Parse(tt.command).Units[0])); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.command, diff)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"echo $(cat f) && FOO=1 git -C x push > y 2>&1 | tee z", "cat <<EOF\n$(rm x)\nEOF\n", "for i in {1..3}; do a[$i]=$(b); done", "echo $'a\\x1b' \"`c`\" ${d:-$(e)}",
		"ls &&& id", "((((((", "f() { x; }; time f | g &", "case a in b) ;; esac", "export A=(1 2) B", "let a=1", "cat <<A <<-B\nx\nA\n\ty\n\tB", "[[ a =~ (b|c) ]]", "$(())", "\\\r\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, command string) {
		line := parse(command)
		for _, u := range line.Units {
			if !strings.Contains(command, u.Text) || u.Text == "" {
				t.Fatalf("%q: unit %q is not a part of it", command, u.Text)
			}
			for _, w := range u.Words {
				if !strings.Contains(command, w.Raw) {
					t.Fatalf("%q: word %q is not a part of it", command, w.Raw)
				}
			}
			if s := Spellings(u); s[0] != u.Text || len(s) > 5 {
				t.Fatalf("%q: spellings of %q are %q", command, u.Text, s)
			}
		}
		for _, s := range Suggest(command) {
			if s.Exact && !strings.Contains(command, s.Pattern) || !s.Exact && !strings.HasSuffix(s.Pattern, " *") {
				t.Fatalf("%q: suggestion %+v", command, s)
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	const size = 64 << 10
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	for name, s := range map[string]string{
		"usual":         `cd sub && FOO=1 git -C x log --oneline "$(git rev-parse HEAD)" | head -5 > out.txt`,
		"list":          fill("a;"),
		"pipe":          fill("a|"),
		"parens":        fill("("),
		"substitutions": fill("$("),
		"arithmetic":    "((" + fill("1+") + "1))",
		"deep arithm":   fill("$(( $("),
		"quotes":        fill(`"a"'b'`),
		"heredocs":      fill("cat <<E\nx\nE\n"),
		"at the edge":   fill(strings.Repeat("$(", 400) + "a" + strings.Repeat(")", 400) + "\n"),
		"edge, wide":    strings.Repeat("$(", 450) + fill("a ") + strings.Repeat(")", 450),
		"syntax error":  fill("a 'b' ") + ")",
		"redirects":     "a " + fill(">b "),
		"backticks":     fill("`a` "),
		"doc on a line": fill("a <<E;") + "\n" + strings.Repeat("E\n", 100),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Parse(s)
			}
		})
		b.Run(fmt.Sprintf("suggest %s", name), func(b *testing.B) {
			for b.Loop() {
				Suggest(s)
			}
		})
	}
}

package command

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// disguise writes a word in another way that means the same.
func disguise(t *rapid.T, word string) string {
	if strings.ContainsAny(word, " '\"\\$`*?[]{}~#!&;|<>()\n") || word == "" {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	var out strings.Builder
	for i := 0; i < len(word); i++ {
		c := word[i : i+1]
		switch rapid.IntRange(0, 7).Draw(t, "as") {
		case 0:
			out.WriteString("'" + c + "'")
		case 1:
			out.WriteString(`"` + c + `"`)
		case 2:
			out.WriteString(`\` + c)
		case 3:
			out.WriteString("$'" + c + "'")
		case 4:
			out.WriteString("\\\n" + c)
		case 5:
			out.WriteString(`""` + c)
		case 6:
			out.WriteString(`$"` + c + `"`)
		default:
			out.WriteString(c)
		}
	}
	return out.String()
}

// TestSpellingClosure: in whatever way a command is written, its plain way is
// among its spellings.
func TestSpellingClosure(t *testing.T) {
	commands := [][]string{
		{"rm", "-rf", "y"}, {"git", "push", "origin", "main"}, {"npm", "publish"}, {"sh", "-c", "rm y"}, {"env", "A=1", "rm", "y"}, {"find", ".", "-delete"}, {"a", "", "b c"},
	}
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SampledFrom(commands).Draw(t, "command")
		written := make([]string, len(words))
		for i, w := range words {
			written[i] = disguise(t, w)
		}
		gap := rapid.SampledFrom([]string{" ", "  ", "\t", " \\\n "})
		text := written[0]
		for _, w := range written[1:] {
			text += gap.Draw(t, "gap") + w
		}
		head := rapid.SampledFrom([]string{"", "FOO=1 ", "A=1 B=$x ", "> out ", "! ", "time ", "{ ", "( ", "true && ", "echo | ", "if ", "$(", "<("}).Draw(t, "head")
		tail := map[string]string{"{ ": "; }", "( ": ")", "if ": "; then :; fi", "$(": ")", "<(": ")"}[head]
		text = head + text + tail
		want := strings.Join(words, " ")
		line := Parse(text)
		if line.Opaque != "" {
			t.Fatalf("%q is opaque: %s", text, line.Opaque)
		}
		if !slices.ContainsFunc(line.Units, func(u Unit) bool { return slices.Contains(spellings(u), want) }) {
			t.Fatalf("%q: no unit is %q", text, want)
		}
	})
}

// rewritings are ways to write a command line that never run less.
func rewritings(command string) map[string]string {
	quote := "'" + strings.ReplaceAll(command, "'", `'\''`) + "'"
	return map[string]string{
		"sh -c":        "sh -c -- " + quote,
		"eval":         "eval -- " + quote,
		"bash <<<":     "bash <<< " + quote,
		"trap":         "trap -- ' '" + quote + " EXIT",
		"env sh -c":    "env A=1 sh -c -- " + quote,
		"group":        "{ " + command + "\n}",
		"subshell":     "( " + command + "\n)",
		"substitution": "echo \"$( " + command + "\n)\"",
		"function":     "f() {\n" + command + "\n}; f",
		"list":         "true && {\n" + command + "\n}",
		"loop":         "while\n" + command + "\ndo :; done",
		"process":      "cat <( " + command + "\n)",
	}
}

// marks gives what restrictions can hit in a command line.
func marks(line Line) map[string]bool {
	all := map[string]bool{}
	for _, u := range line.Units {
		if u.Kind == Piece {
			continue
		}
		for _, s := range spellings(u) {
			all[s] = true
		}
		for _, d := range u.Uncertainties {
			all["uncertainty: "+d.Why] = true
		}
	}
	return all
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"echo $(cat f) && FOO=1 git -C x push > y 2>&1 | tee z", "cat <<EOF\n$(rm x)\nEOF\n", "for i in {1..3}; do a[$i]=$(b); done", "echo $'a\\x1b' \"`c`\" ${d:-$(e)}",
		"ls &&& id", "((((((", "f() { x; }; time f | g &", "case a in b) ;; esac", "export A=(1 2) B", "let a=1", "cat <<A <<-B\nx\nA\n\ty\n\tB", "[[ a =~ (b|c) ]]", "$(())", "\\\r\n",
		"sudo -u x env -S 'a b' c | xargs -I{} sh -c 'd {}'", "eval \"$x\" 'y'; trap 'z' EXIT", "find . -exec a {} + -delete", "sed 's/a/b/e;w x' f; awk '{print > \"x\"}'", "cd a; cd b || exit; cd -",
		"parallel -j4 'a {}' ::: b; watch -n1 c; flock d -c e", "coproc a=1 b <<< c", "echo \"${x:-'$(y)'}\" $(( 'z[$(q)]' ))", "git -C $x -c a=b push; git config a b", "bash <<E\n$x `y`\nE",
		"find . {-exec,a} {b,{c,d}} ;", "x=-exec; find . $x a ;", "[[ a == @(a|$(b)) ]]", "read x <<< 'b[$(a)]'; ((x))", "npx -c 'a; b'; uv run --with x y", "cat <<E\n$(a '\nE\n')\nE", "pushd a; popd; jobs -x b", "a # b \\\nc",
		"echo ${x:-<(a $(b) <(c))} \"${y#>(d)}\"", "let x&&let y|a <<E\nlet\nE", "[[ a =~ (b|<(c)) ]]", "for ((;$'\\x24(a)';)); do b; done", "set -H -o history; bash -i", "sed ':a;b c e d\n:c' f", "a {b['$(c)']}> d",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, command string) {
		line := parse(command) // no recover: a panic is a fault
		for _, u := range line.Units {
			// A piece may be of what quotes stand for. It only restricts.
			if u.Text == "" || u.Inside == "" && u.Kind != Piece && !strings.Contains(command, u.Text) {
				t.Fatalf("%q: unit %q is not a part of it", command, u.Text)
			}
			if len(u.Spellings) > 20 || slices.Contains(u.Spellings, u.Text) {
				t.Fatalf("%q: spellings of %q are %q", command, u.Text, u.Spellings)
			}
			for _, w := range u.Words {
				if w.Literal && (w.Shape != w.Value || w.Glob || w.Split) {
					t.Fatalf("%q: word %+v", command, w)
				}
			}
		}
		for _, s := range Parse(command).Suggest() {
			if s.Exact && !strings.Contains(command, s.Pattern) || !s.Exact && !strings.HasSuffix(s.Pattern, " *") {
				t.Fatalf("%q: suggestion %+v", command, s)
			}
		}
		if line.Opaque != "" || len(command) > 4096 || strings.HasSuffix(command, "\\") { // a line that goes on
			return
		}
		want := marks(line)
		for name, text := range rewritings(command) {
			again := Parse(text)
			if again.Opaque != "" {
				continue // it asks
			}
			got := marks(again)
			for m := range want {
				if !got[m] && !doubted(again) {
					t.Fatalf("%s: %q has %q, and %q has not", name, command, m, text)
				}
			}
		}
	})
}

// doubted reports whether a command line holds code that could not be read.
func doubted(line Line) bool {
	for _, u := range line.Units {
		for _, d := range u.Uncertainties {
			if strings.HasPrefix(d.Why, "code ") {
				return true
			}
		}
	}
	return false
}

// spellings are the texts a restriction on a command is tried on: as it is
// written, and then the unit's Spellings.
func spellings(u Unit) []string {
	return append([]string{u.Text}, u.Spellings...)
}

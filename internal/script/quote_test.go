//go:build unix

package script_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helve-dev/helve/internal/script"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
	"pgregory.net/rapid"
)

// A slot is a place in a template for a value, and the word that comes of it.
type slot struct{ before, after, value, word string }

// slots draws a place of some kind and a value for it.
func slots(t *rapid.T) slot {
	value := rapid.OneOf(
		rapid.StringMatching(`[ a-z'"$\\(){}#&|;<>*?~\n!=-]{0,12}`),
		rapid.SampledFrom([]string{"", "if", "~", "$HOME", "`id`", "a=b", "{a,b}", "*", "2", "-n", "#x", "'", `"`, "\\", "\\\n", "$(id)", "done", "!", "\r\n", "\t"}),
		rapid.StringN(0, 10, -1),
	).Draw(t, "value")
	value = strings.ReplaceAll(value, "\x00", "")
	switch rapid.IntRange(0, 6).Draw(t, "kind") {
	case 0:
		return slot{" ", "", value, value}
	case 1:
		return slot{" pre", "post", value, "pre" + value + "post"}
	case 2:
		return slot{` "x `, ` y"`, value, "x " + value + " y"}
	case 3:
		return slot{` 'x `, ` y'`, value, "x " + value + " y"}
	case 4:
		return slot{` "$(show `, `)"`, value, strings.TrimRight(value, "\n")}
	case 5:
		return slot{` "a $(show "<`, `>") b"`, value, "a <" + value + "> b"}
	}
	return slot{` \"$`, `\'`, value, `"$` + value + `'`}
}

// Whatever is put into a template, wherever it stands, comes out as it is and makes nothing else of
// the script.
func TestQuotedAsItIs(t *testing.T) {
	if raceDetector {
		t.Skip("a hundred times slower under the race detector")
	}
	v := newEngine(t, withPrograms(t, newWorld(t)))
	source := `globalThis.compose = ({ strings, values }) => __helve.require("shell").compose(strings, values).script;`
	if err := v.Load(t.Context(), "compose.js", script.Code{Source: source}); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		list := rapid.SliceOfN(rapid.Custom(slots), 1, 4).Draw(rt, "slots")
		texts, values, want := []string{"show"}, []string{}, []string{"show"}
		for _, s := range list {
			texts[len(texts)-1] += s.before
			texts = append(texts, s.after)
			values = append(values, s.value)
			want = append(want, s.word)
		}
		texts[len(texts)-1] += "; end"
		arg, err := json.Marshal(map[string]any{"strings": texts, "values": values})
		if err != nil {
			rt.Fatal(err)
		}
		told, err := v.Call(t.Context(), "compose", script.Data{JSON: arg})
		if err != nil {
			rt.Fatal(err)
		}
		var script string
		if err := json.Unmarshal(told.JSON, &script); err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff([][]string{want, {"end"}}, outerCommands(rt, script)); diff != "" {
			rt.Fatalf("%s\n%s", script, diff)
		}
	})
}

// outerCommands runs a script in which "show" writes its argument, and gives the commands that were
// run, without those whose output became a part of others.
func outerCommands(t *rapid.T, script string) [][]string {
	file, err := syntax.NewParser().Parse(strings.NewReader(script), "")
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	var out bytes.Buffer
	var seen [][]string
	handler := func(ctx context.Context, args []string) error {
		hc := interp.HandlerCtx(ctx)
		if hc.Stdout != &out {
			if len(args) != 2 || args[0] != "show" {
				t.Fatalf("%s runs %q", script, args)
			}
			_, err := hc.Stdout.Write([]byte(args[1]))
			return err
		}
		seen = append(seen, args)
		return nil
	}
	runner, err := interp.New(interp.StdIO(nil, &out, &out), interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return handler }))
	if err != nil {
		t.Fatal(err)
	}
	if err := runner.Run(context.Background(), file); err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return seen
}

// Where it is not sure how a shell reads a place, nothing is put in.
func TestNotQuoted(t *testing.T) {
	v := newEngine(t, withPrograms(t, newWorld(t)))
	source := `globalThis.refuses = (strings) => {
		try { return __helve.require("shell").compose(strings, strings.slice(1).map(() => "x")).script; } catch (e) { return e.message; }
	};`
	if err := v.Load(t.Context(), "refuses.js", script.Code{Source: source}); err != nil {
		t.Fatal(err)
	}
	for _, texts := range [][]string{
		{"echo `", "`"}, {"echo \"`", "`\""}, {`echo $'it\'s' `, ""}, {`echo ${X:-"`, `"}`}, {`echo "${X:-"`, `"}"`}, {"cat <<EOF\n", "\nEOF"},
		{"cat <<<", ""}, {`echo \`, ""}, {"echo !(", ")"}, {"echo $(true)#", ""}, {"cat <#", ""}, {`echo "$(case a in a) echo "`, `" ;; esac)"`},
	} {
		arg, err := json.Marshal(texts)
		if err != nil {
			t.Fatal(err)
		}
		told, err := v.Call(t.Context(), "refuses", script.Data{JSON: arg})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(told.JSON, []byte("can not be quoted safely")) {
			t.Errorf("%q becomes %s", texts, told.JSON)
		}
	}
}

// shape counts what a script does, whatever its words are; false if it is none.
func shape(script string) (map[string]int, bool) {
	file, err := syntax.NewParser().Parse(strings.NewReader(script), "")
	if err != nil {
		return nil, false
	}
	counts := map[string]int{}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.CmdSubst, *syntax.ParamExp, *syntax.Redirect, *syntax.ArithmExp, *syntax.ProcSubst, *syntax.Subshell, *syntax.BinaryCmd:
			counts[strings.TrimPrefix(strings.TrimPrefix(typeName(n), "*"), "syntax.")]++
		case *syntax.CallExpr:
			counts["calls"]++
			counts["words"] += len(n.Args)
		}
		return true
	})
	return counts, true
}

func typeName(v any) string { return fmt.Sprintf("%T", v) }

// Whatever text a value is put into, it does not change what the script does: a harmless and a
// hostile one make the same of it.
func TestValuesChangeNothing(t *testing.T) {
	if raceDetector {
		t.Skip("a hundred times slower under the race detector")
	}
	v := newEngine(t, withPrograms(t, newWorld(t)))
	source := `globalThis.both = (strings) => ["a b", "$(id) ' \" ; | & > \x60x\x60 ) } \n # \\"].map((value) => {
		try { return __helve.require("shell").compose(strings, [value]).script; } catch (e) { return null; }
	});`
	if err := v.Load(t.Context(), "both.js", script.Code{Source: source}); err != nil {
		t.Fatal(err)
	}
	text := rapid.OneOf(rapid.StringMatching(`[ax '"$\\(){}#&|;<>*=\n!@-]{0,10}`), rapid.SampledFrom([]string{
		`"$(`, `)"`, `$(`, `)`, `"`, `'`, `\"`, `\'`, `$'`, ` #`, "\n", `"${x:-`, `}"`, `$((`, `))`, `[[ `, ` ]]`, `case a in a) `, `;; esac`, `<<E`, "\nE\n", "(", "{ ", "; }",
	}))
	rapid.Check(t, func(rt *rapid.T) {
		before := strings.Join(rapid.SliceOfN(text, 0, 4).Draw(rt, "before"), "")
		after := strings.Join(rapid.SliceOfN(text, 0, 3).Draw(rt, "after"), "")
		arg, err := json.Marshal([]string{before, after})
		if err != nil {
			rt.Fatal(err)
		}
		told, err := v.Call(t.Context(), "both", script.Data{JSON: arg})
		if err != nil {
			rt.Fatal(err)
		}
		var scripts []*string
		if err := json.Unmarshal(told.JSON, &scripts); err != nil {
			rt.Fatal(err)
		}
		if scripts[0] == nil && scripts[1] == nil {
			return // refused
		}
		harmless, ok := shape(*scripts[0])
		hostile, also := shape(*scripts[1])
		if !ok && !also {
			return // no script either way
		}
		if diff := cmp.Diff(harmless, hostile); diff != "" {
			rt.Fatalf("%s\nand\n%s\n%s", *scripts[0], *scripts[1], diff)
		}
	})
}

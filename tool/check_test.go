package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/helve-dev/helve/tool"
)

// checked returns the canonical input, or the error.
func checked(t tool.Tool, input string, repair bool) (string, []tool.Repair, *tool.Error) {
	c := tool.Call{Input: json.RawMessage(input)}
	repairs, err := t.Check(&c, repair)
	e, _ := errors.AsType[*tool.Error](err)
	return string(c.Input), repairs, e
}

func TestCheckAccepts(t *testing.T) {
	t.Parallel()
	read, odd := make1[readInput]("read"), make1[oddInput]("odd")
	open := dynamic(t, "open", `{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"integer"}}}`)
	tree := dynamic(t, "tree", `{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#"}},"n":{"type":"integer","default":0},"o":{"$ref":"#","default":{}}},"additionalProperties":false}`)
	union := dynamic(t, "union", `{"type":"object","properties":{"v":{"anyOf":[
		{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false},
		{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string","default":"x"}},"required":["a"],"additionalProperties":false}]}}}`)
	null := dynamic(t, "null", `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null},"b":{"type":"string","nullable":true,"enum":["x"]},"c":{"type":["string","null"]},"d":{"type":"string","default":null}}}`)
	for _, c := range []struct {
		tool     tool.Tool
		in, want string
	}{
		// Numbers keep their text; whole ones are written plainly.
		{read, `{"limit":"12","filePath":"a","offset":1e2}`, `{"filePath":"a","offset":100,"limit":12}`},
		{read, `{"filePath":"a","offset":null,"limit":" "}`, `{"filePath":"a"}`},
		{read, `{"filePath":"a","limit":-0}`, `{"filePath":"a","limit":0}`},
		{read, `{"filePath":"a","limit":9007199254740991}`, `{"filePath":"a","limit":9007199254740991}`},
		{read, `{"filePath":"\u0061\/\n\ud83d\ude00x\"\u0001\u2028<"}`, `{"filePath":"a/\n😀x\"\u0001` + "\u2028" + `<"}`},
		{read, "{\"filePath\":\"a\xff\xfeb\\n\xff\"}", `{"filePath":"a��b\n�"}`},
		{read, " \t\r\n{ \"filePath\" : \"a\" , \"x\":[{}] } ", `{"filePath":"a"}`},
		{read, `{"filePath":"a","FILEPATH":"b"}`, `{"filePath":"a"}`},
		// Defaults at every level; unknown keys go, loose objects keep theirs.
		{odd, `{"Untagged":true,"nested":{"y":1},"loose":{"b":1.50,"a":null},"raw":{"z":[1e5]},"zz":1}`,
			`{"count":5,"loose":{"b":1.50,"a":null},"raw":{"z":[1e5]},"nested":{"mode":"slow","list":["x"]},"Untagged":true}`},
		{odd, `{"count":"7","Untagged":false,"flags":["a"],"grid":[[1],[]],"level":2,"any":[1],"env":{"A":"b"}}`,
			`{"count":7,"level":2,"flags":["a"],"grid":[[1],[]],"env":{"A":"b"},"any":[1],"Untagged":false}`},
		{make1[webfetchInput]("webfetch"), `{"url":"u"}`, `{"url":"u","format":"markdown"}`},
		{make1[struct{}]("none"), "", `{}`},
		{make1[struct{}]("none"), " \n", `{}`},
		{open, `{"z":1,"a":5,"b":"x","y":{"d":2,"c":1}}`, `{"a":5,"b":"x","z":1,"y":{"d":2,"c":1}}`},
		{tree, `{"kids":[{"kids":[{"x":1}]}]}`, `{"kids":[{"kids":[{"n":0}],"n":0}],"n":0}`},
		// A union takes the branch that needs nothing dropped.
		{union, `{"v":{"b":"y","a":"x"}}`, `{"v":{"a":"x","b":"y"}}`},
		{union, `{"v":{"a":"x","c":1}}`, `{"v":{"a":"x"}}`},
		// A default that does not fit its own schema is not used.
		{null, `{"b":null,"c":null}`, `{"a":null,"b":null,"c":null}`},
	} {
		got, repairs, err := checked(c.tool, c.in, false)
		if err != nil || slices.ContainsFunc(repairs, func(r tool.Repair) bool { return !r.Dropped }) {
			t.Errorf("%s %s: %v %v", c.tool.Spec().Name, c.in, err, repairs)
			continue
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s %s (-want +got):\n%s", c.tool.Spec().Name, c.in, d)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	read, batch := make1[readInput]("read"), tools(t)["batch"]
	odd := make1[oddInput]("odd")
	all := dynamic(t, "all", `{"type":"object","properties":{
		"s":{"type":"string","minLength":2,"maxLength":3,"pattern":"^a"},
		"n":{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":10},
		"c":{"const":"k"},
		"l":{"type":"array","items":{"type":"boolean"},"maxItems":1},
		"m":{"type":["string","number"]},
		"u":{"anyOf":[{"type":"string"},{"type":"object","properties":{"k":{"type":"integer"}},"required":["k"]}]},
		"o":{"oneOf":[{"type":"number","minimum":1},{"type":"number","maximum":5}]},
		"x":{"not":{"type":"string"}},
		"p":{"type":"object","additionalProperties":{"type":"integer"}},
		"t":{"allOf":[{"$ref":"#/$defs/t"}]},
		"nil":{"anyOf":[{"type":"string"},{"type":"null"}]}},
		"$defs":{"t":{"type":"string","enum":["q"]}},"required":["s","zz"]}`)
	for _, c := range []struct {
		tool tool.Tool
		in   string
		code string
		want string // issues as code path message
	}{
		{read, `{"filePath":"a\\ud800","x":"\ud83d\ude00\ude00"}`, "encoding",
			"encoding null: half a surrogate pair at byte 41 is no character and can not be written as UTF-8"},
		{read, `[]`, "invalid-json", "invalid-json : Invalid input: expected object, received array"},
		{read, `null`, "invalid-json", "invalid-json : Invalid input: expected object, received null"},
		{read, "  ", "invalid-json", "missing filePath: Invalid input: expected string, received undefined"},
		{read, `{"filePath":"a","offset":"abc"}`, "type", "type offset: Invalid input: expected number, received NaN"},
		{read, `{"filePath":"a","offset":"1.5"}`, "type", "type offset: Invalid input: expected int, received number"},
		{read, `{"filePath":"a","offset":1.00000000000000000001}`, "type", "type offset: Invalid input: expected int, received number"},
		{read, `{"filePath":"a","limit":true,"offset":[]}`, "type",
			"type offset: Invalid input: expected number, received array\ntype limit: Invalid input: expected number, received boolean"},
		{read, `{"filePath":"a","limit":9007199254740992}`, "range", "range limit: Too big: expected number to be <=9007199254740991"},
		{read, `{"filePath":"a","limit":-9007199254740992}`, "range", "range limit: Too small: expected number to be >=-9007199254740991"},
		{read, `{"filePath":"a","limit":1e300}`, "range", "range limit: Too big: expected number to be <=9007199254740991"},
		{batch, `{"tool_calls":[]}`, "range", "range tool_calls: Provide at least one tool call"},
		{batch, `{"tool_calls":[{"tool":1},2]}`, "type", "type tool_calls.0.tool: Invalid input: expected string, received number\n" +
			"missing tool_calls.0.parameters: Invalid input: expected object, received undefined\n" +
			"type tool_calls.1: Invalid input: expected object, received number"},
		{odd, `{"Untagged":true,"small":128,"ratio":1.5,"level":4,"flags":["c"],"env":{"A":1},"raw":"x","nested":{"mode":null,"list":[]}}`, "range",
			"range small: Too big: expected number to be <=127\n" +
				"range ratio: Too big: expected number to be <=1\n" +
				"enum level: Invalid option: expected one of 1|2|3\n" +
				"enum flags.0: Invalid option: expected one of \"a\"|\"b\"\n" +
				"type raw: Invalid input: expected object, received string\n" +
				"type env.A: Invalid input: expected string, received number\n" +
				"type nested.mode: Invalid option: expected one of \"fast\"|\"slow\"\n" +
				"range nested.list: Too small: expected array to have >=1 items"},
		{all, `{"s":"b","n":0,"c":"j","l":[true,true],"m":null,"u":{"k":"x"},"o":3,"p":{"q":"r"},"t":"z","nil":5}`, "enum",
			"enum c: Invalid input: expected \"k\"\n" +
				"range l: Too big: expected array to have <=1 items\n" +
				"type m: Invalid input: expected number|string, received null\n" +
				"range n: Too small: expected number to be >0\n" +
				"type nil: Invalid input: expected string, received number\n" +
				"type o: Invalid input\n" +
				"type p.q: Invalid input: expected number, received string\n" +
				"range s: Too small: expected string to have >=2 characters\n" +
				"type s: Invalid string: must match pattern /^a/\n" +
				"enum t: Invalid input: expected \"q\"\n" +
				"type u: Invalid input\n" +
				"missing zz: Invalid input: expected value, received undefined"},
		{all, `{"s":"aaaa","n":10,"zz":1}`, "range",
			"range n: Too big: expected number to be <10\nrange s: Too big: expected string to have <=3 characters"},
	} {
		_, _, err := checked(c.tool, c.in, false)
		if err == nil {
			t.Errorf("%s was taken", c.in)
			continue
		}
		var got []string
		for _, i := range err.Issues {
			got = append(got, i.Code+" "+path(i)+": "+i.Message)
		}
		if d := cmp.Diff(c.want, strings.Join(got, "\n")); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.in, d)
		}
		if err.Code != c.code {
			t.Errorf("%s: code %s, want %s", c.in, err.Code, c.code)
		}
	}
	// What only the second validator knows is refused too.
	if _, _, err := checked(all, `{"s":"aa","x":"text","zz":1}`, false); err == nil || len(err.Issues) != 1 {
		t.Errorf("not: got %v", err)
	}
}

func path(i tool.Issue) string {
	b, _ := json.Marshal(i.Path)
	return strings.NewReplacer("[", "", "]", "", `"`, "", ",", ".").Replace(string(b))
}

func TestMalformed(t *testing.T) {
	t.Parallel()
	read := make1[readInput]("read")
	for _, c := range [][2]string{
		{`{`, "the text ends inside an object at byte 1"},
		{`{"filePath":`, "the text ends inside an object at byte 12"},
		{`{"filePath"`, "the text ends inside an object at byte 11"},
		{`{"filePath":"/a/b`, "the text ends inside a string at byte 17"},
		{`{"filePath":"\u00`, "the text ends inside a string at byte 17"},
		{`{"a":[1,`, "the text ends inside an array at byte 8"},
		{`{"a":tr`, "the text ends inside the word true at byte 7"},
		{`{"a":-`, "the text ends inside a number at byte 6"},
		{`{"a":1,}`, "unexpected '}': a comma must be followed by another key; leave the last comma out at byte 8"},
		{`{"a":[1,]}`, "unexpected ']': a comma must be followed by another item; leave the last comma out at byte 9"},
		{`{filePath:"a"}`, "unexpected 'f': a key in double quotes is wanted at byte 2"},
		{`{'a':1}`, `unexpected '\'': a key stands in double quotes at byte 2`},
		{`{"a":'x'}`, `unexpected '\'': a string stands in double quotes at byte 6`},
		{`{"a":}`, "unexpected '}': a value is missing before it at byte 6"},
		{`{"a" 1}`, `unexpected '1': a colon is wanted after the key "a" at byte 6`},
		{`{"a":1 "b":2}`, `unexpected '"': a comma or '}' is wanted at byte 8`},
		{`{"a":01}`, "unexpected '0': a number does not start with a zero that means nothing at byte 6"},
		{`{"a":1.}`, "unexpected '}': a digit is wanted at byte 8"},
		{`{"a":1e400}`, "the number 1e400 is too large at byte 6"},
		{`{"a":"\x"}`, `unexpected 'x': after a backslash comes one of " \ / b f n r t u; write \\ for a backslash at byte 8`},
		{`{"a":"\u00zz"}`, `unexpected 'z': \u is followed by four hexadecimal digits at byte 11`},
		{"{\"a\":\"x\ny\"}", `unexpected U+000A: inside a string it is written as an escape, such as \n at byte 8`},
		{"{\n \"a\":1\n \"b\":2}", `unexpected '"': a comma or '}' is wanted at byte 11 (line 3, column 2)`},
		{`{} {}`, "unexpected '{': the value is complete before it; send one object and nothing else at byte 4"},
		{`echo hi`, `unexpected 'e': a value starts with one of { [ " - 0-9 or is true, false or null at byte 1`},
		{`// x`, "unexpected '/': JSON has no comments at byte 1"},
		{"\xff", `unexpected byte 0xff: a value starts with one of { [ " - 0-9 or is true, false or null at byte 1`},
		{"\ufeff{}", "the text starts with a byte order mark at byte 1"},
		{strings.Repeat("[", 1001), "the text is nested more than 1000 deep at byte 1001"},
	} {
		_, _, err := checked(read, c[0], false)
		if err == nil || err.Code != "invalid-json" || len(err.Issues) != 1 || err.Hint == "" {
			t.Errorf("%q: got %#v", c[0], err)
			continue
		}
		shown := strings.ToValidUTF8(c[0], "�")
		want := "Invalid input for tool read: JSON parsing failed: Text: " + shown + ".\nError message: " + c[1]
		if d := cmp.Diff(want, err.Error()); d != "" {
			t.Errorf("%q (-want +got):\n%s", c[0], d)
		}
	}
}

func TestLongTextIsCut(t *testing.T) {
	t.Parallel()
	_, _, err := checked(make1[readInput]("read"), `{"filePath":"`+strings.Repeat("é", 100_000), false)
	if err == nil || len(err.Error()) > 2300 || !strings.Contains(err.Error(), "… (200013 bytes in all).\n") {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(err.Hint, "cut off") {
		t.Errorf("the hint is %q", err.Hint)
	}
}

func TestTooMany(t *testing.T) {
	t.Parallel()
	todos := make1[todowriteInput]("todowrite")
	_, _, err := checked(todos, `{"todos":[`+strings.Repeat("1,", 999)+`1]}`, false)
	if err == nil || len(err.Issues) != 100 || !strings.Contains(err.Hint, "only the first 100 of 1000 issues are listed") {
		t.Errorf("got %v", err)
	}
	_, _, err = checked(todos, `{"x":[`+strings.Repeat("1,", 1_000_000)+`1]}`, false)
	if err == nil || err.Code != "invalid-json" || !strings.Contains(err.Error(), "more than 1000000 values") {
		t.Errorf("got %.300v", err)
	}
}

// A schema that doubles at every level of the value must not cost its power.
func TestWalkIsBounded(t *testing.T) {
	t.Parallel()
	d := dynamic(t, "bomb", `{"type":"object","properties":{"x":{"$ref":"#/$defs/n"}},"$defs":{"n":{"allOf":[
		{"properties":{"x":{"$ref":"#/$defs/n"}}},{"properties":{"x":{"$ref":"#/$defs/n"}}}]}}}`)
	_, _, err := checked(d, strings.Repeat(`{"x":`, 60)+"1"+strings.Repeat("}", 60), false)
	if err == nil || !strings.Contains(err.Error(), "too large to be checked") {
		t.Errorf("got %v", err)
	}
}

func TestDuplicateKeys(t *testing.T) {
	t.Parallel()
	many := make([]string, 0, 40)
	for i := range 40 {
		many = append(many, `"k`+string(rune('a'+i%26))+string(rune('a'+i/26))+`":1`)
	}
	for _, c := range [][2]string{
		{`{"filePath":"a","filePath":"a"}`, "filePath"},
		{`{"filePath":"a","\u0066ilePath":"b"}`, "filePath"},
		{`{"filePath":"a","x":[1,{"y":{"z":1,"z":2}}]}`, "x.1.y.z"},
		{`{` + strings.Join(many, ",") + `,"kba":1}`, "kba"},
	} {
		for _, repair := range []bool{false, true} {
			_, _, err := checked(make1[readInput]("read"), c[0], repair)
			if err == nil || err.Code != "duplicate-key" || path(err.Issues[0]) != c[1] {
				t.Errorf("%s: got %v", c[0], err)
			}
		}
	}
}

func TestHints(t *testing.T) {
	t.Parallel()
	read, edit := make1[readInput]("read"), make1[editInput]("edit")
	for _, c := range []struct {
		tool     tool.Tool
		in, want string
	}{
		{read, `{"filePath":5}`, `filePath: got 5, wanted string`},
		{read, `{"filePath":{"a":["` + "\u202e\x7f" + `"]}}`, `filePath: got {"a":["\u202e\x7f"]}, wanted string`},
		{read, `{"filePath":"a","offset":"` + strings.Repeat("x", 500) + `"}`, `offset: got "` + strings.Repeat("x", 79) + `…, wanted number`},
		{read, `{"FilePath":"a"}`, "filePath: missing, wanted string\nunknown key \"FilePath\": did you mean \"filePath\"?"},
		{read, `{"fliePath":"a"}`, "filePath: missing, wanted string\nunknown key \"fliePath\": did you mean \"filePath\"?"},
		{read, `{"path":5}`, "filePath: missing, wanted string"},
		{edit, `{"file":"a","old-string":"b","replacement":"c"}`, "filePath: missing, wanted string\noldString: missing, wanted string\n" +
			"newString: missing, wanted string\nunknown key \"file\": did you mean \"filePath\"?\nunknown key \"old-string\": did you mean \"oldString\"?"},
		{read, `7`, `input: got 7, wanted object`},
	} {
		_, _, err := checked(c.tool, c.in, false)
		if err == nil {
			t.Errorf("%s was taken", c.in)
			continue
		}
		if d := cmp.Diff(c.want, err.Hint); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.in, d)
		}
	}
}

func TestRepair(t *testing.T) {
	t.Parallel()
	read, todos, edit := make1[readInput]("read"), make1[todowriteInput]("todowrite"), make1[editInput]("edit")
	open := dynamic(t, "open", `{"type":"object","properties":{"aB":{"type":"string"},"cD":{"type":"string"}},"required":["aB"]}`)
	for _, c := range []struct {
		tool     tool.Tool
		in, want string
		repairs  []string
	}{
		{read, `{"file_path":"a"}`, `{"filePath":"a"}`, []string{`filePath: renamed from "file_path"`}},
		{read, `{"File-Path":"a","LIMIT":2}`, `{"filePath":"a","limit":2}`,
			[]string{`filePath: renamed from "File-Path"`, `limit: renamed from "LIMIT"`}},
		{read, `{"filePath":"a",}`, `{"filePath":"a"}`, []string{"removed a trailing comma"}},
		{read, `{"filePath":"a","x":[1,],}`, `{"filePath":"a"}`, []string{"removed 2 trailing commas", `unknown key "x" is left out`}},
		{read, "\ufeff{\"filePath\":\"a\"}", `{"filePath":"a"}`, []string{"removed a byte order mark"}},
		{read, "```json\n{\"filePath\":\"a\"}\n```\n", `{"filePath":"a"}`, []string{"removed a code fence"}},
		{todos, `{"todos":"[]"}`, `{"todos":[]}`, []string{"todos: taken out of a string"}},
		{todos, `{"todos":["{\"content\":\"c\",\"status\":\"s\",\"priority\":\"p\",\"ID\":\"1\"}"]}`,
			`{"todos":[{"content":"c","status":"s","priority":"p","id":"1"}]}`,
			[]string{"todos.0: taken out of a string", `todos.0.id: renamed from "ID"`}},
		{edit, `{"filePath":"a","oldString":"b","newString":"c","replaceAll":"true"}`,
			`{"filePath":"a","oldString":"b","newString":"c","replaceAll":true}`, []string{"replaceAll: taken out of a string"}},
		{open, `{"a_b":"x","c_d":"y"}`, `{"aB":"x","c_d":"y"}`, []string{`aB: renamed from "a_b"`}},
	} {
		got, repairs, err := checked(c.tool, c.in, true)
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		var said []string
		for _, r := range repairs {
			said = append(said, r.String())
		}
		if d := cmp.Diff(c.want, got) + cmp.Diff(c.repairs, said); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.in, d)
		}
		if in, _, err := checked(c.tool, c.in, false); err == nil || in != c.in {
			t.Errorf("%s was taken without repair", c.in)
		}
	}
}

// A key that the tool does not know is left out and named, at every level, and
// refused where nothing may be left out.
func TestDropped(t *testing.T) {
	t.Parallel()
	all := tools(t)
	union := dynamic(t, "union", `{"type":"object","properties":{"v":{"anyOf":[
		{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false},
		{"type":"object","properties":{"bee":{"type":"integer"}},"required":["bee"],"additionalProperties":false}]}}}`)
	for _, c := range []struct {
		tool    tool.Tool
		in      string
		dropped []string
		hint    string
	}{
		{all["bash"], `{"command":"ls","timeout":5}`, nil, ""},
		{all["bash"], `{"command":"ls","timout":5}`,
			[]string{`unknown key "timout" is left out: did you mean "timeout"?`}, `timout: unknown key: did you mean "timeout"?`},
		{all["read"], `{"filePath":"a","limt":1,"zzz":2}`,
			[]string{`unknown key "limt" is left out: did you mean "limit"?`, `unknown key "zzz" is left out`},
			"limt: unknown key: did you mean \"limit\"?\nzzz: unknown key"},
		{all["read"], `{"filePath":"a","limt":1,"limit":2}`, []string{`unknown key "limt" is left out`}, "limt: unknown key"},
		{all["todowrite"], `{"todos":[{"content":"c","status":"s","priority":"p","id":"1","x":1}]}`,
			[]string{`todos.0: unknown key "x" is left out`}, "todos.0.x: unknown key"},
		{union, `{"v":{"bee":1,"be":2}}`, []string{`v: unknown key "be" is left out`}, "v: got {\"bee\":1,\"be\":2}, wanted object"},
	} {
		for _, repair := range []bool{false, true} {
			_, repairs, err := checked(c.tool, c.in, repair)
			if err != nil {
				t.Fatalf("%s: %v", c.in, err)
			}
			var said []string
			for _, r := range repairs {
				if !r.Dropped {
					t.Errorf("%s: %v is not called dropped", c.in, r)
				}
				said = append(said, r.String())
			}
			if d := cmp.Diff(c.dropped, said); d != "" {
				t.Errorf("%s (-want +got):\n%s", c.in, d)
			}
		}
		call := tool.Call{Input: json.RawMessage(c.in)}
		err, _ := errors.AsType[*tool.Error](c.tool.CheckExact(&call))
		if c.hint == "" {
			if err != nil {
				t.Errorf("%s: refused: %v", c.in, err)
			}
			continue
		}
		if err == nil || err.Kind != tool.InvalidInput || err.Hint != c.hint || string(call.Input) != c.in {
			t.Errorf("%s, exactly: %+v", c.in, err)
		}
	}
	many := `{"filePath":"a"`
	for i := range 1000 {
		many += fmt.Sprintf(`,"k%d":1`, i)
	}
	if _, repairs, err := checked(all["read"], many+"}", false); err != nil || len(repairs) == 0 || len(repairs) > 50 {
		t.Errorf("a thousand unknown keys: %d named, %v", len(repairs), err)
	}
}

// What would have to be guessed is refused, with the words of the strict
// road.
func TestNoRepair(t *testing.T) {
	t.Parallel()
	all := tools(t)
	for _, c := range [][2]string{
		{"read", `{"file_path":"a","FilePath":"b"}`},
		{"read", `{"path":"a"}`},
		{"read", `{"file_path":5}`},
		{"read", `{'filePath':'a'}`},
		{"read", `{"filePath":"a"`},
		{"read", `{"filePath":"a",,}`},
		{"read", `{,}`},
		{"read", "see:\n```json\n{\"filePath\":\"a\"}\n```"},
		{"bash", `{"command":["ls","-la"]}`},
		{"bash", `{"command":"ls","timeout":"5s"}`},
		{"bash", `{"command":"ls","timeout":"0"}`},
		{"edit", `{"filePath":"a","oldString":"b","newString":"c","replaceAll":"yes"}`},
		{"edit", `{"filePath":"a","oldString":"b","newString":"c","replaceAll":null}`},
		{"todowrite", `{"todos":"[{]"}`},
		{"todowrite", `{"todos":"{}"}`},
		{"todowrite", `{"todos":"[{\"id\":1,\"id\":2}]"}`},
		{"read", ``},
		{"read", `[{"filePath":"a"}]`},
	} {
		in, repairs, err := checked(all[c[0]], c[1], true)
		if err == nil || in != c[1] || repairs != nil {
			t.Errorf("%s was taken as %s: %v", c[1], in, repairs)
			continue
		}
		if _, _, strict := checked(all[c[0]], c[1], false); strict.Error() != err.Error() || strict.Hint != err.Hint {
			t.Errorf("%s: the error became %v", c[1], err)
		}
	}
}

// A schema of the author's own may be open; a key in another case must still
// not reach a field that was not checked.
func TestFoldedKeys(t *testing.T) {
	t.Parallel()
	one := tool.New(tool.Spec{Name: "one", Schema: schemaOf(t, `{"type":"object","properties":{"name":{"type":"string","enum":["a"]}}}`)},
		echo[skillInput])
	got, _, err := checked(one, `{"name":"a","NAME":"b","other":1}`, false)
	if err != nil || got != `{"name":"a","other":1}` {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	_, _, err := checked(tools(t)["webfetch"], `{"url":"u","format":"<&>"}`, false)
	want := `[
  {
    "code": "invalid_value",
    "values": [
      "text",
      "markdown",
      "html"
    ],
    "path": [
      "format"
    ],
    "message": "Invalid option: expected one of \"text\"|\"markdown\"|\"html\""
  }
]`
	if d := cmp.Diff(want, tool.Text(err.Issues)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := tool.Text(nil); got != "[]" {
		t.Errorf("no issues are %q", got)
	}
	b, jerr := json.Marshal(tool.Issue{Path: []any{"a", 0}, Code: "type", Message: "m"})
	if jerr != nil || string(b) != `{"code":"type","path":["a",0],"message":"m"}` {
		t.Errorf("got %s, %v", b, jerr)
	}
}

// A stranger's schema with a long list of options is checked in time that
// grows with the input, not with its product.
func BenchmarkManyOptions(b *testing.B) {
	var enum []any
	var items strings.Builder
	items.WriteString(`{"xs":[`)
	for i := range 10_000 {
		enum = append(enum, i)
		if i > 0 {
			items.WriteByte(',')
		}
		fmt.Fprintf(&items, "%d.0", 9_999-i)
	}
	items.WriteString(`]}`)
	spec := tool.Spec{Name: "many", Description: "d", Schema: &jsonschema.Schema{
		Type:       "object",
		Properties: map[string]*jsonschema.Schema{"xs": {Type: "array", Items: &jsonschema.Schema{Type: "number", Enum: enum}}},
	}}
	t, err := tool.Dynamic(spec, func(context.Context, *tool.Call) (*tool.Result, error) { return nil, nil })
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		c := tool.Call{Input: []byte(items.String())}
		if _, err := t.Check(&c, false); err != nil {
			b.Fatal(err)
		}
	}
}

// A tool that takes arguments as given sees them so, and the schema still
// decides whether they are good.
func TestAsGiven(t *testing.T) {
	schema := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{
		"name": {Type: "string"}, "times": {Type: "integer", Default: json.RawMessage("3")},
	}, Required: []string{"name"}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	made, err := tool.Dynamic(tool.Spec{Name: "x", Schema: schema, AsGiven: true}, func(context.Context, *tool.Call) (*tool.Result, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	c := &tool.Call{Tool: "x", Input: json.RawMessage(`{ "name": "a", "more": [1] }`)}
	if _, err := made.Check(c, false); err != nil || string(c.Input) != `{"name":"a","more":[1]}` {
		t.Errorf("%s, %v", c.Input, err)
	}
	c = &tool.Call{Tool: "x", Input: json.RawMessage(`{"times": 1}`)}
	if _, err := made.Check(c, false); err == nil {
		t.Error("a missing argument was let through")
	}
}

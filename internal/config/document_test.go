package config

import (
	"fmt"
	"strings"
	"testing"
)

func TestReadDocument(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"colons in values", "---\noccupation: This man has the following occupation: Software Engineer\nnested: First: Second: Third\n" +
			"time: The time is 12:30:00 PM\nurl: https://example.com:8080/path?query=value\nmixed: He said \"hello: world\" and then left\n---\n",
			`{"occupation":"This man has the following occupation: Software Engineer","nested":"First: Second: Third",` +
				`"time":"The time is 12:30:00 PM","url":"https://example.com:8080/path?query=value","mixed":"He said \"hello: world\" and then left"}`},
		{"quotes", "---\na: \"x: y\"\nb: 'it''s'\nc: John \"Doe\"\nd: \"q\" rest\n---", `{"a":"x: y","b":"it's","c":"John \"Doe\"","d":"\"q\" rest"}`},
		{"empty value", "---\nempty:\nnext: 1\n---\n", `{"empty":null,"next":1}`},
		{"folded", "---\nsummary: >\n  This is\n  a summary\n---\n", `{"summary":"This is a summary\n"}`},
		{"folded, two parts", "---\ns: >-\n  a\n  b\n\n  c\n---\n", `{"s":"a b\nc"}`},
		{"literal", "---\ns: |\n  a\n    b\n\n  c\nt: x\n---\n", `{"s":"a\n  b\n\nc\n","t":"x"}`},
		{"comments", "---\n# one\na: b # two\n  # three\nc: d#e\nf: # g\n---\n", `{"a":"b","c":"d#e","f":null}`},
		{"special characters", "---\na: $' and $&\n---\n", `{"a":"$' and $&"}`},
		{"body stays", "---\na: 1\n---\nb: 2\n---\nc", `{"a":1,"prompt":"b: 2\n---\nc"}`},
		{"empty", "---\n---\n\ntext\n", `{"prompt":"text"}`},
		{"none", "text: here\n", `{"prompt":"text: here"}`},
		{"header", "# Title\n---\na: b\n---\n", `{"prompt":"# Title\n---\na: b\n---"}`},
		{"nested", "---\nmodel: synthetic/hf:zai-org/GLM-4.7\ntools:\n  write: true\n  bash: False\nstuff: >\n  folded\n  text\n---\n",
			`{"model":"synthetic/hf:zai-org/GLM-4.7","tools":{"write":true,"bash":false},"stuff":"folded text\n"}`},
		{"lists", "---\na:\n  - x\n  - 1\nb:\n- y\nc: [p, q]\nd: [\"r\", 2]\ne: {\"k\": \"v\"}\n---\n",
			`{"a":["x",1],"b":["y"],"c":["p","q"],"d":["r",2],"e":{"k":"v"}}`},
		{"numbers", "---\na: .5\nb: -1\nc: 1e3\nd: 0x1f\ne: 1.2.3\nf: 007\n---\n", `{"a":0.5,"b":-1,"c":1e3,"d":31,"e":"1.2.3","f":7}`},
		{"going on", "---\na: one\n  two\n  three\nb: x\n---\n", `{"a":"one two three","b":"x"}`},
		{"line ends", "---\r\na: b\r\n---\r\nbody\r\n", `{"a":"b","prompt":"body"}`},
		{"patterns", "---\npermission:\n  bash:\n    \"*\": ask\n    git push *: deny\n    'a: b': allow\n---\n",
			`{"permission":{"bash":{"*":"ask","git push *":"deny","a: b":"allow"}}}`},
		{"references mean themselves", "---\na: \"{env:X}\"\n---\n{file:y}", `{"a":"{env:X}","prompt":"{file:y}"}`},

		{"brackets", "---\ndescription: [WIP] reviews: things\nmodel: *x\nhint: \"a\" and b\ngood: 1\n---\n",
			`{"description":"[WIP] reviews: things","model":"*x","hint":"\"a\" and b","good":1}`},
		{"anchors", "---\na: &x {bash: deny}\nb: *x\nc:\n  <<: *x\n  edit: ask\n---\n",
			`{"a":{"bash":"deny"},"b":{"bash":"deny"},"c":{"bash":"deny","edit":"ask"}}`},
		{"JSON", "---\n{\"a\": {\"b\": [1, true]}}\n---\nx", `{"a":{"b":[1,true]},"prompt":"x"}`},
		{"the end of a block", "---\na: b\n---more\nbody", `{"a":"b","prompt":"more\nbody"}`},
		{"only comments", "---\n# a: b\n---\nbody", `{"prompt":"body"}`},

		{"patterns without quotes", "---\npermission:\n  bash:\n    *: ask\n    git log: *: allow # x\n  '*': deny\nother: 1\n---\n",
			`{"other":1} doubted {"permission":{"bash":{"*":"ask","git log: *":"allow"},"*":"deny"}}`},
		{"a policy in tabs", "---\ntools:\n\twrite: false\n\t\"b*\": false\n---\n", `{} doubted {"tools":{"write":false,"b*":false}}`},
		{"a policy that is none", "---\npermission:\n  bash: deny\n    edit: deny\na: b\n---\n",
			`{"a":"b"} ! permission true "permission" can not be read: it is no YAML: mapping values are not allowed in this context`},
		{"a misspelt one", "---\npermissions: [x\n---\n", `{} ! permissions true "permissions" can not be read: it is no YAML: did not find expected ',' or ']'`},
		{"a policy in another key", "---\n name: x\n  permission:\n   bash: deny\n---\n",
			`{} ! permission true "permission" can not be read: it is indented as a part of what stands above it`},
		{"not closed", "---\na: b\npermission:\n  bash: deny\n\nYou are it.\nNote: more\n",
			`{"a":"b","prompt":"You are it.\nNote: more"} doubted {"permission":{"bash":"deny"}} !  false the closing --- is missing; write it below the last setting`},
		{"not opened", "a: b\npermission:\n  bash: deny\n---\ntext", `{"a":"b","prompt":"text"} doubted {"permission":{"bash":"deny"}} !  false the opening --- is missing; write it into the first line`},
		{"a rule below prose", "Note: x\nand prose\n---\na: b", `{"prompt":"Note: x\nand prose\n---\na: b"}`},
		{"a flow that is open", "---\npermission: {bash: deny\n---\n", `{} ! permission true "permission" can not be read: it is no YAML: did not find expected ',' or '}'`},
		{"a line that is two", "---\npermission:\n  bash: {\"*\": deny\n---\n", `{} ! permission true "permission" can not be read: it is no YAML: did not find expected ',' or '}'`},
		{"late", "\n---\na: b\n---\n", `{"a":"b"} !  false it has to begin in the first line of the file; remove the empty lines above it`},
		{"tab", "---\na:\n\tb: c\n---\n", `{"a":"b: c"}`},
		{"twice", "---\na: b\na: c\n---\n", `{"a":"c"} twice a`},
		{"no key", "---\njust words\n---\n", `{} !  false want a key, a colon, a space and a value`},
		{"odd indentation", "---\na:\n    b: c\n  d: e\n---\n", `{"a":"b: c d: e"}`},
		{"flow", "---\na: {b: [c]}\n---\n", `{"a":{"b":["c"]}}`},
		{"UTF-16", "\xff\xfe-\x00-\x00-\x00", "{} !  true the file is UTF-16 text; save it as UTF-8"},
		{"bytes", "---\na: \xff\n---\n", "{\"a\":\"\ufffd\"} !  false the file is not UTF-8 text; save it as UTF-8"},
		{"an alias of itself", "---\na: &x [*x]\n---\n", ""},
		{"aliases of aliases", "---\na: &a [" + strings.Repeat("x,", 100) + "]\nb: &b [" + strings.Repeat("*a,", 100) + "]\nc: [" + strings.Repeat("*b,", 100) + "]\n---\n", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			doc := readDocument(&input{path: "f", data: []byte(tc.in)})
			got := string(encode(doc.agent))
			if len(doc.doubted.members) > 0 {
				got += " doubted " + string(encode(doc.doubted))
			}
			for _, d := range doc.doubles {
				got += " twice " + d.path[len(d.path)-1]
			}
			for _, f := range doc.faults {
				got += fmt.Sprintf(" ! %s %t %s", f.key, f.policy, f.msg)
			}
			if tc.want == "" { // it ends, and says something
				return
			}
			if got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

package config

import "testing"

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
		{"numbers", "---\na: .5\nb: -1\nc: 1e3\nd: 0x1f\ne: 1.2.3\nf: 007\n---\n", `{"a":0.5,"b":-1,"c":1e3,"d":"0x1f","e":"1.2.3","f":7}`},
		{"going on", "---\na: one\n  two\n  three\nb: x\n---\n", `{"a":"one two three","b":"x"}`},
		{"line ends", "---\r\na: b\r\n---\r\nbody\r\n", `{"a":"b","prompt":"body"}`},
		{"patterns", "---\npermission:\n  bash:\n    \"*\": ask\n    git push *: deny\n    'a: b': allow\n---\n",
			`{"permission":{"bash":{"*":"ask","git push *":"deny","a: b":"allow"}}}`},
		{"references mean themselves", "---\na: \"{env:X}\"\n---\n{file:y}", `{"a":"{env:X}","prompt":"{file:y}"}`},

		{"not closed", "---\na: b\n", "! front matter: the closing --- is missing"},
		{"tab", "---\na:\n\tb: c\n---\n", "! front matter: a tab cannot indent; use spaces"},
		{"twice", "---\na: b\na: c\n---\n", `! front matter: "a" stands twice; keep one`},
		{"no key", "---\njust words\n---\n", "! front matter: want a key, a colon and a value"},
		{"odd indentation", "---\na:\n    b: c\n  d: e\n---\n", "! front matter: this line is indented more than the one before"},
		{"flow", "---\na: {b: [c]}\n---\n", "! front matter: want a list or object written as JSON, or lines of their own"},
		{"bytes", "---\na: \xff\n---\n", "! not UTF-8 text; save the file as UTF-8"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := ""
			if n, err := readDocument(&input{path: "f", data: []byte(tc.in)}); err != nil {
				got = "! " + err.msg
			} else {
				got = string(encode(n))
			}
			if got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

package regex

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestErrors checks where an error is seen, its reason and its hint. The
// carets are those under the pattern.
func TestErrors(t *testing.T) {
	for _, test := range []struct{ pattern, carets, reason, hint string }{
		{`foo(`, `   ^`, "unclosed group", `\(`},
		{`(a(b)`, `^`, "unclosed group", `\(`},
		{`a)b`, ` ^`, "unopened group", `\)`},
		{`[a`, `^`, "unclosed character class", `\[`},
		{`[^a`, `^^`, "unclosed character class", `\[`},
		{`[[]`, ` ^^`, "unclosed character class", `\[`},
		{`*a`, `^`, "repetition operator missing expression", `\*`},
		{`a|+`, `  ^`, "repetition operator missing expression", `\+`},
		{`(?)`, ` ^`, "repetition operator missing expression", `\?`},
		{`{a}`, `^`, "repetition operator missing expression", `\{`},
		{`foo{`, `   ^`, "unclosed counted repetition", `\{`},
		{`foo{x}`, `    ^`, "repetition quantifier expects a valid decimal", `\{`},
		{`${HOME}`, `  ^`, "repetition quantifier expects a valid decimal", `\{`},
		{`a{,3}`, `  ^`, "repetition quantifier expects a valid decimal", `{0,n}`},
		{`a{2`, ` ^^`, "unclosed counted repetition", `\{`},
		{`a{3,2}`, ` ^^^^^`, "invalid repetition count range, the start must be <= the end", ""},
		{`a{4294967296}`, `  ^^^^^^^^^^`, "decimal literal invalid", `\{`},
		{`x(?=a)`, ` ^^^`, "look-around, including look-ahead and look-behind, is not supported", "whole lines are found"},
		{`(?!a)`, `^^^`, "look-around, including look-ahead and look-behind, is not supported", "without this"},
		{`(?<=a)`, `^^^^`, "look-around, including look-ahead and look-behind, is not supported", "whole lines are found"},
		{`(?<!a)`, `^^^^`, "look-around, including look-ahead and look-behind, is not supported", "without this"},
		{`(a)\1`, `   ^^`, "backreferences are not supported", "alternatives"},
		{`\0`, `^^`, "backreferences are not supported", `\x00`},
		{`a\Z`, ` ^^`, "unrecognized escape sequence", `\z`},
		{`\h`, `^^`, "unrecognized escape sequence", `[ \t]`},
		{`\H`, `^^`, "unrecognized escape sequence", `[^ \t]`},
		{`\R`, `^^`, "unrecognized escape sequence", "end of a line"},
		{`\Qa\E`, `^^`, "unrecognized escape sequence", "literal"},
		{`a\Kb`, ` ^^`, "unrecognized escape sequence", "leave it out"},
		{`\N`, `^^`, "unrecognized escape sequence", `"."`},
		{`\X`, `^^`, "unrecognized escape sequence", `"."`},
		{`\k<n>`, `^^`, "unrecognized escape sequence", "alternatives"},
		{`\e`, `^^`, "unrecognized escape sequence", `\x1B`},
		{`\cA`, `^^`, "unrecognized escape sequence", `\x01`},
		{`\y`, `^^`, "unrecognized escape sequence", `\b`},
		{`C:\Users`, `    ^`, "invalid hexadecimal digit", `a backslash as "\\"`},
		{`\é`, `^^`, "unrecognized escape sequence", `\\`},
		{`(?>a)`, `  ^`, "unrecognized flag", `(?:`},
		{`(?#c)`, `  ^`, "unrecognized flag", "comment"},
		{`(?|a)`, `  ^`, "unrecognized flag", `(?:`},
		{`(?'n'a)`, `  ^`, "unrecognized flag", "(?<name>"},
		{`(?P=n)`, `  ^`, "unrecognized flag", "alternatives"},
		{`(?1)`, `  ^`, "unrecognized flag", "recursion"},
		{`(?(1)a)`, `  ^`, "unrecognized flag", "conditions"},
		{`(?iz)`, `   ^`, "unrecognized flag", "flags are"},
		{`(?i-)`, `   ^`, "dangling flag negation operator", ""},
		{`(?i--s)`, `   ^^`, "flag negation operator repeated", ""},
		{`(?isi)`, `  ^ ^`, "duplicate flag", ""},
		{`(?i`, `   ^`, "expected flag but got end of regex", ""},
		{`(?P<n`, `     ^`, "unclosed capture group name", "no name"},
		{`(?<>a)`, `   ^`, "empty capture group name", "no name"},
		{`(?<a b>c)`, `    ^`, "invalid capture group character", "no name"},
		{`[z-a]`, ` ^^^`, "invalid character class range, the start must be <= the end", `\-`},
		{`[\w-z]`, ` ^^`, "invalid range boundary, must be a literal", `\-`},
		{`[a-\d]`, `   ^^`, "invalid range boundary, must be a literal", `\-`},
		{`[\b]`, ` ^^`, "invalid escape sequence found in character class", `\x08`},
		{`[\A]`, ` ^^`, "invalid escape sequence found in character class", "outside"},
		{`\p{Foo}`, `^^^^^^^`, "Unicode property not found", `\p{L}`},
		{`\p{sc=Foo}`, `^^^^^^^^^^`, "Unicode property value not found", `\p{L}`},
		{`\p{Foo}(`, `       ^`, "unclosed group", `\(`},
		{`\p{L`, `    ^`, "incomplete escape sequence, reached end of pattern prematurely", `\\`},
		{`\p\`, `  ^`, "invalid Unicode character class", ""},
		{`(?-u)\pL`, `     ^^^`, "Unicode not allowed here", "(?-u)"},
		{`(?-u)[é]`, `      ^`, "Unicode not allowed here", "(?-u)"},
		{`a\`, ` ^`, "incomplete escape sequence, reached end of pattern prematurely", `\\`},
		{`\xg`, `  ^`, "invalid hexadecimal digit", `\x{`},
		{`\x{}`, `  ^^`, "hexadecimal literal empty", `\x{`},
		{`\uD800`, `  ^^^^`, "hexadecimal literal is not a Unicode scalar value", `\x{`},
		{`\b{foo}`, `   ^^^`, "unrecognized special word boundary assertion, valid choices are: start, end, start-half or end-half", ""},
		{`\b{a.}`, `  ^^`, "special word boundary assertion is either unclosed or contains an invalid character", ""},
		{`\b{`, `^^^`, `found either the beginning of a special word boundary or a bounded repetition on a \b with an opening brace, but no closing brace`, ""},
		{`a\nb`, ` ^^`, `the literal "\n" is not allowed in a regex`, "end of a line"},
		{`a[\n]b`, ` ^^^^`, `the literal "\n" is not allowed in a regex`, "end of a line"},
		{`x\x0A`, ` ^^^^`, `the literal "\n" is not allowed in a regex`, "end of a line"},
		{`xa{1000000}`, `  ^^^^^^^^^`, "compiled regex exceeds size limit of 104857600", "smaller counts"},
		{`(?R)a$`, `     ^`, "the flag R does not go with ^ and $ here", `\r?$`},
		{strings.Repeat("(", 300), "", "exceed the maximum number of nested parentheses/brackets (250)", "leave out groups"},
		{"a\xffb", ` ^`, "pattern is not valid UTF-8", `\xFF`},
		{strings.Repeat("a", maxPattern+1), "", fmt.Sprintf("the pattern is too long: %d bytes, and %d is the most", maxPattern+1, maxPattern), "one part"},
	} {
		_, err := parse(test.pattern, Options{})
		var e *SyntaxError
		if !errors.As(err, &e) {
			t.Errorf("%.40s: %v", test.pattern, err)
			continue
		}
		if e.Reason != test.reason {
			t.Errorf("%.40s: %s, want %s", test.pattern, e.Reason, test.reason)
		}
		if test.carets != "" && !strings.Contains(e.Error(), "\n    "+test.carets+"\nerror: ") {
			t.Errorf("%.40s: the carets are wrong:\n%v", test.pattern, e)
		}
		if !strings.Contains(e.Hint, test.hint) || test.hint == "" && e.Hint != "" {
			t.Errorf("%.40s: the hint is %q, want %q", test.pattern, e.Hint, test.hint)
		}
	}
}

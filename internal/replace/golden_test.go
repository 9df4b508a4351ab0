package replace

import (
	"fmt"
	"strings"
	"testing"
)

// What a case may end with instead of a text.
const (
	e1 = "<not found>"
	e2 = "<multiple>"
	e3 = "<oversized>"
	eq = "<as seed>"
)

// A golden is a case with what each profile makes of it.
type golden struct {
	name              string
	content, old, new string
	all               bool
	seed, safe        string
}

func checkGolden(t *testing.T, tests []golden) {
	t.Helper()
	for _, tt := range tests {
		if tt.safe == eq {
			tt.safe = tt.seed
		}
		for profile, want := range map[Profile]string{Seed: tt.seed, Safe: tt.safe, "": tt.safe} {
			got, m, err := apply(tt.content, tt.old, tt.new, Options{All: tt.all, Profile: profile})
			switch e := err.(type) {
			case nil:
			case *Oversized:
				got = e3
			default:
				got = map[error]string{errNone: e1, errMany: e2}[e]
			}
			if got != want {
				t.Errorf("%s, profile %q:\n content %q\n old %q\n got %q by %q (%v)\nwant %q", tt.name, profile, tt.content, tt.old, got, m.Strategy, err, want)
			}
		}
	}
}

func TestVectors(t *testing.T) {
	checkGolden(t, []golden{
		{"once", "a b c", "b", "X", false, "a X c", eq},
		{"twice", "x x", "x", "y", false, e2, eq},
		{"all", "x x", "x", "y", true, "y y", eq},
		{"indented block", "  foo\n    bar\nbaz", "foo\nbar", "Q\nR", false, "Q\nR\nbaz", e1},
		{"final line feed", "  foo\n    bar\nbaz", "foo\nbar\n", "Q\nR\n", false, "Q\nR\n\nbaz", e1},
		{"twice indented", "  foo\n  foo\n", " foo", "Z", false, e2, eq},
		// The safe profile wants every word quoted.
		{"similar middle", "start\n  one\n  two\nend\n", "start\n  ONE\n  twoo\nend", "R", false, "R\n", e1},
		{"other middle", "a\nb\nc\nd\nend\n", "a\nzzz\nend", "R", false, "R\n", e1},
		{"most similar", "s\nfoo\ne\ns\nbar\ne\n", "s\nbaz\ne", "R", false, "s\nfoo\ne\nR\n", e1},
		{"none similar", "s\nqqqq\ne\ns\nwwww\ne\n", "s\nzzzz\ne", "R", false, e1, e1},
		{"blanks", "x  =   1;\n", "x = 1;", "Y", false, "Y\n", eq},
		{"blanks in a part", "foo( a,   b ) // c\n", "a, b", "Y", false, "foo( Y ) // c\n", eq},
		{"other lines", "foo(\n   a,\n   b)\n", "foo( a,\nb)", "Y", false, e1, e1},
		{"blanks over lines", "if (a)  {\n\treturn  1\n}\n", "if (a) {\nreturn 1", "Y", false, "Y\n}\n", e1},
		{"escaped line feed", "line1\nline2\n", `line1\nline2`, "Q", false, "Q\n", eq},
		{"escaped quotes", "say \"hi\"\n", `say \"hi\"`, "Q", false, "Q\n", eq},
		{"escape in the file", "a\\tb\n", "a\tb", "Q", false, "Q\n", eq},
		{"line feeds around", "hello world", "\nhello world\n", "Q", false, "Q", eq},
		{"blanks around", "xx hello yy", "  hello  ", "Q", false, "xx Q yy", eq},
		{"trailing blanks", "foo   \nbar\n", "foo\nbar", "Q", false, "Q\n", eq},
		{"blank line", "a\n\nb\n", "a\n \nb", "Q", false, "Q\n", eq},
		{"line feed", "a\nb", "\n", "_", false, "a_b", eq},
		{"carriage returns", "a\r\nb\r\nc", "a\nb", "Q\nR", false, "Q\nR\nc", eq},
		{"inside a carriage return", "a\r\nb\r\nc", "b", "Q", false, "a\r\nQ\r\nc", eq},
		{"dollars", "abc", "b", "$&$1", false, "a$&$1c", eq},
		{"dollars, all", "abcb", "b", "$&", true, "a$&c$&", eq},
		{"overlap", "aaa", "aa", "b", false, e2, eq},
		{"overlap, all", "aaaa\n", "aa", "b", true, "bb\n", eq},
		// From here on the seed is happy with a candidate whose text is unique.
		{"first of two", "    foo()\n  bar\n\tfoo()\n", "foo() ", "Z", false, "Z\n  bar\n\tfoo()\n", e2},
		{"parts of variants, all", "  foo\n  foo\n   foo\n", "foo ", "Z", true, "Z\nZ\n Z\n", e2},
		{"two indentations", "  a\n  b\n--\n   a\n   b\n", "a\nb", "X", false, "X\n--\n   a\n   b\n", e2},
		{"longest indentation", "  foo()\n    foo()\n", "foo() ", "bar()", false, "  foo()\nbar()\n", e2},
		{"only block", "start {\n  one line here\n  other\n}\nrest\n", "start {\n  completely different\n}", "START {}", false, "START {}\nrest\n", e1},
		{"better block", "fn {\n  aaaa bbbb\n}\nfn {\n  cccc dddd\n}\n", "fn {\n  cccc ddde\n}", "picked", false, "fn {\n  aaaa bbbb\n}\npicked\n", e1},
		{"equal blocks", "fn {\n  x y z\n}\nmid\nfn {\n  x y z\n}\n", "fn {\n  x y q\n}", "picked", false, e2, e1},
		{"two lines have no middle", "s\nmid\ne\n", "s\ne", "X", false, e1, e1},
		{"part in blanks", "let  v =  call( a )  ;\n", "v = call( a )", "w", false, "let  w  ;\n", eq},
		{"tab and quote", "a\t\"q\"\n", `a\t\"q\"`, "X", false, "X\n", eq},
		{"escape over lines", "printf(\"a\\nb\")\n", "printf(\"a\nb\")", "X", false, e1, e1},
		{"dollar and backtick", "cost $5 `cmd`\n", "cost \\$5 \\`cmd\\`", "X", false, "X\n", eq},
		{"half of the middle", "open\n  aaa\n  bbb\nclose\nopen\n  ccc\n  ddd\nclose\n", "open\n  aaa\n  qqqqqqqqqqqq\nclose", "CTX", false, "CTX\nopen\n  ccc\n  ddd\nclose\n", e1},
		{"half of a blank middle", "s\n\n\n\n\nx\nq\ne\ns\n\n\n\n\ny\nz\ne\n", "s\n\n\n\n\nx\nw\ne", "R", false, "R\ns\n\n\n\n\ny\nz\ne\n", e1},
		// Blanks alone are not recognised in the safe profile.
		{"line feeds", "a\nb\n", "\n\n\n", "X", false, e2, e1},
		{"space", "ab\ncd\n", " ", "X", false, e2, e1},
		{"signs", "a.*b (c) [d]\n", ".*b (c) [d]", "-", false, "a-\n", eq},
		{"composed", "cafe\u0301\n", "caf\u00e9", "tea", false, e1, e1},
		{"nothing in it", "", " ", "X", false, "X", e1},
	})
}

// TestHistoric has the cases by which the reference once tested its strategies.
// The safe profile refuses every one in which the middle was made up.
func TestHistoric(t *testing.T) {
	const (
		calculate = "function calculate(a, b) {\n  const temp = a + b;\n  const result = temp * 2;\n  return result;\n}"
		layout    = "function renderLayout() {\n  const header = createHeader()\n  const body = createBody()\n  return mainLayout\n}"
		layoutOld = "function renderLayout() {\n  // different content\n  return mainLayout\n}"
		layoutNew = "function renderLayout() {\n  const header = createHeader()\n  const sidebar = createSidebar()\n  const body = createBody()\n  return mainLayout\n}"
	)
	class := func(name, method, call string) string {
		return "class " + name + " {\n  constructor() {\n    this.value = 0;\n  }\n  \n  " + method + "() {\n    return " + call + ";\n  }\n}"
	}
	lines := func(format string, from, to int) string {
		var out []string
		for i := from; i < to; i++ {
			out = append(out, fmt.Sprintf(format, i))
		}
		return strings.Join(out, "\n")
	}
	hundred := lines("line %d", 0, 100)
	long := hundred + "\nfunction test() {\n" + lines("  content %d", 0, 60) + "\n  return result\n}"
	checkGolden(t, []golden{
		{"0", "function hello() {\n  console.log(\"world\");\n}", `console.log("world");`, `console.log("universe");`, false, "function hello() {\n  console.log(\"universe\");\n}", eq},
		{"1", "if (condition) {\n  doSomething();\n  doSomethingElse();\n}", "  doSomething();\n  doSomethingElse();", "  doNewThing();\n  doAnotherThing();", false, "if (condition) {\n  doNewThing();\n  doAnotherThing();\n}", eq},
		{"2", `    console.log("hello");`, `console.log("hello");`, `console.log("world");`, false, `    console.log("world");`, eq},
		{"3", "const x = 5;   \nconst y = 10;", "const x = 5;", "const x = 15;", false, "const x = 15;   \nconst y = 10;", eq},
		{"4", "  if (true) {\n    return false;\n  }", "if (true) {\nreturn false;\n}", "if (false) {\nreturn true;\n}", false, "if (false) {\nreturn true;\n}", e1},
		{"5", calculate, "function calculate(a, b) {\n  // different middle content\n  return result;\n}", "function calculate(a, b) {\n  return (a + b) * 2;\n}", false, "function calculate(a, b) {\n  return (a + b) * 2;\n}", e1},
		{"6", class("MyClass", "getValue", "this.value"), "class MyClass {\n  // different implementation\n}", "class MyClass {\n  constructor() {\n    this.value = 42;\n  }\n}", false,
			"class MyClass {\n  constructor() {\n    this.value = 42;\n  }\n}\n  \n  getValue() {\n    return this.value;\n  }\n}", e1},
		{"7", "function test() {\n\tconsole.log(\"hello\");\n}", `  console.log("hello");`, `  console.log("world");`, false, "function test() {\n  console.log(\"world\");\n}", "function test() {\n\tconsole.log(\"world\");\n}"},
		{"8", "const   x    =     5;", "const x = 5;", "const x = 10;", false, "const x = 10;", eq},
		{"9", "if\t(  condition\t) {", "if ( condition ) {", "if (newCondition) {", false, "if (newCondition) {", eq},
		{"10", "    function nested() {\n      const a = 1;\n      return a;\n    }", "function nested() {\n  const a = 1;\n  return a;\n}", "function nested() {\n  return 2;\n}", false, "function nested() {\n  return 2;\n}", "    function nested() {\n      return 2;\n    }"},
		{"11", "  if (true) {\n    console.log(\"level 1\");\n      console.log(\"level 2\");\n  }", "if (true) {\nconsole.log(\"level 1\");\n  console.log(\"level 2\");\n}", "if (true) {\nconsole.log(\"updated\");\n}", false, "if (true) {\nconsole.log(\"updated\");\n}", e1},
		{"12", "console.log(\"test\");\nconsole.log(\"test\");\nconsole.log(\"test\");", `console.log("test");`, `console.log("updated");`, true, "console.log(\"updated\");\nconsole.log(\"updated\");\nconsole.log(\"updated\");", eq},
		{"13", "console.log(\"test\");\nconsole.log(\"test\");", `console.log("test");`, "x", false, e2, eq},
		{"14", `console.log("hello");`, "nonexistent string", "x", false, e1, eq},
		{"15", "test\ntest\ndifferent content\ntest", "test", "x", false, e2, eq},
		{"17", `const r = /^[\w.+-]+@(\d{1,3}\.)*$|\((.*?)\)/g;`, `/^[\w.+-]+@(\d{1,3}\.)*$|\((.*?)\)/g`, `/a|b/`, false, `const r = /a|b/;`, eq},
		{"18", `const message = "Hello 世界! 🌍";`, "Hello 世界! 🌍", "Hello World! 🌎", false, `const message = "Hello World! 🌎";`, eq},
		{"19", "console.log(\"Hello\nWorld\");", `console.log("Hello\nWorld");`, "x", false, "x", eq},
		{"20", `const str = 'It's working';`, `const str = 'It\'s working';`, "x", false, "x", eq},
		{"21", "const template = `Hello ${name}`;", "const template = `Hello \\${name}`;", "x", false, "x", eq},
		{"22", `const path = 'C:\Users\test';`, `const path = 'C:\\Users\\test';`, "x", false, "x", eq},
		{"23", "debug(1)\ndebug(2)\ndebug(3)", "debug", "log", true, "log(1)\nlog(2)\nlog(3)", eq},
		{"24", "const x = 1; const y = 1; const z = 1;", "1", "2", true, "const x = 2; const y = 2; const z = 2;", eq},
		{"25", "  function test() {\n    return 'value';\n  }", "function test() {\nreturn 'value';\n}", "function test() {\nreturn 'new';\n}", false, "function test() {\nreturn 'new';\n}", e1},
		{"26", "\n  const value = 42;  \n", "const value = 42;", "const value = 24;", false, "\n  const value = 24;  \n", eq},
		{"27", "\n  if (condition) {\n    doSomething();\n  }\n", "if (condition) {\n  doSomething();\n}", "N", false, "\nN\n", "\n  N\n"},
		{"28", calculate, "function calculate(a, b) {\n  // one comment\n  // another comment\n  return result;\n}", "N", false, "N", e1},
		{"29", class("TestClass", "method", "42"), "class TestClass {\n  // different implementation\n  // with multiple lines\n}", "N", false, "N\n  \n  method() {\n    return 42;\n  }\n}", e1},
		{"30", "\tconsole.log(\"test\");\t", `console.log("test");`, `console.log("x");`, false, "\tconsole.log(\"x\");\t", eq},
		{"31", "  \nfunction test() {\n  return 'value';\n}\n  ", "function test() {\nreturn 'value';\n}", "N", false, "  \nN\n  ", e1},
		{"33", `const pattern = "test[123]";`, "test[123]", "test[456]", false, `const pattern = "test[456]";`, eq},
		{"34", `const regex = "^start.*end$";`, "^start.*end$", "^begin.*finish$", false, `const regex = "^begin.*finish$";`, eq},
		{"35", `const path = "C:\Users";`, `const path = "C:\Users";`, `const path = "D:\Users";`, false, `const path = "D:\Users";`, eq},
		{"36", `console.log("Line1\nLine2");`, `console.log("Line1\nLine2");`, "x", false, "x", eq},
		{"37", "function test() {\n  return true;\n}", "function test() {\n  // middle\n}", "N", false, "N", e1},
		{"38", "class Test {\n  method1() {\n    return 1;\n  }\n}", "class Test {\n  // different content\n}\n", "class Test {\n  method2() { return 2; }\n}", false, "class Test {\n  method2() { return 2; }\n}\n}", e1},
		{"40", "const a = 1;\nconst b = 1;\nconst c = 1;", "= 1", "= 2", false, e2, eq},
		{"41", "if\t \t( \tcondition\t )\t{", "if ( condition ) {", "if (newCondition) {", false, "if (newCondition) {", eq},
		{"42", "const msg = `Hello\\tWorld`;", "const msg = `Hello\\tWorld`;", "x", false, "x", eq},
		{"43", "func a() {\n  if x {\n  }\n  return mainLayout\n}\nfunc b() {\n  if y {\n  }\n  return mainLayout\n}", "  }\n  return mainLayout", "x", false, e2, eq},
		{"44", layout, layoutOld, layoutNew, false, layoutNew, e1},
		{"45", hundred, lines("line %d", 25, 75), lines("updated line %d", 25, 75), false, lines("line %d", 0, 25) + "\n" + lines("updated line %d", 25, 75) + "\n" + lines("line %d", 75, 100), eq},
		{"46", layout, layoutOld, layoutNew, false, layoutNew, e1},
		{"47", long, "function test() {\n  // something\n  return result\n}", "a\nb\nc", false, hundred + "\na\nb\nc", e1},
	})
	// 16, 32 and 39 are about equal or empty texts, which the caller refuses.
	if _, err := Find("", "", Options{}); err != ErrEmpty {
		t.Errorf("an empty text: %v", err)
	}
}

// TestSafe has what only the safe profile cares for.
func TestSafe(t *testing.T) {
	block := "func f() {\n\tone()\n\ttwo()\n\tthree()\n\tfour()\n}\n"
	short := "func f() {\n\tone()\n}\n"
	checkGolden(t, []golden{
		{"EB09", "some text\n", "other words\n", "N", false, e1, e1},
		{"EB10", block, "func f() {\n\tsomething else here\n}", "N", false, "N\n", e1},
		{"EB11", short, "func f() {\n\tunrelated\n}", "N", false, "N\n", e1},
		{"stale number", "a {\n  timeout: 30,\n  x: 1,\n}\n", "a {\n  timeout: 20,\n  x: 1,\n}", "N", false, "N\n", e1},
		{"elided", "a {\n  b()\n  c()\n}\n", "a {\n  ...\n}", "N", false, "N\n", e1},
		{"elided, same size", "a {\n  }\n}\n", "a {\n  ...\n}", "N", false, "N\n", e1},
		{"dropped operator", "a {\n  x -= 1\n}\n", "a {\n  x += 1\n}", "N", false, "N\n", e1},
		{"quotes and commas", "a {\n  say('x', 1)\n  b\n}\n", "a {\n  say(\"x\", 1);\n  b\n}", "N", false, "N\n", "N\n"},
		{"typographic quotes", "a:\n“it’s here”\nb\n", "a:\n\"it's here\"\nb", "N", false, "N\n", "N\n"},
		{"a blank line less", "a {\n  b()\n\n  c()\n}\n", "a {\n  b()\n  c()\n}", "N", false, "N\n", "N\n"},
		{"a blank line more", "a {\n  b()\n  c()\n}\n", "a {\n  b()\n\n  c()\n}", "N", false, "N\n", "N\n"},
		{"too many blank lines", "a {\n  b()\n\n\n\n  c()\n}\n", "a {\n  b()\n  c()\n}", "N", false, "N\n", e1},
		{"inner brace first", "f {\n  if x {\n    y('a')\n  }\n  z()\n}\n", "f {\n  if x {\n    y(\"a\")\n  }\n  z()\n}", "N", false, "N\n  z()\n}\n", "N\n"},
		{"a line not quoted", "f {\n  a()\n  b()\n  c()\n  d()\n}\n", "f {\n  a()\n  c();\n  d()\n}", "N", false, "N\n", e1},
		{"two quoted blocks", "f {\n  a('x')\n}\nf {\n  a('x')\n}\n", "f {\n  a(\"x\")\n}", "N", false, e2, e2},
		{"two quoted blocks, all", "f {\n  a('x')\n}\nf {\n  a('x')\n}\n", "f {\n  a(\"x\")\n}", "N", true, "N\nN\n", "N\nN\n"},
		{"inside a word", "valid = 1\n", "  id  ", "N", false, "valN = 1\n", e1},
		{"inside a word, blanks", "xab  cdx\n", "ab cd", "N", false, "xNx\n", e1},
		{"no word", "f(x)\n", " ) ", "N", false, "f(xN\n", e1},
		{"a line is no part", "x{a}\n\tfoo()\n", "\t}\n\tfoo()\n", "N", false, "x{aN\n", e1},
		{"no blank there", "f(x.y)\n", " x.y", "N", false, "f(N)\n", e1},
		{"no blank after it", "f(x.y)\n", "f(x.y ", "N", false, "N)\n", e1},
		{"part twice in a line", "f(a,  b) + f(a,   b)\n", "a, b", "N", false, "f(N) + f(a,   b)\n", e2},
		{"part twice in a line, all", "f(a,  b) + f(a,   b)\n", "a, b", "N", true, "f(N) + f(a,   b)\n", e2},
		{"also elsewhere", "foo()\nx = foo()\n", "foo() ", "N", false, e2, e2},
		{"grown", "a\nb\nc\nd\ne\n", `a\nb\nc\nd\ne`, "N", false, "N\n", e3},
		{"wide", "if a {\n" + strings.Repeat(" ", 700) + "b\n  c" + strings.Repeat(" ", 700) + "d\n", "if a {\nb\nc d", "N", false, "N\n", e3},
		{"blank edges are one place", "x\n\n  foo  y\n\nz\n", "\nfoo y\n", "N", false, "x\n\nN\n\nz\n", "x\n\n  N\n\nz\n"},
		{"exact comes first", "  x\nx\n", "  x\n", "N\n", false, "N\nx\n", eq},
		{"several are never loosened", "x\n  x\ny x\n", "x", "N", false, "x\nN\ny x\n", e2},
	})
}

// TestReindented has edits whose lines were quoted with another indentation, as
// gemini-cli, aider and Roo Code test them, and what can not be told.
func TestReindented(t *testing.T) {
	for _, tt := range []struct{ name, content, old, new, want string }{
		{"a block without its indentation", "    if (a) {\n        foo();\n    }\n", "if (a) {\n    foo();\n}", "if (a) {\n    bar();\n}", "    if (a) {\n        bar();\n    }\n"},
		{"a line more", "class A:\n    def f(self):\n        return 1\n", "def f(self):\n    return 1", "def f(self):\n    x = 2\n\n    return x", "class A:\n    def f(self):\n        x = 2\n\n        return x\n"},
		{"a level more", "    if a:\n        b()\n", "if a:\n    b()\n", "if a:\n    if c:\n        b()\n", "    if a:\n        if c:\n            b()\n"},
		{"some of the indentation", "    one\n    two\n    three\n", " one\n two\n", " 1\n     2\n", "    1\n        2\n    three\n"},
		{"the final line feed is the file's", "    one\n    two\n    three\n", "one\ntwo\n", "1\n2\n", "    1\n    2\n    three\n"},
		{"a final line feed in the new text alone", "    one\n    two\n    three\n", "one\ntwo", "1\n2\n", "    1\n    2\n    three\n"},
		{"a final line feed in the old text alone", "    one\n    two\n    three\n", "one\ntwo\n", "1\n2", "    1\n    2\n    three\n"},
		{"no line feed at the end", "    one\n    two", "one\ntwo\n", "1\n2\n", "    1\n    2"},
		{"lines taken away", "x\n    one\n    two\ny\n", "one\ntwo\n", "", "x\ny\n"},
		{"varied", "\n    a\n    b\n        c\n    d\n", "b\n    c\n", "B\n    C\n", "\n    a\n    B\n        C\n    d\n"},
		{"too much of it", "class A {\n    f() {\n        x = 0;\n    }\n}", "    class A {\n        f() {\n            x = 0;\n        }\n    }", "    class A {\n        f() {\n            x = 1;\n            y();\n        }\n    }",
			"class A {\n    f() {\n        x = 1;\n        y();\n    }\n}"},
		{"tabs", "\tfunction f() {\n\t\treturn true;\n\t}", "function f() {\n\treturn true;\n}", "function f() {\n\t// why\n\treturn false;\n}", "\tfunction f() {\n\t\t// why\n\t\treturn false;\n\t}"},
		{"tabs and blanks", "\tclass E {\n\t    f() {\n\t    }\n\t}", "class E {\n    f() {\n    }\n}", "class E {\n    g() {\n    }\n}", "\tclass E {\n\t    g() {\n\t    }\n\t}"},
		{"blanks for tabs", "\tif a {\n\t\tb()\n\t}\n", "    if a {\n        b()\n    }\n", "    if c {\n        b()\n        d()\n    }\n", "\tif c {\n\t\tb()\n\t\td()\n\t}\n"},
		{"a blank line stays blank", "    a()\n\n    b()\n", "a()\n\nb()", "a()\n\nc()", "    a()\n\n    c()\n"},
		{"a blank line before", "  // c\n\n  function f() {}", "\nfunction f() {}", "\nfunction g() {}", "  // c\n\n  function g() {}"},
		{"new lines that are indented already", "  // c\n\n  function f() {}", "\nfunction f() {}", "\n  function g() {}", "  // c\n\n  function g() {}"},
		{"a line of other blanks", "def a():\n    x  =  1\n    z\n", "x = 1", "x = 1\ny = 2", "def a():\n    x = 1\n    y = 2\n    z\n"},
		{"blank lines around that are not there", "a\n  foo  y\nz\n", "\n\nfoo y\n\n", "\n\nbar\nbaz\n\n", "a\n  bar\n  baz\nz\n"},
		{"quotes", "  f(a, {\n    b: 'c'\n  })\n", "f(a, {\n  b: \"c\"\n})", "f(z, {\n  b: 'c',\n  d\n})", "  f(z, {\n    b: 'c',\n    d\n  })\n"},
		{"a part of a line", "x = foo( a )  # c\n", "foo( a  )", "bar()", "x = bar()  # c\n"},
		{"uneven", "  hello\n    world\n", "hello\nworld", "goodbye\nmoon", e1},
		{"one line otherwise", "    f() {\n        if x {\n            y()\n        }\n    }", "    f() {\n        if x {\n        y()\n        }\n    }", "    f() {\n        y()\n    }", e1},
		{"nothing to lose", "class E {\n    a()\n}\n", "        a()", "a()\nb()", e1},
		{"one line alone, and less of it", "\tif x:\n\t\ta()\n", "\t\t\ta()", "\t\t\tif y:\n\t\t\tb()\n\t\ta()", e1},
		{"one line alone, and more of it", "\tif x:\n\t\ta()\n", "\t\t\ta()", "\t\t\tif y:\n\t\t\t\tb()", "\tif x:\n\t\tif y:\n\t\t\tb()\n"},
		{"the first line too deep", "  if x:\n    a()\n    if y:\n      b()\n", "        a()\n    if y:\n      b()", "        c()\n    if y:\n      d()", "  if x:\n    c()\n    if y:\n      d()\n"},
		{"the first line too deep, and a line that is so too", "  if x:\n    a()\n    if y:\n      b()\n", "        a()\n    if y:\n      b()", "        a()\n    if y:\n      if z:\n        b()", e1},
		{"deeper levels and a last line further out", "def f():\n  for x in y:\n      a()\n      b()\n  c()\n", "    a()\n    b()\nc()", "    d()\n    b()\n", "def f():\n  for x in y:\n      d()\n      b()\n"},
		{"a level that was not quoted", "\tif a {\n\t\tb()\n\t}\n", "    if a {\n        b()\n    }", "    if a {\n        if c {\n            b()\n        }\n    }", e1},
	} {
		got, m, err := apply(tt.content, tt.old, tt.new, Options{})
		if err == errNone {
			got = e1
		}
		if got != tt.want {
			t.Errorf("%s: got %q by %q (%v), want %q", tt.name, got, m.Strategy, err, tt.want)
		}
	}
	m, err := Find("  hello\n    world\n", "hello\nworld", Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Edits("x")
	if miss, ok := err.(*Missing); !ok || miss.Start != 1 || miss.End != 2 || !strings.Contains(miss.Help(), "do not all differ from oldString in the same way") {
		t.Errorf("the error is %v", err)
	}
}

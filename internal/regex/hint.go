package regex

import (
	"strings"
	"unicode/utf8"
)

// hint returns what to write instead of what an error is about. Reasons are
// ripgrep's; the advice is for those who write for other dialects or meant
// a character that has a meaning.
func hint(e *SyntaxError) string {
	at := e.Pattern[e.Pos:]
	switch e.Reason {
	case "repetition quantifier expects a valid decimal", "decimal literal invalid", "unclosed counted repetition":
		return braceHint(at)
	case "repetition operator missing expression":
		return missingHint(at)
	case "unrecognized escape sequence":
		return escapeHint(at)
	case "unrecognized flag":
		return flagHint(at)
	case "unclosed character class", "invalid character class range, the start must be <= the end",
		"invalid range boundary, must be a literal", "invalid escape sequence found in character class":
		return classHint(e.Reason, at)
	case "unclosed group":
		return `escape "(" as "\(" to search for a parenthesis, or close the group with ")"`
	case "unopened group":
		return `escape ")" as "\)" to search for a parenthesis`
	case "look-around, including look-ahead and look-behind, is not supported":
		return lookHint(at)
	case "backreferences are not supported":
		if strings.HasPrefix(at, `\0`) {
			return `write the character NUL as "\x00"`
		}
		return `list what may repeat as alternatives, such as (aa|bb), or search for the first part and compare the lines found`
	case `the literal "\n" is not allowed in a regex`:
		return `a match never goes over the end of a line: search for the text of one line, with ^ and $ for its start and end`
	}
	return otherHint(e.Reason)
}

// otherHint returns the advice that does not depend on the place.
func otherHint(reason string) string {
	switch reason {
	case "compiled regex exceeds size limit of 104857600":
		return `use smaller counts, or "*" and "+" instead of counts`
	case noProperty, noValue:
		return `known are general categories (\p{L}, \p{Lu}), scripts (\p{Greek}, \p{Script=Greek}) and properties such as \p{Alphabetic}`
	case "Unicode not allowed here":
		return `leave out (?-u), which makes a pattern one of bytes`
	case "the flag R does not go with ^ and $ here":
		return `leave out the flag R and write "\r?$" for an end of line that may be \r\n`
	case "incomplete escape sequence, reached end of pattern prematurely":
		return `write "\\" to search for a backslash`
	case "invalid hexadecimal digit", "hexadecimal literal empty", "hexadecimal literal is not a Unicode scalar value":
		return `write a character by its number as "\x{1F600}" and a backslash as "\\"`
	case "invalid capture group character", "empty capture group name", "unclosed capture group name":
		return `a group needs no name: write "(…)", or "\(" to search for a parenthesis`
	case "duplicate capture group name":
		return `a group needs no name: write "(…)"`
	}
	if strings.HasPrefix(reason, "exceed the maximum number of nested") {
		return `leave out groups that nothing is repeated in`
	}
	return ""
}

// braceHint is about a brace that is no count. It may stand a little before
// the place of the error.
func braceHint(at string) string {
	if strings.HasPrefix(at, ",") && strings.Contains(at, "}") {
		return `write "{0,n}" for up to n times, or escape "{" as "\{" to search for a brace`
	}
	return `escape "{" as "\{" to search for a brace`
}

// missingHint is about a repetition of nothing.
func missingHint(at string) string {
	c, _ := utf8.DecodeRuneInString(at)
	switch {
	case strings.HasPrefix(at, "?)"):
		return `escape "?" as "\?" to search for a question mark`
	case c == '{':
		return `escape "{" as "\{" to search for a brace`
	case c == '*':
		return `escape "*" as "\*" to search for a star; "any text" is ".*"`
	}
	return `escape "` + string(c) + `" as "\` + string(c) + `" to search for it`
}

// escapeHint is about an escape that other dialects have.
func escapeHint(at string) string {
	c := byte(' ')
	if len(at) > 1 {
		c = at[1]
	}
	switch c {
	case 'Z':
		return `write "\z" for the end of the text, "$" for that of a line`
	case 'h':
		return `write "[ \t]" for blanks`
	case 'H':
		return `write "[^ \t]" for what is no blank`
	case 'R':
		return `leave it out: a match never goes over the end of a line; "$" is the end of a line`
	case 'Q', 'E':
		return `"\Q…\E" is not known: put a "\" in front of each special character, or search for the text as it is (literal)`
	case 'K', 'G':
		return `leave it out: whole lines are found, wherever in them the match begins`
	case 'N':
		return `write "." for any character but the end of a line`
	case 'X', 'C':
		return `write "." for a character`
	case 'k', 'g':
		return `references to groups are not supported: list what may repeat as alternatives, such as (aa|bb)`
	case 'e':
		return `write "\x1B" for the escape character`
	case 'c':
		return `write a control character by its number, such as "\x01"`
	case 'm', 'M', 'y', 'Y':
		return `write "\b" for the edge of a word`
	}
	return `write "\\" to search for a backslash`
}

// flagHint is about groups that other dialects have.
func flagHint(at string) string {
	c, _ := utf8.DecodeRuneInString(at)
	switch c {
	case '>':
		return `write "(?:…)": there is no backtracking that an atomic group could stop`
	case '#':
		return `leave the comment out`
	case '|':
		return `write "(?:…|…)": groups are not numbered here`
	case '\'':
		return `write "(?<name>…)" for a named group, or only "(…)"`
	case 'P':
		return `references to groups are not supported: list what may repeat as alternatives, such as (aa|bb)`
	case '&', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '+':
		return `recursion is not supported: write the levels out, or search for a part`
	case '(':
		return `conditions are not supported: list the cases as alternatives, such as (aa|bb)`
	}
	return `the flags are i, m, s, U, u and x; escape "(" and "?" as "\(" and "\?" to search for them`
}

// lookHint is about look-around.
func lookHint(at string) string {
	const edge = `; for the edge of a word use "\b"`
	switch {
	case strings.HasPrefix(at, "(?="), strings.HasPrefix(at, "(?<="):
		return `write what stands around the text as part of the pattern: whole lines are found anyway` + edge
	}
	return `search for the text without this and pass over the lines that do not fit; for "not this character" use "[^x]"` + edge
}

// classHint is about brackets.
func classHint(reason, at string) string {
	switch {
	case strings.HasPrefix(reason, "unclosed"):
		return `escape "[" as "\[" to search for a bracket, also inside of brackets`
	case strings.HasPrefix(at, `\b`):
		return `write "\x08" for a backspace; the edge of a word cannot stand in brackets`
	case strings.HasPrefix(reason, "invalid escape"):
		return `write it outside of the brackets, as an alternative: (…|[…])`
	}
	return `escape "-" as "\-" inside of brackets to search for a hyphen`
}

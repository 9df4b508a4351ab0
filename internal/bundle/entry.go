package bundle

import (
	"encoding/json"
	"strings"
)

// The entry must not look like a CommonJS module to esbuild, as it would wrap
// it, so it says exports by a name of the same length that is put right later.
const (
	exportsMarker = "exp$rts"
	exportsName   = "exports"
)

// entrySource is the module all files hang on: it gives each a function that
// loads it and catches what it throws.
func entrySource(files []string) string {
	var b strings.Builder
	b.WriteString(exportsMarker + ".files = [\n")
	for _, f := range files {
		b.WriteString("{ file: " + quote(f) + ", load: async () => { try { return { exports: await import(" + quote("./"+f) + ") }; } catch (error) { return { error }; } } },\n")
	}
	b.WriteString("];\n")
	return b.String()
}

// quote writes a text as a JavaScript string. JSON's escapes are all
// JavaScript's, and Go's encoder also escapes the two line separators that
// older engines do not allow.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil { // a string always has a JSON form
		panic(err)
	}
	return string(b)
}

// throwing returns a module that fails when it is loaded, in place of one that is not available. It
// is CommonJS so that any name may be imported from it.
func throwing(kind, text string) string {
	return "module.exports = {}; throw Object.assign(new " + kind + "(" + quote(text) + "), { code: \"ERR_MODULE\" });\n"
}

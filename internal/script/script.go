package script

import (
	"embed"
	"encoding/json"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

//go:embed js/*.js zod.js
var files embed.FS

// Prelude is the script an engine loads before all others.
func Prelude() string {
	return read("js/prelude.js") + Parts("helve:host", "globals") + `__helve.require("globals");` + "\n"
}

// Modules gives the sources of the modules that programs may import, by name: references to those
// an engine has.
func Modules() map[string]string {
	all := map[string]string{}
	for name := range sources() {
		if public(name) {
			all[name] = reference(name)
		}
	}
	for alias, name := range aliases() {
		all[alias] = reference(name)
	}
	return all
}

func reference(name string) string {
	return `module.exports = __helve.require("` + name + `");` + "\n"
}

// Source returns the text of a module, with which hosts answer "module.source".
func Source(name string) (string, bool) {
	file, ok := sources()[name]
	if !ok {
		return "", false
	}
	return read(file), true
}

// Uses finds the modules that a program made with [Modules] is likely to need: those it refers to
// and those behind the globals it names. A missed one is only slower to load.
func Uses(program string) []string {
	found := map[string]bool{}
	for _, m := range regexp.MustCompile(`__helve\.require\("([^"]+)"\)`).FindAllStringSubmatch(program, -1) {
		found[m[1]] = true
	}
	words := map[string]bool{}
	for _, w := range regexp.MustCompile(`[A-Za-z_$][\w$]*`).FindAllString(program, -1) {
		words[w] = true
	}
	for global, module := range globals() {
		if words[global] {
			found[module] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// Parts is a script that gives an engine modules and those they begin with, to be loaded after
// [Prelude].
func Parts(names ...string) string {
	all := sources()
	given := map[string]bool{}
	var b strings.Builder
	b.WriteString("__helve.define({\n")
	var add func(name string)
	add = func(name string) {
		file, ok := all[name]
		if !ok || given[name] {
			return
		}
		given[name] = true
		text := read(file)
		quoted, err := json.Marshal(name)
		if err != nil { // a string always has a JSON form
			panic(err)
		}
		b.Write(quoted)
		b.WriteString(": function (module, exports, require) {" + text + "\n},\n")
		for _, m := range regexp.MustCompile(`(?m)^const .*= require\("([^"]+)"\)`).FindAllStringSubmatch(text, -1) {
			add(strings.TrimPrefix(m[1], "node:"))
		}
	}
	for _, name := range names {
		add(name)
	}
	b.WriteString("});\n")
	return b.String()
}

// globals returns the module of each global, from the lines of globals.js that declare it.
func globals() map[string]string {
	all := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^  (\w+): \["([^"]+)"`).FindAllStringSubmatch(read("js/globals.js"), -1) {
		all[m[1]] = m[2]
	}
	return all
}

// sources are the files of all modules.
func sources() map[string]string {
	entries, err := files.ReadDir("js")
	if err != nil { // it is part of the program
		panic(err)
	}
	all := map[string]string{"zod": "zod.js"}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".js"); ok && name != "prelude" {
			all[moduleName(name)] = path.Join("js", e.Name())
		}
	}
	return all
}

// moduleName returns the module name of a file: helve-host is helve:host, bun-sqlite is bun:sqlite,
// fs-promises is fs/promises.
func moduleName(file string) string {
	for _, space := range []string{"helve", "bun"} {
		if rest, ok := strings.CutPrefix(file, space+"-"); ok {
			return space + ":" + rest
		}
	}
	return strings.Replace(file, "-", "/", 1)
}

// aliases are further names of modules. Those with "node:" need none.
func aliases() map[string]string {
	return map[string]string{"sys": "util", "zod/v4": "zod", "zod/v3": "zod", "zod/mini": "zod", "zod/v4-mini": "zod", "zod/v4/mini": "zod", "zod/v4/core": "zod"}
}

// public reports whether programs may import a module by its name; the others are internal.
func public(name string) bool {
	switch name {
	case "assert", "assert/strict", "async_hooks", "buffer", "bun", "bun:sqlite", "child_process", "console", "constants", "crypto", "diagnostics_channel",
		"events", "fs", "fs/promises", "http", "https", "module", "net", "os", "path", "path/posix", "path/win32", "perf_hooks", "process", "punycode",
		"querystring", "readline", "readline/promises", "stream", "stream/consumers", "stream/promises", "stream/web",
		"string_decoder", "timers", "timers/promises", "tty", "url", "util", "util/types", "zlib", "zod", "helve:data": // the last is what the bundler makes calls of
		return true
	}
	return false
}

func read(name string) string {
	text, err := files.ReadFile(name)
	if err != nil { // it is part of the program
		panic(err)
	}
	return string(text)
}

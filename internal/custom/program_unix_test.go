//go:build unix

package custom

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/bundle"
	"github.com/helve-dev/helve/internal/script"
)

// What the worker is there for: WebAssembly, servers, and packages as they are installed, of both
// kinds.
func TestBeyondTheEngine(t *testing.T) {
	each(t, func(t *testing.T, k *kit) {
		k.write("node_modules/modern/package.json", `{"name":"modern","version":"1.0.0","type":"module","exports":{"import":"./main.js"}}`)
		k.write("node_modules/modern/main.js", `import { readFileSync } from "node:fs"; export const text = readFileSync(new URL("./text.txt", import.meta.url), "utf8"); export default "m"`)
		k.write("node_modules/modern/text.txt", "from a file of the package")
		k.write("node_modules/classic/package.json", `{"name":"classic","version":"1.0.0"}`)
		k.write("node_modules/classic/index.js", `const name = "part"; module.exports = require("./" + name)`)
		k.write("node_modules/classic/part.js", `exports.part = __filename`)
		k.write("tools/beyond.ts", `
			import { text } from "modern"
			import { part } from "classic"
			import { createServer } from "node:http"
			export default { description: "d", args: {}, async execute() {
				const module = await WebAssembly.instantiate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 127, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10, 6, 1, 4, 0, 65, 42, 11]))
				const server = createServer((request, response) => response.end("served"))
				await new Promise((done) => server.listen(0, "127.0.0.1", done))
				const answer = await (await fetch("http://127.0.0.1:" + server.address().port)).text()
				server.close()
				const late = await import("modern")
				return [text, part, module.instance.exports.f(), answer, late.default].join("; ")
			} }`)
		w := k.start("tools/beyond.ts")
		want := "from a file of the package; " + filepath.Join(k.root, "node_modules/classic/part.js") + "; 42; served; m"
		if got := k.run(w, "tools/beyond.ts", "{}").Output; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

// A default import is the default export of packages of modules and of what was compiled from one,
// and otherwise all of a package, also for files that are of a package of modules themselves. What
// such a package exports can be passed on.
func TestDefaultImports(t *testing.T) {
	each(t, func(t *testing.T, k *kit) {
		k.write("package.json", `{"type":"module"}`)
		k.write("node_modules/modern/package.json", `{"name":"modern","type":"module","exports":{"import":"./main.js"}}`)
		k.write("node_modules/modern/main.js", `export const part = "p"; export default () => "modern"`)
		k.write("node_modules/bare/package.json", `{"name":"bare","type":"module","exports":"./main.js"}`)
		k.write("node_modules/bare/main.js", `export const part = () => "bare"`)
		k.write("node_modules/made/package.json", `{"name":"made"}`)
		k.write("node_modules/made/index.js", `Object.defineProperty(exports, "__esModule", { value: true }); exports.default = () => "made"; exports.part = "q"`)
		k.write("node_modules/classic/package.json", `{"name":"classic"}`)
		k.write("node_modules/classic/index.js", `module.exports = () => "classic"`)
		k.write("node_modules/umd/index.js", `Object.defineProperty(exports, "__esModule", { value: true }); exports.parse = () => "umd"`)
		k.write("node_modules/hooks/package.json", `{"name":"hooks","type":"module","exports":"./main.js"}`)
		k.write("node_modules/hooks/main.js", `export const Hooks = async () => ({ "chat.message": async () => {} }); export default Hooks`)
		k.write("tools/d.ts", `
			import modern, { part } from "modern"
			import made, * as all from "made"
			import classic from "classic"
			import umd from "umd"
			import * as bare from "bare"
			import fs, { readFileSync } from "node:fs"
			export default { description: "d", args: {}, execute: async () =>
				[modern(), part, made(), all.part, classic(), umd.parse(), (bare.default ?? bare.part)(), fs.readFileSync === readFileSync].join() }`)
		k.write("plugins/p.ts", `import "node:dns"; export * from "hooks"; export { default } from "hooks"`)
		w := k.start("tools/d.ts", "plugins/p.ts")
		if got, want := k.run(w, "tools/d.ts", "{}").Output, "modern,p,made,q,classic,umd,bare,true"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		told, err := w.Plugins(t.Context(), script.PluginInput{}, script.PluginEntry{File: "plugins/p.ts"})
		if err != nil || told[0].Error != nil || len(told[0].Plugins) != 1 {
			t.Errorf("%+v %v", told, err)
		}
	})
}

// What is only imported for its types is not there when a file runs, and need not be.
func TestTypeImports(t *testing.T) {
	each(t, func(t *testing.T, k *kit) {
		k.write("lib/types.ts", "export interface Kind { name: string }")
		k.write("tools/t.ts", `
			import { Kind } from "../lib/types"
			import { Session } from "only-types"
			export default { description: "d", args: {}, execute: async (args: Kind, session: Session) => "t" }`)
		if got := k.run(k.start("tools/t.ts"), "tools/t.ts", "{}").Output; got != "t" {
			t.Error(got)
		}
	})
}

// A zod that is installed wins over ours if it can describe schemas.
func TestInstalledZod(t *testing.T) {
	modules := os.Getenv("HELVE_ZOD")
	if modules == "" {
		t.Skip("HELVE_ZOD does not name a node_modules with zod 4.1.8")
	}
	if filepath.Base(modules) == "zod" {
		modules = filepath.Dir(modules)
	}
	each(t, func(t *testing.T, k *kit) {
		k.write("tools/z.ts", `import { z } from "zod"; import { tool } from "@opencode-ai/plugin"
			export default tool({ description: "d", args: { a: z.templateLiteral(["x", z.number()]), b: tool.schema.string() }, execute: async () => String(tool.schema.string === z.string || "two") })`)
		if err := os.Symlink(modules, filepath.Join(k.root, "node_modules")); err != nil {
			t.Fatal(err)
		}
		w := k.start("tools/z.ts")
		told, err := w.Load(t.Context())
		if err != nil || told[0].Error != nil || len(told[0].Tools) != 1 || told[0].Tools[0].Error != nil {
			t.Fatalf("%+v %v", told, err)
		}
		if schema := string(told[0].Tools[0].Schema); !strings.Contains(schema, `"pattern"`) || !strings.Contains(schema, `"b":{"type":"string"}`) || told[0].Tools[0].Raw {
			t.Error(schema)
		}
	})
}

// Copies of zod that packages bring keep their tools, and decide themselves what fits: one by hand
// in the form of zod 3, and real ones.
func TestForeignZod(t *testing.T) {
	each(t, func(t *testing.T, k *kit) {
		k.write("tools/f.ts", "") // the folder is there before the link in it
		text := `const copy = (typeName) => ({ _def: { typeName, checks: [] }, safeParse: (v) => typeof v === "string" ? { success: true } : { success: false, error: { issues: [{ code: "own", path: [], message: "no text" }] } } })
			export const hand = { description: "d", args: { a: copy("ZodString") }, execute: async (args) => args.a }`
		names := []string{"hand"}
		if library := os.Getenv("HELVE_ZOD"); library == "" {
			t.Log("HELVE_ZOD does not name a folder with zod 4.1.8: real copies are left out")
		} else if err := os.Symlink(filepath.Dir(library), filepath.Join(k.root, "node_modules")); err != nil {
			t.Fatal(err)
		} else {
			for name, module := range map[string]string{"three": "zod3", "four": "zod3/v4", "mini": "zod3/v4-mini"} {
				text += "\nimport * as " + name + "_ from '" + module + "'\nexport const " + name + " = { description: 'd', args: { a: " + name + "_.string() }, execute: async (args) => args.a }"
				names = append(names, name)
			}
		}
		k.write("tools/f.ts", text)
		w := k.start("tools/f.ts")
		told, err := w.Load(t.Context())
		if err != nil || told[0].Error != nil || len(told[0].Tools) != len(names) {
			t.Fatalf("%+v %v", told, err)
		}
		for _, tool := range told[0].Tools {
			if schema := string(tool.Schema); tool.Error != nil || !strings.Contains(schema, `"properties":{"a":{"type":"string"}},"required":["a"]`) {
				t.Errorf("%s: %s %v", tool.ID, schema, tool.Error)
			}
			c := call("tools/f.ts", `{"a":"x"}`)
			c.Export = tool.Export
			if out, err := w.Execute(t.Context(), c); err != nil || out.Output != "x" {
				t.Errorf("%s: %q %v", tool.ID, out.Output, err)
			}
			c.Args = []byte(`{"a":1}`)
			if _, err := w.Execute(t.Context(), c); err == nil || !strings.Contains(err.Error(), "called with invalid arguments") {
				t.Errorf("%s: %v", tool.ID, err)
			}
		}
	})
}

// node says what is bun's, and of what is not its folder's nothing is read for it.
func TestOnlyNode(t *testing.T) {
	if _, err := lookPath("node"); err != nil {
		t.Skip("node is not here")
	}
	k := newKit(t, "node", true)
	if err := os.WriteFile(filepath.Join(k.dir, "beyond.json"), []byte(`"secret"`), 0o600); err != nil {
		t.Fatal(err)
	}
	k.write("beside.json", `{"a": 1}`)
	if err := os.Symlink(filepath.Join(k.dir, "beyond.json"), filepath.Join(k.root, "linked.json")); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"tools/global.ts":  `export default { description: "d", args: {}, execute: async () => Bun.version }`,
		"tools/module.ts":  `import { Database } from "bun:sqlite"; export default { description: "d", args: {}, execute: async () => typeof Database }`,
		"tools/outside.ts": `import x from "../../beyond.json"; export default { description: "d", args: {}, execute: async () => x }`,
		"tools/linked.ts":  `import x from "../linked.json"; export default { description: "d", args: {}, execute: async () => x }`,
		"tools/inside.ts":  "#!/usr/bin/env bun\nimport x from \"../beside.json\"; export default { description: \"d\", args: {}, execute: async () => x.a + __filename + import.meta.url + __dirname + import.meta.main + typeof require + typeof fs }",
	}
	var names []string
	for name, text := range files {
		names = append(names, name)
		k.write(name, text)
	}
	w := k.start(names...)
	want := map[string]string{
		"tools/global.ts": "Bun is not defined (node runs this file, and it needs bun: install bun)", "tools/module.ts": "bun:sqlite is a part of Bun",
		"tools/outside.ts": "beyond.json is outside of the folder", "tools/linked.ts": "beyond.json is outside of the folder",
		"tools/inside.ts": "1" + k.root + "/tools/inside.tsfile://" + k.root + "/tools/inside.ts" + k.root + "/toolsfalsefunctionundefined",
	}
	for name, text := range want {
		out, err := w.Execute(t.Context(), call(name, "{}"))
		got := out.Output
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, text) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// The folder's own program is taken as it is, in the form of package bundle.
func TestGivenProgram(t *testing.T) {
	if _, err := lookPath("node"); err != nil {
		t.Skip("node is not here")
	}
	k := newKit(t, "node", true)
	k.write("tools/given.ts", `import { z } from "zod"; export default { description: "d", args: { a: z.string() }, execute: async (args: { a: string }) => args.a + typeof WebAssembly }`)
	virtual := map[string]string{"zod": `const name = "zod"; module.exports = require(name)`}
	files := []string{"tools/given.ts"}
	w, err := StartWorker(t.Context(), k.opt, WorkerFolder{Root: k.root, Files: files, Bundle: func(ctx context.Context) (string, string, error) {
		made, err := bundle.Build(ctx, bundle.Options{Root: k.root, Files: files, Virtual: virtual})
		if err != nil {
			return "", "", err
		}
		return made.Code, k.root, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	out, err := w.Execute(t.Context(), script.ToolCall{File: "tools/given.ts", Export: "default", Args: []byte(`{"a":"x"}`)})
	if err != nil || out.Output != "xobject" {
		t.Error(out.Output, err)
	}
}

const addon = `
#include <stddef.h>
typedef struct napi_env__* napi_env; typedef struct napi_value__* napi_value;
extern int napi_create_string_utf8(napi_env, const char*, size_t, napi_value*);
extern int napi_set_named_property(napi_env, napi_value, const char*, napi_value);
napi_value napi_register_module_v1(napi_env env, napi_value exports) {
	napi_value text;
	napi_create_string_utf8(env, "native", 6, &text);
	napi_set_named_property(env, exports, "kind", text);
	return exports;
}
`

// A package with a native part runs in the sandbox.
func TestNativeAddon(t *testing.T) {
	compiler, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("there is no gcc to make an add-on with")
	}
	for _, name := range []string{"node", "bun"} {
		t.Run(name, func(t *testing.T) {
			if _, err := lookPath(name); err != nil {
				t.Skipf("%s is not here (bun is where HELVE_BUN says)", name)
			}
			k := newKit(t, name, false)
			if lacks := k.opt.Shell.Lacks(); lacks != "" {
				t.Skip(lacks)
			}
			k.write("node_modules/native/package.json", `{"name":"native","version":"1.0.0"}`)
			k.write("node_modules/native/index.js", `module.exports = require("./build/native.node")`)
			k.write("node_modules/native/build/native.c", addon)
			build := filepath.Join(k.root, "node_modules/native/build")
			if said, err := exec.Command(compiler, "-shared", "-fPIC", "-Wl,--unresolved-symbols=ignore-all", "-o", filepath.Join(build, "native.node"), filepath.Join(build, "native.c")).CombinedOutput(); err != nil {
				t.Skipf("no add-on can be made here: %v: %s", err, said)
			}
			k.write("tools/native.ts", `import { kind } from "native"; export default { description: "d", args: {}, execute: async () => kind }`)
			w := k.start("tools/native.ts")
			if got := k.run(w, "tools/native.ts", "{}").Output; got != "native" {
				t.Error(got)
			}
		})
	}
}

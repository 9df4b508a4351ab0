package script_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/bundle"
	"github.com/helve-dev/helve/internal/script"
)

// sixTools is a file of six tools with the arguments tools usually have.
func sixTools() string {
	var b strings.Builder
	b.WriteString("-- tools/six.ts --\nimport { tool } from \"@opencode-ai/plugin\"\nconst z = tool.schema\n")
	for i := range 6 {
		b.WriteString("export const t" + strconv.Itoa(i) + ` = tool({
  description: "A tool",
  args: { path: z.string().describe("Where"), mode: z.enum(["a", "b"]).default("a"), limit: z.number().int().min(1).optional() },
  execute: async ({ path }) => path,
})
`)
	}
	return b.String()
}

// BenchmarkDriverBoot makes an engine with everything compiled before, loads six tools and closes
// it.
func BenchmarkDriverBoot(b *testing.B) {
	root := folderOf(b, sixTools())
	virtual := script.Modules()
	for name, source := range script.PluginModules() {
		virtual[name] = source
	}
	r, err := bundle.Build(b.Context(), bundle.Options{Root: root, Files: configFiles(b, root), Virtual: virtual})
	if err != nil {
		b.Fatal(err)
	}
	var parts []script.Code
	for _, s := range []struct{ name, source string }{
		{"prelude.js", script.Prelude()}, {"driver.js", script.DriverPart()},
		{"parts.js", script.Parts(script.Uses(r.Code)...)}, {script.ProgramName, script.Program(r.Code)},
	} {
		code, err := script.Compile(s.name, s.source)
		if err != nil {
			b.Fatal(err)
		}
		parts = append(parts, script.Code{Bytecode: code})
	}
	for b.Loop() {
		v, err := script.NewVM(script.VMOptions{Host: &recorder{}})
		if err != nil {
			b.Fatal(err)
		}
		for _, p := range parts {
			if err := v.Load(b.Context(), script.ProgramName, p); err != nil {
				b.Fatal(err)
			}
		}
		told, err := script.NewDriver(v, r.Position).Load(b.Context())
		if err != nil || len(told) != 1 || len(told[0].Tools) != 6 {
			b.Fatal(told, err)
		}
		if err := v.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkExecute(b *testing.B) {
	d := newDriver(b, folderOf(b, sixTools()+`
-- tools/big.ts --
export default { description: "", args: {}, execute: async () => "0123456789abcdef".repeat(1 << 16) }
`), &recorder{})
	for name, call := range map[string]script.ToolCall{
		"small": {File: "tools/six.ts", Export: "t0", Args: json.RawMessage(`{"path":"x"}`)},
		"1MiB":  {File: "tools/big.ts", Export: "default"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := d.Execute(b.Context(), call); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkHook(b *testing.B) {
	d := newDriver(b, folderOf(b, "-- plugins/a.ts --\nexport const A = () => ({ 'tool.execute.before': async (i, o) => { o.args.x = 1 } })\n"), &recorder{})
	if _, err := d.Plugins(b.Context(), script.PluginInput{}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := d.Hook(b.Context(), "tool.execute.before", json.RawMessage(`{"tool":"read"}`), json.RawMessage(`{"args":{}}`)); err != nil {
			b.Fatal(err)
		}
	}
}

package bundle_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/helve-dev/helve/internal/bundle"
)

// many is a folder of n tools of about a hundred lines that share a helper.
func many(b *testing.B, n int) bundle.Options {
	b.Helper()
	o := bundle.Options{Root: b.TempDir(), Virtual: map[string]string{"@opencode-ai/plugin": "exports.tool = (x) => x", "fs": "exports.readFileSync = () => ''", "path": "exports.join = (...a) => a.join('/')"}}
	write(b, filepath.Join(o.Root, "lib/helper.ts"), []byte("export const helper = (x: string): string => x.trim()\n"))
	for i := range n {
		text := "import { tool } from '@opencode-ai/plugin'\nimport { readFileSync } from 'fs'\nimport path from 'node:path'\nimport { helper } from '../lib/helper'\n"
		for j := range 24 {
			text += fmt.Sprintf("async function step%d(dir: string, name?: string): Promise<string> {\n  const file = path.join(dir, name ?? 'default%d')\n  return helper(readFileSync(file, 'utf8'))\n}\n", j, j)
		}
		text += "export default tool({ description: 'x', args: {}, async execute(args: any) { return "
		for j := range 24 {
			text += fmt.Sprintf("await step%d(args.dir) + ", j)
		}
		text += "'' } })\n"
		name := fmt.Sprintf("tools/tool%d.ts", i)
		write(b, filepath.Join(o.Root, name), []byte(text))
		o.Files = append(o.Files, name)
	}
	age(b, o.Root)
	return o
}

func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{1, 50} {
		b.Run(fmt.Sprintf("files=%d", n), func(b *testing.B) {
			o := many(b, n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bundle.Build(context.Background(), o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFresh(b *testing.B) {
	for _, n := range []int{1, 50} {
		b.Run(fmt.Sprintf("files=%d", n), func(b *testing.B) {
			o := many(b, n)
			r, err := bundle.Build(context.Background(), o)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if !r.Inputs.Fresh(o) {
					b.Fatal("not fresh")
				}
			}
		})
	}
}

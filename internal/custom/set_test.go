package custom

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helve-dev/helve/plugin"
)

const greet = `
-- tools/greet.ts --
import { tool } from "@opencode-ai/plugin"
export default tool({
  description: "Greets",
  args: { name: tool.schema.string().describe("Whom") },
  async execute(args, ctx) { return "Hello " + args.name + " from " + ctx.agent },
})
export const loud = tool({
  description: "Greets loudly",
  args: { name: tool.schema.string().default("all") },
  async execute(args) { return { title: "Loud", output: String(args.name).toUpperCase(), metadata: { a: 1 } } },
})
`

func TestSimpleTool(t *testing.T) {
	b := newBench(t, greet, nil)
	if got := b.names(); got != nil {
		t.Fatalf("registered before anybody asked: %v", got)
	}
	if got := b.output("greet", `{"name":"Ann"}`); got != "Hello Ann from build" {
		t.Error(got)
	}
	r, err := b.call(t.Context(), "greet_loud", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{"Loud", "UNDEFINED", map[string]any{"a": 1.0}}, []any{r.Title, r.Output, r.Metadata}); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"greet", "greet_loud"}, b.names()); diff != "" {
		t.Error(diff)
	}
	f := b.file("tools/greet.ts")
	if f.State != plugin.Ready || f.Engine != "embedded" || f.Problem != "" || f.Hash == "" || f.LoadTime <= 0 {
		t.Errorf("%+v", f)
	}
}

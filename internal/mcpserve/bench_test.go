package mcpserve

import (
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// BenchmarkRead is one call of read, from the client and back.
func BenchmarkRead(b *testing.B) {
	for _, way := range []string{"stdio", "http"} {
		b.Run(way, func(b *testing.B) {
			h := build(b, nil, nil, nil)
			h.log.discard()
			h.write(b, "a.txt", "one\ntwo\nthree\n")
			var cs *mcp.ClientSession
			if way == "http" {
				cs = over(b, h.listen(b), nil, true)
			} else {
				cs = h.connect(b, nil)
			}
			p := &mcp.CallToolParams{Name: "read", Arguments: map[string]any{"filePath": "a.txt"}}
			b.ReportAllocs()
			for b.Loop() {
				if res, err := cs.CallTool(b.Context(), p); err != nil || res.IsError {
					b.Fatal(res, err)
				}
			}
		})
	}
}

// BenchmarkList is one list of all tools.
func BenchmarkList(b *testing.B) {
	h := build(b, nil, nil, nil)
	h.log.discard()
	cs := h.connect(b, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := cs.ListTools(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
	}
}

package mcpserve

import (
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/tool"
)

// exitCode returns the exit code of the program in a result; 0 if there is none.
func exitCode(res *tool.Result) int {
	switch code := res.Metadata["exit"].(type) {
	case int:
		return code
	case int64:
		return int(code)
	case float64:
		return int(code)
	}
	return 0
}

// exited tells the model that a program has failed: clients show it what a program printed, but
// usually not the metadata.
func exited(res *tool.Result) []mcp.Content {
	code := exitCode(res)
	if code == 0 {
		return nil
	}
	return []mcp.Content{&mcp.TextContent{Text: "exit code " + strconv.Itoa(code)}}
}

package mcpserve

import "github.com/helve-dev/helve/tool"

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

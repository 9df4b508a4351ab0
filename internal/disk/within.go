package disk

import (
	"path/filepath"
	"strings"
)

// Within reports whether a path is a folder or lies somewhere below it, by the
// names alone: links are not looked at, nor whether there is anything. Whole
// names count, so that /a/bc is not within /a/b. Both are absolute; what has
// no name is nowhere.
func Within(dir, path string) bool {
	if dir == "" || path == "" {
		return false
	}
	rel, err := filepath.Rel(dir, path) // fails for another volume
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

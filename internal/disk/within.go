package disk

import (
	"path/filepath"
	"strings"
)

// Within reports whether path is dir or lies somewhere below it, by the names alone: links are not
// followed, and nothing need exist. Whole elements count, so /a/bc is not within /a/b. Both are
// absolute; an empty name is nowhere.
func Within(dir, path string) bool {
	if dir == "" || path == "" {
		return false
	}
	rel, err := filepath.Rel(dir, path) // fails for another volume
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

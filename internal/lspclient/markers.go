package lspclient

import (
	"path/filepath"
	"slices"
)

// marker reports whether a file marks the server's root: a change of it may change the server's
// behavior.
func (s Server) marker(file string) bool {
	base := filepath.Base(file)
	return slices.ContainsFunc(append(s.steps[:len(s.steps):len(s.steps)], s.without), func(step []string) bool { return slices.Contains(step, base) })
}

// renews reports whether the server has to start anew when a file changes:
// other versions of what the project depends on are there then, in folders
// that are not looked at.
func (s Server) renews(file string) bool {
	switch filepath.Base(file) {
	case "package-lock.json", "bun.lockb", "bun.lock", "pnpm-lock.yaml", "yarn.lock":
		return s.marker(file)
	}
	return false
}

// isBuiltin reports whether the server is in the table, and so known to check other files later
// than the changed one.
func (s Server) isBuiltin() bool { return s.steps != nil || s.locate != nil }

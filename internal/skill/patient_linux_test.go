package skill

import "testing"

// TestKernelFile has a file of the kernel's for a skill: it looks like any
// other, and reading it may wait for ever.
func TestKernelFile(t *testing.T) {
	y := newYard(t, map[string]string{"home/.claude/skills/b/SKILL.md": text("b")})
	y.link("home/.claude/skills/a/SKILL.md", "/proc/self/status")
	y.wants(foundBy(y.options()), "b = home/.claude/skills/b/SKILL.md", "not-a-file home/.claude/skills/a/SKILL.md")
}

//go:build unix

package skill

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestPipe has a pipe for a skill: to open it as a file would wait for ever.
func TestPipe(t *testing.T) {
	y := newYard(t, map[string]string{"home/.claude/skills/a/x": "", "home/.claude/skills/b/SKILL.md": text("b")})
	y.check(unix.Mkfifo(y.at("home/.claude/skills/a/SKILL.md"), 0o644))
	y.check(unix.Mkfifo(y.at("home/.claude/skills/c"), 0o644))
	y.check(unix.Symlink("/dev/zero", y.at("home/.claude/skills/b/skill.md")))
	y.wants(foundBy(y.options()), "b = home/.claude/skills/b/SKILL.md", "not-a-file home/.claude/skills/a/SKILL.md", "misnamed home/.claude/skills/b/skill.md")
}

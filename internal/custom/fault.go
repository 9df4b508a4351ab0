package custom

import (
	"github.com/helve-dev/helve/internal/script"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// maxFrames bounds how much of a stack is kept.
const maxFrames = 50

// locate finds where a fault was thrown, and removes our own and the runtime's frames from its
// stack.
func (l *workerProcess) locate(f *script.Fault) {
	if f == nil {
		return
	}
	if l.w.runtime.Name == "node" && strings.Contains(f.Message, "Bun is not defined") {
		f.Message += " (node runs this file, and it needs bun: install bun)"
	}
	locate(f)
}

func locate(f *script.Fault) {
	frame := regexp.MustCompile(`^\s*at (?:.* \(|async )?(?:file://)?([^\s()][^()]*):(\d+):(\d+)\)?$`)
	var kept []string
	for line := range strings.SplitSeq(strings.TrimSuffix(f.Stack, "\n"), "\n") {
		if len(kept) == maxFrames {
			break
		}
		parts := frame.FindStringSubmatch(line)
		switch {
		case parts == nil:
			if !strings.HasPrefix(strings.TrimSpace(line), "at ") { // the message, which may have lines of its own
				kept = append(kept, line)
			}
			continue
		case !filepath.IsAbs(parts[1]) || strings.HasSuffix(parts[1], "[eval]"): // of the runtime, or ours
			continue
		}
		kept = append(kept, line)
		if f.File != "" {
			continue
		}
		row, err := strconv.Atoi(parts[2])
		if err != nil {
			continue
		}
		if column, err := strconv.Atoi(parts[3]); err == nil {
			f.File, f.Line, f.Column = parts[1], row, column
		}
	}
	f.Stack = strings.Join(kept, "\n")
}

func (l *workerProcess) locateTools(tools []script.Tool) {
	for i := range tools {
		l.locate(tools[i].Error)
	}
}

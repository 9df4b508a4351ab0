package builtin

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/helve-dev/helve/internal/charset"
	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/tool"
)

// instructionBytes limits how much of an instruction file is added to a result.
const instructionBytes = 32 << 10

// instructions are files about how to work in a folder. Reading a file returns those of the folders
// above it too, once per session. Those of the working directory and above are in the system
// prompt.
type instructions struct {
	files *files.Workspace
	mu    sync.Mutex // so that two reads at once do not both give one; no file is read meanwhile
}

// add appends the instructions for a file that were not given yet to the result of reading it, the
// innermost first.
func (i *instructions) add(c *tool.Call, p files.Path, res *tool.Result) {
	var texts, loaded []string
	for dir := filepath.Dir(p.String()); disk.Within(c.Dir, dir) && !disk.Within(dir, c.Dir); dir = filepath.Dir(dir) {
		name, text, ok := i.folderInstructions(c, p, dir)
		if !ok {
			continue
		}
		loaded = append(loaded, name)
		if strings.TrimSpace(text) != "" {
			texts = append(texts, "Instructions from: "+shownName(name)+"\n"+text)
		}
	}
	if len(loaded) == 0 {
		return
	}
	res.Metadata["loaded"] = loaded
	if len(texts) > 0 {
		res.Output += "\n\n<system-reminder>\n" + strings.Join(texts, "\n\n") + "\n</system-reminder>"
	}
}

// folderInstructions returns the instructions of one folder: the first of the names that exists,
// unless it is the file being read, was seen before, or may not be read.
func (i *instructions) folderInstructions(c *tool.Call, reading files.Path, dir string) (name, text string, ok bool) {
	for _, base := range []string{"AGENTS.md", "CLAUDE.md", "CONTEXT.md"} {
		p := i.files.Beside(reading, filepath.Join(dir, base))
		file, info, err := i.files.Open(p)
		if err != nil {
			continue
		}
		defer file.Close()
		data, err := io.ReadAll(io.LimitReader(file, instructionBytes))
		if err != nil || !i.files.Inside(p) || !i.files.MayRead(c, p) || p.Real() == reading.Real() || !strings.EqualFold(filepath.Ext(p.Real()), ".md") {
			return "", "", false // a link may lead to what was not written to be read
		}
		hash := files.HashOf(data)
		cut := info.Size() > instructionBytes
		if cut {
			hash = "the beginning, " + hash // which is not to have read the file
		}
		if !i.claimUnseen(c.Session, p, hash) {
			return "", "", false
		}
		return p.String(), instructionText(data, cut), true
	}
	return "", "", false
}

// claimUnseen reports whether a session has not been given the current content of a file, and
// records that it has now.
func (i *instructions) claimUnseen(session string, p files.Path, hash string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if s, seen := i.files.ReadMark(session, p); seen && s.Hash == hash {
		return false
	}
	i.files.MarkRead(session, p, files.ReadMark{Hash: hash, When: time.Now()})
	return true
}

func instructionText(data []byte, cut bool) string {
	text := wellFormed(string(data))
	if enc, err := charset.Detect(data, !cut); err == nil {
		if decoded, err := io.ReadAll(charset.NewReader(bytes.NewReader(data), enc)); err == nil {
			text = string(decoded)
		}
	}
	if cut {
		text += "\n(cut: read the file for the rest)\n"
	}
	return text
}

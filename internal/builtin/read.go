package builtin

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/helve-dev/helve/internal/charset"
	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/lspclient"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

//go:embed read.md
var readDoc string

// Limits for one read.
const (
	readLines     = 2000
	readLineUnits = 2000 // UTF-16 units of one line
	readBytes     = 50 << 10
	readPreview   = 20 // lines of the preview in the metadata
)

// readWhole is the size up to which a file is read completely, to detect its encoding and to
// recognize it later. For a larger one, the beginning and the modification time are used.
const readWhole = 16 << 20

type readInput struct {
	FilePath string `json:"filePath" jsonschema:"the file to read; a relative name starts at the working folder"`
	Offset   int    `json:"offset,omitempty" jsonschema:"how many lines to skip (0-based number of the first line)" min:"0" coerce:"number"`
	Limit    *int   `json:"limit,omitempty" jsonschema:"how many lines to show" coerce:"number"`
}

func (in readInput) lineLimit() int {
	if in.Limit != nil {
		return *in.Limit
	}
	return readLines
}

// A textLimit is how much of a text is shown.
type textLimit struct {
	lines, bytes int
	each         int // bytes that count for a line beside its own
}

// textLimitFor returns the limit for a call. If the caller limits the output, everything around the
// lines counts too.
func textLimitFor(c *tool.Call, in readInput) textLimit {
	if c.Show == 0 {
		return textLimit{in.lineLimit(), readBytes, 0}
	}
	return textLimit{min(in.lineLimit(), readLines-20), min(readBytes, c.Show-min(1000, c.Show/4)), len("0000000| ")}
}

// A readTool holds what the read tool needs.
type readTool struct {
	files     *files.Workspace
	languages *lspclient.Set // nil for none
	*instructions
}

// read shows a file: text by numbered lines, notebooks by cells, images and
// PDFs as attachments, folders by their entries.
func read(files *files.Workspace, languages *lspclient.Set) tool.Tool {
	r := readTool{files: files, languages: languages, instructions: &instructions{files: files}}
	spec := tool.Spec{Name: "read", Description: readDoc, ReadOnly: true}
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in readInput) (*tool.Result, error) {
		asks := permission.NewBatch(c)
		path, err := files.ResolveEither(ctx, asks, c.Dir, in.FilePath)
		if err != nil {
			return nil, badName(err)
		}
		if files.IsFolder(path) {
			_ = files.AskRead(ctx, asks, path) // it only notes
			if err := asks.Submit(ctx); err != nil {
				return nil, err
			}
			return r.listFolder(c, path, in)
		}
		file, info, err := files.OpenRead(ctx, asks, path)
		if err != nil {
			return nil, r.cannotOpen(c, path, err)
		}
		defer file.Close()
		return r.showFile(ctx, c, openedFile{path: path, file: file, info: info}, in)
	})
}

// An openedFile is a file that is being read.
type openedFile struct {
	path files.Path
	file *os.File
	info fs.FileInfo
	head []byte // its beginning
	all  bool   // the beginning is all of it
}

// showFile goes by the content of the file rather than its name, except for notebooks, which are
// JSON.
func (r readTool) showFile(ctx context.Context, c *tool.Call, src openedFile, in readInput) (*tool.Result, error) {
	head := make([]byte, headSize(src.file))
	n, err := io.ReadFull(src.file, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("reading %s: %w", src.path, err)
	}
	if _, err := src.file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("reading %s: %w", src.path, err)
	}
	src.head, src.all = head[:n], err != nil
	res, err := readMedia(ctx, c, src, in)
	if res != nil || err != nil && !textAfterAll(src.head, err) {
		return res, err
	}
	text, err := r.text(ctx, c, src, in)
	if errors.Is(err, charset.ErrBinary) {
		return nil, tool.Fail("binary", "Cannot read binary file: %s", src.path)
	}
	if err != nil {
		return nil, err
	}
	r.instructions.add(c, src.path, text)
	if r.languages != nil { // so that its server knows what was wrong before a change
		r.languages.Warm(src.path.String())
	}
	return text, nil
}

// headSize returns how much of a file is read first: 64 KiB, or its size if smaller. Generated
// files report size 0.
func headSize(f fs.File) int {
	const most = 64 << 10
	info, err := f.Stat()
	if err != nil || info.Size() <= 0 || info.Size() >= most {
		return most
	}
	return int(info.Size()) + 1
}

// cannotOpen is the error for a file that could not be opened, with similar names.
func (r readTool) cannotOpen(c *tool.Call, path files.Path, err error) error {
	if errors.Is(err, permission.ErrDenied) || errors.Is(err, permission.ErrRejected) || errors.Is(err, permission.ErrUnattended) {
		return err
	}
	info, statErr := os.Lstat(path.Real())
	special := statErr == nil && !info.Mode().IsRegular() && !info.IsDir()
	switch {
	case special:
		return tool.Fail("not-a-regular-file", "Cannot read %s: it is a device, pipe or socket and not a file.", path)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, disk.ErrNotRegular):
		text := "File not found: " + path.String()
		if near := near(c, r.files, path); len(near) > 0 {
			text += "\n\nDid you mean one of these?\n" + strings.Join(near, "\n")
		}
		return tool.Fail("not-found", "%s", text)
	case errors.Is(err, fs.ErrPermission):
		return tool.Fail("permission-denied", "Cannot read %s: the system does not let this user open it.", path)
	}
	return badName(err)
}

// near returns up to three readable names similar to a missing one.
func near(c *tool.Call, files *files.Workspace, path files.Path) (out []string) {
	for _, p := range files.Near(path) {
		if len(out) < 3 && files.MayRead(c, p) {
			out = append(out, p.String())
		}
	}
	return out
}

// badName gives the error for a name that no file can have its code.
func badName(err error) error {
	switch {
	case errors.Is(err, files.ErrBadName):
		return tool.Fail("invalid-path", "%w", err)
	case errors.Is(err, files.ErrNameTooLong), errors.Is(err, syscall.ENAMETOOLONG):
		return tool.Fail("name-too-long", "%w", err)
	}
	return err
}

// listFolder lists the entries of a folder from the requested offset.
func (r readTool) listFolder(c *tool.Call, path files.Path, in readInput) (*tool.Result, error) {
	entries, err := r.files.List(path)
	if err != nil {
		return nil, r.cannotOpen(c, path, err)
	}
	from := min(in.Offset, len(entries))
	room := textLimitFor(c, in)
	to := min(from+max(room.lines, 0), len(entries))
	names := make([]string, 0, to-from)
	size := 0
	for _, e := range entries[from:to] {
		name := e.Name()
		if e.IsDir() || e.Type()&fs.ModeSymlink != 0 && r.files.IsFolder(r.files.Beside(path, filepath.Join(path.String(), name))) {
			name += "/"
		}
		if size += len(name) + 1; size > room.bytes {
			break
		}
		names = append(names, name)
	}
	status := fmt.Sprintf("(%d entries)", len(entries))
	more := from+len(names) < len(entries)
	if more {
		status = fmt.Sprintf("(Showing %d of %d entries. Use 'offset' parameter to read beyond entry %d)", len(names), len(entries), from+len(names))
	}
	list := strings.Join(names, "\n")
	return &tool.Result{
		Title:    path.Title(),
		Output:   fmt.Sprintf("<path>%s</path>\n<type>directory</type>\n<entries>\n%s\n\n%s\n</entries>", path, list, status),
		Metadata: map[string]any{"preview": strings.Join(names[:min(len(names), readPreview)], "\n"), "truncated": more},
	}, nil
}

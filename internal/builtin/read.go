package builtin

import (
	"context"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"helve/internal/workspace"
	"helve/tool"
)

//go:embed read.md
var readDoc string

// What one read shows at the most.
const (
	readLines     = 2000
	readLineUnits = 2000 // UTF-16 units of one line
	readBytes     = 50 << 10
	readMedia     = 20 << 20 // bytes of an image or PDF
	readPreview   = 20       // lines of the preview in the metadata
)

type readInput struct {
	FilePath string `json:"filePath" jsonschema:"the file to read; a relative name starts at the working folder"`
	Offset   int    `json:"offset,omitempty" jsonschema:"how many lines to skip (0-based number of the first line)" coerce:"number"`
	Limit    *int   `json:"limit,omitempty" jsonschema:"how many lines to show; 2000 when left out" coerce:"number"`
}

// read shows a file: text by numbered lines, images and PDFs as attachments.
func read(files *workspace.Files) tool.Tool {
	spec := tool.Spec{Name: "read", Description: readDoc, ReadOnly: true}
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in readInput) (*tool.Result, error) {
		path, err := files.Resolve(ctx, c, c.Dir, in.FilePath)
		if err != nil {
			return nil, badName(err)
		}
		if err := files.AskRead(ctx, c, path); err != nil {
			return nil, err
		}
		file, info, err := files.Open(path)
		if err != nil {
			return nil, cannotOpen(files, path, err)
		}
		defer file.Close()
		head := make([]byte, 4096)
		n, err := io.ReadFull(file, head)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
		head = head[:n]
		if kind := mediaType(head); kind != "" {
			return readMediaFile(path, file, info, kind)
		}
		if isBinary(path.String(), head) {
			return nil, tool.Fail("binary", "Cannot read binary file: %s", path)
		}
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
		return readText(ctx, path, file, in)
	})
}

// cannotOpen words why a file could not be opened, with names near to it.
func cannotOpen(files *workspace.Files, path workspace.Path, err error) error {
	info, statErr := os.Stat(path.String())
	special := statErr == nil && !info.Mode().IsRegular() && !info.IsDir()
	switch {
	case special:
		return tool.Fail("not-a-regular-file", "Cannot read %s: it is a device, pipe or socket and not a file.", path)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, workspace.ErrNotRegular):
		text := "File not found: " + path.String()
		if near := files.Similar(path, 3); len(near) > 0 {
			text += "\n\nDid you mean one of these?\n" + strings.Join(near, "\n")
		}
		return tool.Fail("not-found", "%s", text)
	case errors.Is(err, fs.ErrPermission):
		return tool.Fail("permission-denied", "Cannot read %s: the system does not let this user open it.", path)
	}
	return badName(fmt.Errorf("opening %s: %w", path, err))
}

// badName gives the error of a name that no file can have its code.
func badName(err error) error {
	switch {
	case errors.Is(err, workspace.ErrBadName):
		return tool.Fail("invalid-path", "%w", err)
	case errors.Is(err, workspace.ErrNameTooLong), errors.Is(err, syscall.ENAMETOOLONG):
		return tool.Fail("name-too-long", "%w", err)
	}
	return err
}

// mediaType knows images and PDFs by what they begin with, whatever they are
// called.
func mediaType(head []byte) string {
	begins := func(s string) bool { return strings.HasPrefix(string(head), s) }
	switch {
	case begins("\x89PNG\r\n\x1a\n"):
		return "image/png"
	case begins("\xff\xd8\xff"):
		return "image/jpeg"
	case begins("GIF87a"), begins("GIF89a"):
		return "image/gif"
	case begins("RIFF") && len(head) >= 12 && string(head[8:12]) == "WEBP":
		return "image/webp"
	case begins("%PDF-"):
		return "application/pdf"
	}
	return ""
}

func readMediaFile(path workspace.Path, file io.ReadSeeker, info fs.FileInfo, kind string) (*tool.Result, error) {
	if info.Size() > readMedia {
		return nil, tool.Fail("too-large", "Cannot read %s: it is %d bytes, and images and PDFs are read up to %d.", path, info.Size(), readMedia)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	data, err := io.ReadAll(io.LimitReader(file, readMedia))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	said := "Image read successfully"
	if kind == "application/pdf" {
		said = "PDF read successfully"
	}
	return &tool.Result{
		Title: path.Title(), Output: said,
		Metadata: map[string]any{"preview": said, "truncated": false},
		Attachments: []tool.Attachment{{
			Type: "file", Mime: kind,
			URL: "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data),
		}},
	}, nil
}

// isBinary goes by the name for formats that are never text, and otherwise by
// the first bytes: a NUL, or control characters for more than 30 % of them.
func isBinary(name string, head []byte) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".zip", ".tar", ".gz", ".exe", ".dll", ".so", ".class", ".jar", ".war", ".7z",
		".doc", ".docx", ".xls", ".xlsx", ".ppt", ".pptx", ".odt", ".ods", ".odp",
		".bin", ".dat", ".obj", ".o", ".a", ".lib", ".wasm", ".pyc", ".pyo":
		return true
	}
	odd := 0
	for _, b := range head {
		if b == 0 {
			return true
		}
		if b < 9 || b >= 14 && b <= 31 {
			odd++
		}
	}
	return odd*10 > len(head)*3
}

package builtin

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"

	"github.com/helve-dev/helve/internal/charset"
	"github.com/helve-dev/helve/internal/media"
	"github.com/helve-dev/helve/tool"
)

// Limits for images and PDFs.
const (
	readImageBytes = 64 << 20
	readPDFBytes   = 20 << 20 // attached whole; of a larger one the text is shown
	readPDFPages   = 100
)

// readMedia attaches what is an image or a PDF; nil for anything else.
func readMedia(ctx context.Context, c *tool.Call, src openedFile, in readInput) (*tool.Result, error) {
	switch media.Type(src.head) {
	case "":
		return nil, nil
	case media.PDF:
		return readPDF(ctx, c, src, in)
	}
	return readImage(ctx, src)
}

// textAfterAll reports whether an apparently broken image or PDF is a text that begins with the
// same characters.
func textAfterAll(head []byte, broken error) bool {
	fail, ok := errors.AsType[*tool.Error](broken)
	if !ok || fail.Code != "bad-image" && fail.Code != "bad-pdf" {
		return false
	}
	if first, _, _ := bytes.Cut(head, []byte("\n")); fail.Code == "bad-pdf" && len(bytes.TrimSpace(first)) <= len("%PDF-1.7") {
		return false // a line of its own, as PDFs begin
	}
	enc, err := charset.Detect(head, false)
	return err == nil && enc == (charset.Encoding{}) && controls(head) == 0
}

// controls counts the bytes that do not occur in text, except the escapes of terminal colours.
func controls(data []byte) (n int) {
	for _, b := range data {
		if b < 9 || b >= 14 && b < 32 && b != 0x1b || b == 0x7f {
			n++
		}
	}
	return n
}

// readImage attaches an image, made smaller where it is too large to send.
func readImage(ctx context.Context, src openedFile) (*tool.Result, error) {
	data, err := readUpTo(ctx, src, readImageBytes)
	if err != nil {
		return nil, err
	}
	pic, err := media.Image(ctx, data, media.Limits{})
	if err != nil {
		return nil, tool.Fail("bad-image", "Cannot read %s: %w", src.path, err)
	}
	output := "Image read successfully"
	if pic.Scaled {
		output += fmt.Sprintf("\n\nIt has %d x %d pixels and is shown with %d x %d.", pic.OriginalWidth, pic.OriginalHeight, pic.Width, pic.Height)
	}
	return attached(src, output, pic.Mime, pic.Data), nil
}

// readPDF attaches a PDF; of one with too many pages it shows the text.
func readPDF(ctx context.Context, c *tool.Call, src openedFile, in readInput) (*tool.Result, error) {
	doc, err := media.OpenPDF(ctx, src.file, src.info.Size())
	if err != nil {
		return nil, tool.Fail("bad-pdf", "Cannot read %s: %w", src.path, err)
	}
	if src.info.Size() <= readPDFBytes && doc.Pages <= readPDFPages {
		data, err := readUpTo(ctx, src, readPDFBytes)
		if err != nil {
			return nil, err
		}
		return attached(src, "PDF read successfully", "application/pdf", data), nil
	}
	from := in.Offset + 1
	if from > doc.Pages {
		return nil, tool.Fail("range", "Offset %d is out of range for this PDF (%d pages)", in.Offset, doc.Pages)
	}
	to := min(doc.Pages, from+min(max(in.lineLimit(), 1), 20)-1)
	text, err := doc.Text(ctx, from, to)
	if err != nil {
		return nil, tool.Fail("bad-pdf", "Cannot read %s: %w", src.path, err)
	}
	most := textLimitFor(c, in).bytes
	cut := len(text) > most
	if cut {
		text = wellFormed(text[:most])
	}
	status := fmt.Sprintf("(PDF with %d pages, too much to attach: the text of pages %d-%d. Use 'offset' and 'limit' to read other pages)", doc.Pages, from, to)
	return &tool.Result{
		Title: src.path.Title(), Output: "<file>\n" + text + "\n\n" + status + "\n</file>",
		Metadata: map[string]any{"preview": status, "truncated": cut || to < doc.Pages, "pages": doc.Pages},
	}, nil
}

func readUpTo(ctx context.Context, src openedFile, most int64) ([]byte, error) {
	if src.info.Size() > most {
		return nil, tool.Fail("too-large", "Cannot read %s: it is %d bytes, and %d are the most.", src.path, src.info.Size(), most)
	}
	data, err := io.ReadAll(io.LimitReader(untilDone(ctx, src.file), most))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", src.path, err)
	}
	return data, nil
}

func attached(src openedFile, output, kind string, data []byte) *tool.Result {
	return &tool.Result{
		Title: src.path.Title(), Output: output,
		Metadata: map[string]any{"preview": output, "truncated": false},
		Attachments: []tool.Attachment{{
			Type: "file", Mime: kind,
			URL: "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data),
		}},
	}
}

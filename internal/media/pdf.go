package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// What may be in a PDF file. A real document stays far below all of these.
const (
	maxObjects = 1_000_000
	maxPages   = 100_000
	maxText    = 8 << 20 // bytes of text from one call
)

// A Document is a PDF file that has been opened. One goroutine at a time may
// use it, for as long as its reader can be read.
type Document struct {
	// Pages is how many pages there are. They are numbered from 1.
	Pages int
	// Silent says that no page that Text has read holds any text, as in a scan.
	Silent bool

	src     source
	xref    map[int]objectLocation
	trailer dict
	key     *cipherKey // nil if the document is not encrypted

	pages    []sheet
	objects  map[int]any
	parts    int // of all objects kept
	busy     map[int]bool
	packs    []*pack
	fonts    map[int]*font
	fontCost int
	glyphs   map[name]string
	repaired bool // the table of contents was made anew
	loose    bool // so was the order of the pages
}

// OpenPDF reads the structure of the PDF file in the first n bytes of r and
// counts its pages. A file whose table of contents is damaged or cut off is
// read from the objects that are left in it. A document that is encrypted, but opens without a
// password, is read like any other.
//
// It ends within a few seconds whatever the bytes are. The error's text can be
// shown to a model.
func OpenPDF(ctx context.Context, r io.ReaderAt, n int64) (*Document, error) {
	within, cancel := limited(ctx)
	defer cancel()
	d := &Document{
		src:     source{r: r, size: n, ctx: within},
		xref:    map[int]objectLocation{},
		trailer: dict{},
		objects: map[int]any{},
		busy:    map[int]bool{},
		fonts:   map[int]*font{},
		glyphs:  map[name]string{},
	}
	err := recovered(d.open)
	if d.src.err != nil {
		err = d.src.err
	}
	switch {
	case err == nil:
		d.Pages = len(d.pages)
		d.src.ctx = nil
		return d, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("read PDF: %w", context.Cause(ctx))
	case errors.Is(err, errPatience):
		return nil, fmt.Errorf("PDF document (%s) can not be read: opening it takes more than %s; split it or convert it to text first, for example with pdftotext", formatSize(n), patience)
	}
	return nil, fmt.Errorf("PDF document (%s) can not be read: %w", formatSize(n), err)
}

// What is wrong with a document, with the way out for the model.
var (
	errEmptyPDF  = errors.New("it is empty")
	errNotPDF    = errors.New("it does not begin as a PDF file; check its type by its content")
	errDamaged   = errors.New("it is damaged or cut off, no page can be found in it; get a sound copy of it")
	errEncrypted = errors.New("it is encrypted and needs a password; ask for a copy without one, or decrypt it, for example with qpdf --decrypt")
	errCipher    = errors.New("it is encrypted in a way that is not supported; decrypt it first, for example with qpdf --decrypt")
	errPages     = fmt.Errorf("it has more than %d pages; split it first", maxPages)
	errObjects   = fmt.Errorf("it has more than %d objects; split it first", maxObjects)
)

func (d *Document) open() error {
	if d.src.size <= 0 {
		return errEmptyPDF
	}
	if !isPDF(d.src.read(0, HeadSize)) {
		if d.src.err != nil {
			return d.src.err
		}
		return errNotPDF
	}
	if !d.readXref() {
		if err := d.repair(); err != nil {
			return err
		}
	}
	if err := d.unlock(); err != nil {
		return err
	}
	err := d.walkPages()
	if err == nil && len(d.pages) == 0 && !d.repaired {
		if err = d.repair(); err == nil {
			err = d.walkPages()
		}
	}
	if err == nil && len(d.pages) == 0 {
		err = d.loosePages()
	}
	if err == nil && len(d.pages) == 0 {
		err = errDamaged
	}
	return err
}

// Text returns the text of pages from to to, both included, each after a line
// of its own that says which page it is. A number outside the document is
// moved to its end; a page after the last is an error.
//
// The text of a page is in the order in which it was drawn. Spaces between
// words and the ends of lines are told from where the glyphs stand. If the
// pages hold too much or take too long, the text says where it stopped.
func (d *Document) Text(ctx context.Context, from, to int) (string, error) {
	from, to, err := d.pageRange(from, to)
	if err != nil {
		return "", err
	}
	within, cancel := limited(ctx)
	defer cancel()
	d.src.ctx, d.src.err = within, nil
	defer func() { d.src.ctx = nil }()

	var out strings.Builder
	if d.loose {
		out.WriteString("(the document is damaged: pages may be missing or out of order)\n")
	}
	d.Silent = true
	for n := from; n <= to; n++ {
		var text string
		err := recovered(func() error {
			text = d.pageText(n - 1)
			return d.src.err
		})
		if ctx.Err() != nil {
			return "", fmt.Errorf("read PDF: %w", context.Cause(ctx))
		}
		if err != nil && !errors.Is(err, errPatience) {
			return "", fmt.Errorf("PDF document: page %d can not be read: %w", n, err)
		}
		fmt.Fprintf(&out, "--- page %d of %d ---\n", n, d.Pages)
		if left := maxText - out.Len(); len(text) > left {
			text = strings.ToValidUTF8(text[:max(left, 0)], "") + "\n(the rest of this page is left out: the text is too long)\n"
		}
		out.WriteString(text)
		if err != nil {
			fmt.Fprintf(&out, "--- page %d is not complete: reading takes more than %s ---\n", n, patience)
		}
		if n < to && (err != nil || out.Len() >= maxText) {
			fmt.Fprintf(&out, "--- stopped after page %d; ask for pages %d to %d ---\n", n, n+1, to)
			break
		}
	}
	return out.String(), nil
}

// pageRange moves a range into the document.
func (d *Document) pageRange(from, to int) (int, int, error) {
	from = max(from, 1)
	if to < 1 || to > d.Pages {
		to = d.Pages
	}
	if from > d.Pages {
		return 0, 0, fmt.Errorf("page %d is out of range: the document has %d pages", from, d.Pages)
	}
	if from > to {
		return 0, 0, fmt.Errorf("pages %d to %d are no range: the first is after the last", from, to)
	}
	return from, to, nil
}

// recovered runs f and turns a panic into an error. Nothing here is known to
// panic; a document must not be the first to find out.
func recovered(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("reader gave up: %v", p)
		}
	}()
	return f()
}

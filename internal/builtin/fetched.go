package builtin

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/helve-dev/helve/internal/media"
	htmlpage "github.com/helve-dev/helve/internal/page"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/internal/web"
	"github.com/helve-dev/helve/tool"
)

const (
	fetchedTitle = 2000 // bytes of the address in a title
	fetchedURL   = 300  // bytes of an address in a note
	fetchedHead  = 500  // characters of what a site says with an error

	// Above this size the runtime may truncate an output.
	fetchedShown = 50_000 // bytes
	fetchedLines = 1900
)

// Fetched is the Data of a fetched page: how it was fetched.
type Fetched struct {
	URL         string   `json:"url"` // as it was asked for, in its plain form
	FinalURL    string   `json:"finalUrl"`
	Status      int      `json:"status"`
	ContentType string   `json:"contentType"`
	Bytes       int      `json:"bytes"`     // that were read, decompressed
	Redirects   []string `json:"redirects"` // the addresses that led elsewhere, in order
	Cached      bool     `json:"cached"`    // it is as it was some minutes ago
	Partial     bool     `json:"partial"`   // something of it is not shown
}

// renderPage converts a page to the requested format.
func (f *fetch) renderPage(ctx context.Context, p *web.Page, cached bool) (*tool.Result, error) {
	if p.Status < 200 || p.Status > 299 {
		return nil, f.unsuccessful(ctx, p)
	}
	res, partial, err := f.pageContent(ctx, p)
	if err != nil {
		return nil, err
	}
	url, _ := text.Cut(f.in.URL, fetchedTitle)
	kind, _ := text.Cut(p.Header.Get("Content-Type"), fetchedTitle)
	res.Title = text.VisibleLine(fmt.Sprintf("%s (%s)", url, kind))
	res.Metadata = map[string]any{}
	data := &Fetched{
		URL: f.address.String(), FinalURL: p.Address.String(), Status: p.Status, ContentType: p.Header.Get("Content-Type"),
		Bytes: len(p.Body), Redirects: []string{}, Cached: cached, Partial: partial || p.Cut,
	}
	for _, s := range p.Chain {
		data.Redirects = append(data.Redirects, s.Address.String())
	}
	res.Data = data
	var notes []string
	if len(p.Chain) > 0 {
		notes = append(notes, "Redirected to "+shortened(data.FinalURL))
		res.Metadata["finalUrl"] = data.FinalURL
	}
	if p.Cut {
		notes = append(notes, f.cutShort(p))
		res.Metadata["cut"] = true
	}
	if partial {
		notes = append(notes, "Only the main part of the page is shown; set whole for all of it")
		res.Metadata["partial"] = true
	}
	if cached {
		notes = append(notes, "As it was when this session fetched it, some minutes ago at the most")
		res.Metadata["cached"] = true
	}
	switch {
	case len(p.Body) == 0 && !p.Cut:
		notes = append(notes, fmt.Sprintf("The server sent nothing, with status %d", p.Status))
	case strings.TrimSpace(res.Output) == "":
		res.Output = ""
		notes = append(notes, "The page has no text of its own; a program in the browser may make it")
	case f.scripted:
		notes = append(notes, "The page has little text of its own; a program in the browser may make the rest")
	}
	if f.refresh != "" {
		notes = append(notes, "The page sends browsers on to "+f.refresh)
	}
	res.Output = noted(res.Output, notes)
	return res, nil
}

// noted adds notes about a page: after it, or before it if its end will not be shown.
func noted(output string, notes []string) string {
	if len(notes) == 0 {
		return output
	}
	said := "(" + strings.Join(notes, ")\n(") + ")"
	if output == "" {
		return said
	}
	if len(output)+len(said) > fetchedShown || strings.Count(output, "\n")+len(notes) > fetchedLines {
		if first, _, _ := strings.Cut(output, "\n"); len(first) > fetchedShown {
			return strings.ReplaceAll(said, "\n", " ") + " " + output // a line that does not fit is cut only if it is the first
		}
		return said + "\n\n" + output
	}
	return strings.TrimRight(output, "\n") + "\n\n" + said
}

// shortened cuts a text whose length an outside party chose.
func shortened(s string) string {
	if short, cut := text.Cut(s, fetchedURL); cut {
		return short + "…"
	}
	return s
}

// cutShort says why a page is incomplete.
func (f *fetch) cutShort(p *web.Page) string {
	if int64(len(p.Body)) >= f.sizeLimit() {
		return fmt.Sprintf("The page is too large: this is what is in its first %d bytes", len(p.Body))
	}
	return fmt.Sprintf("The page did not come whole: this is what is in the %d bytes that could be read", len(p.Body))
}

// pageContent returns the page itself. partial says that some of it was left out.
func (f *fetch) pageContent(ctx context.Context, p *web.Page) (res *tool.Result, partial bool, err error) {
	switch kind := pageKind(p); kind {
	case "image", "pdf":
		res, err = f.attach(ctx, p, kind)
		return res, false, err
	case "binary":
		return nil, false, tool.Fail("unsupported-type",
			"%s can not be shown: it is no text, image or PDF but %s of %s. Fetch another page, or download it with a command.",
			shortened(p.Address.String()), count(len(p.Body), "byte"), shortened(text.VisibleLine(orNone(p.Type))))
	case "html":
		out, partial, err := f.html(ctx, pageText(p))
		return &tool.Result{Output: out}, partial, err
	}
	return &tool.Result{Output: text.Harmless(pageText(p))}, false, nil
}

func (f *fetch) html(ctx context.Context, src string) (out string, partial bool, err error) {
	if f.in.Format == "html" {
		return text.Harmless(src), false, nil
	}
	select {
	case f.turns <- struct{}{}:
		defer func() { <-f.turns }()
	case <-ctx.Done():
		return "", false, ctx.Err()
	}
	doc, err := htmlpage.Parse(ctx, unhidden(src))
	if err != nil {
		return "", false, err
	}
	if f.in.Format == "text" {
		out, err = doc.Text(ctx)
	} else {
		out, partial, err = doc.Markdown(ctx, f.in.Whole)
	}
	f.scripted = doc.Scripted() && strings.Contains(strings.ToLower(src), "<noscript") // a short page with a script is one, too
	if next, ok := doc.Refresh(); ok {
		f.refresh = shortened(text.VisibleLine(next))
	}
	return text.HarmlessMarked(out), partial, err
}

// pageText returns the text of a page. It drops a character that was cut in half, so that it does
// not count against UTF-8.
func pageText(p *web.Page) string {
	body := p.Body
	if p.Cut {
		for i := 1; i < utf8.UTFMax && i <= len(body); i++ {
			if tail := body[len(body)-i:]; utf8.RuneStart(tail[0]) {
				if !utf8.FullRune(tail) {
					body = body[:len(body)-i]
				}
				break
			}
		}
	}
	out, _ := htmlpage.Decode(body, p.Charset)
	return out
}

// pageKind returns how to show a page: as html, text, image, pdf or, if it cannot be shown, binary.
// The server's media type counts, unless it is missing or plainly wrong.
func pageKind(p *web.Page) string {
	declared := declaredKind(p.Type)
	switch {
	case len(p.Body) == 0:
		return "text"
	case declared == "image", declared == "pdf":
		return declared
	case declared != "" && looksLikeText(p):
		return declared
	}
	switch media.Type(p.Body) {
	case "":
	case media.PDF:
		return "pdf"
	default:
		return "image"
	}
	switch {
	case !looksLikeText(p):
		return "binary"
	case p.Type == "" && strings.HasPrefix(http.DetectContentType(p.Body), "text/html"):
		return "html"
	}
	return "text"
}

// declaredKind returns the kind that a media type stands for, or "" if it does not say.
func declaredKind(mime string) string {
	family, name, _ := strings.Cut(mime, "/")
	switch {
	case mime == "text/html", mime == "application/xhtml+xml":
		return "html"
	case mime == "application/pdf", mime == "application/x-pdf":
		return "pdf"
	case mime == "image/svg+xml":
		return "text"
	case family == "image" && name != "vnd.fastbidsheet":
		return "image"
	case family == "text", strings.HasSuffix(name, "+json"), strings.HasSuffix(name, "+xml"), strings.HasSuffix(name, "+yaml"):
		return "text"
	case family != "application":
		return ""
	}
	switch strings.TrimPrefix(name, "x-") {
	case "json", "ndjson", "json5", "jsonlines", "xml", "xml-dtd", "javascript", "ecmascript", "typescript", "yaml", "toml", "sql",
		"graphql", "sh", "shellscript", "perl", "python", "ruby", "php", "httpd-php", "tex", "latex", "rtf", "www-form-urlencoded":
		return "text"
	}
	return ""
}

// looksLikeText reports whether the beginning of a page is text. Non-ASCII bytes may be in another
// encoding, but a few control characters are enough to decide.
func looksLikeText(p *web.Page) bool {
	head := p.Body[:min(len(p.Body), 64<<10)]
	out, _ := htmlpage.Decode(head, p.Charset)
	return controls([]byte(out)) <= 2+len(out)/50
}

// attach shows an image or a PDF.
func (f *fetch) attach(ctx context.Context, p *web.Page, kind string) (*tool.Result, error) {
	switch {
	case p.Cut && int64(len(p.Body)) < f.sizeLimit():
		return nil, tool.Fail(web.CodeConnection, "%s is %s, and the connection ended after %d bytes of it. Try again.", shortened(p.Address.String()), aKind(kind), len(p.Body))
	case p.Cut:
		size := fmt.Sprintf("%d bytes", p.Size)
		if p.Size < int64(len(p.Body)) { // not told, or compressed
			size = fmt.Sprintf("more than %d bytes", len(p.Body))
		}
		return nil, tool.Fail(web.CodeTooLarge, "Response too large: %s is %s of %s, of which a part can not be shown. "+
			"Download it with a command and read the file.", shortened(p.Address.String()), aKind(kind), size)
	}
	if kind == "pdf" {
		return showPDF(ctx, p)
	}
	pic, err := media.Image(ctx, p.Body, media.Limits{})
	if err != nil {
		return nil, tool.Fail("bad-image", "Cannot show %s: %w", shortened(p.Address.String()), err)
	}
	output := "Image fetched successfully"
	if pic.Scaled {
		output += fmt.Sprintf("\n\nIt has %d x %d pixels and is shown with %d x %d.", pic.OriginalWidth, pic.OriginalHeight, pic.Width, pic.Height)
	}
	return enclosed(output, pic.Mime, pic.Data), nil
}

func aKind(kind string) string {
	if kind == "pdf" {
		return "a PDF"
	}
	return "an image"
}

// showPDF gives the text of a PDF, and the PDF itself where it has none, such
// as a scan.
func showPDF(ctx context.Context, p *web.Page) (*tool.Result, error) {
	doc, err := media.OpenPDF(ctx, bytes.NewReader(p.Body), int64(len(p.Body)))
	if err != nil {
		return nil, tool.Fail("bad-pdf", "Cannot show %s: %w", shortened(p.Address.String()), err)
	}
	said, err := doc.Text(ctx, 1, doc.Pages)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil && !doc.Silent:
		return &tool.Result{Output: fmt.Sprintf("(PDF, %s: its text)\n\n%s", count(doc.Pages, "page"), text.Harmless(said))}, nil
	case doc.Pages <= readPDFPages && len(p.Body) <= readPDFBytes:
		return enclosed(fmt.Sprintf("PDF fetched successfully\n\nIts %s hold no text, so it is attached as it is.", count(doc.Pages, "page")), media.PDF, p.Body), nil
	}
	return nil, tool.Fail("bad-pdf", "Cannot show %s: its %s hold no text, and they are too many to attach. Download it with a command.", shortened(p.Address.String()), count(doc.Pages, "page"))
}

func enclosed(output, mime string, data []byte) *tool.Result {
	return &tool.Result{Output: output, Attachments: []tool.Attachment{{
		Type: "file", Mime: mime, URL: "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(data),
	}}}
}

// unsuccessful is the error for a site's error response.
func (f *fetch) unsuccessful(ctx context.Context, p *web.Page) error {
	said := fmt.Sprintf("Request failed with status code: %d\n\n%s%s answered with %s, %s.",
		p.Status, way(p.Chain), shortened(p.Address.String()), shortened(text.VisibleLine(orNone(p.Type))), count(len(p.Body), "byte"))
	if later := p.Header.Get("Retry-After"); later != "" && len(later) < 100 {
		said += " It asks to wait before another try: Retry-After: " + text.VisibleLine(later) + "."
	}
	if head := f.said(ctx, p); head != "" {
		said += " It says:\n\n" + head
	}
	return tool.Fail("http-status", "%s", said)
}

// said returns the beginning of a site's error page.
func (f *fetch) said(ctx context.Context, p *web.Page) string {
	head := *p
	if most := 64 << 10; len(head.Body) > most {
		head.Body, head.Cut = head.Body[:most], true
	}
	var out string
	switch pageKind(&head) {
	case "html":
		if doc, err := htmlpage.Parse(ctx, pageText(&head)); err == nil {
			out, _ = doc.Text(ctx)
		}
	case "text":
		out = pageText(&head)
	}
	out = strings.TrimSpace(text.Harmless(out))
	if short, cut := text.CutUTF16(out, fetchedHead); cut {
		return short + "…"
	}
	return out
}

func orNone(mime string) string {
	if mime == "" {
		return "no content type"
	}
	return mime
}

// unhidden removes invisible parts from the source of a page before it is converted. Of numeric
// character references, it knows the usual ones.
func unhidden(src string) string {
	for _, usual := range []string{"&shy;", "&#173;", "&#xad;", "&#xAD;", "&#8203;", "&#x200b;", "&#x200B;", "&#65039;", "&#xfe0f;", "&#xFE0F;"} {
		if strings.Contains(src, usual) {
			src = strings.ReplaceAll(src, usual, "")
		}
	}
	hidden := func(r rune) bool { return text.Unseen(r) || r == 0x2028 || r == 0x2029 }
	if !strings.ContainsFunc(src, hidden) {
		return src
	}
	return strings.Map(func(r rune) rune {
		switch {
		case text.Unseen(r):
			return -1
		case hidden(r):
			return ' '
		}
		return r
	}, src)
}

package media

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// ErrNotNotebook says that a file is no Jupyter notebook, or not a whole one.
// It can still be shown as the text it is.
var ErrNotNotebook = errors.New("not a Jupyter notebook")

// What is shown of a notebook.
const (
	maxSource   = 256 << 10 // bytes of a cell's source
	maxOutput   = 8 << 10   // bytes of one output
	maxOutputs  = 32 << 10  // bytes of all outputs of a cell
	maxNotebook = 8 << 20   // bytes in all
	maxCells    = 50_000
	shortText   = 200 // bytes of a name or title
)

// Notebook returns the Jupyter notebook in data (.ipynb, nbformat 3 or 4) as
// text to be read: a line about the notebook, then each cell with its number,
// kind and id, its source and its outputs. Of a long output the beginning and
// the end are shown. Terminal colours and overwritten progress bars are taken
// out. Images and other data are named with their type and size only.
//
// The error is always [ErrNotNotebook], with the reason.
func Notebook(data []byte) (string, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	top, rest, err := jsonSkip(data)
	if err != nil || len(jsonSpace(rest)) > 0 {
		return "", fmt.Errorf("%w: %w", ErrNotNotebook, errJSON)
	}
	var n notebook
	if err := jsonObject(top, n.field); err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotNotebook, err)
	}
	if n.major == "" {
		return "", fmt.Errorf("%w: it has no nbformat", ErrNotNotebook)
	}
	if n.sheets != nil && n.cells == nil {
		err = jsonArray(n.sheets, func(sheet []byte) {
			n.setError(jsonObject(sheet, func(key string, v []byte) {
				if key == "cells" {
					n.setError(jsonArray(v, n.addCell))
				}
			}))
		})
	} else {
		err = jsonArray(n.cells, n.addCell)
	}
	n.setError(err)
	if n.err != nil {
		return "", fmt.Errorf("%w: its cells: %w", ErrNotNotebook, n.err)
	}
	fmt.Fprintf(&n.out, "Jupyter notebook, nbformat %s", n.major)
	if n.minor != "" {
		n.out.WriteString("." + n.minor)
	}
	if n.kernel != "" {
		n.out.WriteString(", kernel: " + n.kernel)
	}
	if n.language != "" {
		n.out.WriteString(", language: " + strings.TrimSpace(n.language+" "+n.version))
	}
	fmt.Fprintf(&n.out, ", cells: %d\n", n.count)
	done := 0
	for ; done < len(n.list) && n.out.Len() < maxNotebook; done++ {
		n.cell(done+1, n.list[done])
	}
	if done < n.count {
		fmt.Fprintf(&n.out, "\n--- %d more cells are left out: the notebook is too long ---\n", n.count-done)
	}
	return n.out.String(), nil
}

// A notebook on its way to text.
type notebook struct {
	major, minor     string
	kernel, language string
	version          string
	cells, sheets    []byte
	list             [][]byte // the cells, as many as are shown
	count            int      // of all cells
	out              strings.Builder
	err              error
}

func (n *notebook) setError(err error) {
	if n.err == nil {
		n.err = err
	}
}

func (n *notebook) addCell(v []byte) {
	if n.count++; n.count <= maxCells {
		n.list = append(n.list, v)
	}
}

func (n *notebook) field(key string, v []byte) {
	switch key {
	case "nbformat":
		n.major = formatInt(v)
	case "nbformat_minor":
		n.minor = formatInt(v)
	case "cells":
		n.cells = v
	case "worksheets":
		n.sheets = v
	case "metadata":
		n.setError(jsonObject(v, n.meta))
	}
}

// formatInt returns a whole number as it is written, or "".
func formatInt(v []byte) string {
	if i, err := strconv.Atoi(string(v[:min(len(v), 12)])); err == nil && len(v) <= 12 {
		return strconv.Itoa(i)
	}
	return ""
}

func (n *notebook) meta(key string, v []byte) {
	switch key {
	case "kernelspec":
		_ = jsonObject(v, func(key string, v []byte) {
			switch text := oneLine(v); key {
			case "display_name":
				n.kernel = text
			case "name":
				n.kernel = firstNonEmpty(n.kernel, text)
			case "language":
				n.language = firstNonEmpty(n.language, text)
			}
		})
	case "language_info":
		_ = jsonObject(v, func(key string, v []byte) {
			switch text := oneLine(v); key {
			case "name":
				n.language = firstNonEmpty(text, n.language)
			case "version":
				n.version = text
			}
		})
	case "language":
		n.language = firstNonEmpty(n.language, oneLine(v))
	}
}

func firstNonEmpty(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// oneLine returns a short text without line ends and controls.
func oneLine(v []byte) string {
	t := &tape{most: shortText}
	s := &screen{out: t}
	readText(v, s.write)
	s.flush()
	return strings.Join(strings.Fields(t.String()), " ")
}

// readText decodes a text that is a string or a list of strings.
func readText(v []byte, use func([]byte)) {
	if len(v) > 0 && v[0] == '[' {
		_ = jsonArray(v, func(v []byte) { jsonPieces(v, use) })
		return
	}
	jsonPieces(v, use)
}

// A cell as the file has it.
type cell struct {
	kind, id, run, level, language string
	source, outputs, attachments   []byte
}

func (n *notebook) cell(num int, v []byte) {
	var c cell
	_ = jsonObject(v, func(key string, v []byte) {
		switch key {
		case "cell_type":
			c.kind = oneLine(v)
		case "id":
			c.id = oneLine(v)
		case "execution_count", "prompt_number":
			c.run = formatInt(v)
		case "level":
			c.level = formatInt(v)
		case "language":
			c.language = oneLine(v)
		case "source", "input":
			c.source = v
		case "outputs":
			c.outputs = v
		case "attachments":
			c.attachments = v
		}
	})
	fmt.Fprintf(&n.out, "\n--- cell %d: %s", num, firstNonEmpty(c.kind, "unknown"))
	if c.id != "" {
		n.out.WriteString(", id " + c.id)
	}
	if c.level != "" {
		n.out.WriteString(", level " + c.level)
	}
	if c.language != "" && c.language != n.language {
		n.out.WriteString(", " + c.language)
	}
	if c.run != "" {
		n.out.WriteString(", run " + c.run)
	}
	n.out.WriteString(" ---\n")
	source := &tape{most: maxSource}
	readText(c.source, source.write)
	n.text(source)
	_ = jsonObject(c.attachments, func(file string, v []byte) {
		_ = jsonObject(v, func(mime string, v []byte) {
			fmt.Fprintf(&n.out, "--- attachment of cell %d: %q, %s ---\n", num, clip(file), unseen(mime, v))
		})
	})
	n.outputs(num, c.outputs)
}

// text writes what a tape holds, ended by a line feed.
func (n *notebook) text(t *tape) {
	s := t.String()
	n.out.WriteString(s)
	if s != "" && !strings.HasSuffix(s, "\n") {
		n.out.WriteString("\n")
	}
}

// typeName makes a name that a notebook gives something fit for a line of ours.
func typeName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, clip(s))
	return strings.Join(strings.Fields(s), " ")
}

// clip shortens a name.
func clip(s string) string {
	if len(s) > shortText {
		return strings.ToValidUTF8(s[:shortText], "") + "…"
	}
	return s
}

// outputs writes the outputs of a cell as long as there is room.
func (n *notebook) outputs(num int, v []byte) {
	begin, left := n.out.Len(), 0
	_ = jsonArray(v, func(v []byte) {
		if n.out.Len()-begin > maxOutputs {
			left++
			return
		}
		o := readOutput(v)
		switch o.kind {
		case "stream":
			n.writeText(num, firstNonEmpty(o.stream, "stream"), o.text)
		case "error", "pyerr":
			n.failure(num, o)
		case "execute_result", "pyout":
			n.writeResult(num, "result", o.data)
		default:
			n.writeResult(num, firstNonEmpty(o.kind, "output"), o.data)
		}
	})
	if left > 0 {
		fmt.Fprintf(&n.out, "--- %d more outputs of cell %d are left out ---\n", left, num)
	}
}

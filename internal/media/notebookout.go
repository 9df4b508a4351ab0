package media

import (
	"fmt"
	"strings"
)

// An output of a cell, in the form of any version of the format.
type output struct {
	kind, stream  string
	ename, evalue string
	text, trace   []byte
	data          []datum
}

// A datum is one form in which a result is given.
type datum struct {
	mime string
	v    []byte
}

func readOutput(v []byte) (o output) {
	_ = jsonObject(v, func(key string, v []byte) {
		switch key {
		case "output_type":
			o.kind = oneLine(v)
		case "name", "stream":
			o.stream = oneLine(v)
		case "text":
			o.text = v
		case "ename":
			o.ename = oneLine(v)
		case "evalue":
			o.evalue = oneLine(v)
		case "traceback":
			o.trace = v
		case "data":
			_ = jsonObject(v, func(mime string, v []byte) { o.data = append(o.data, datum{clip(mime), v}) })
		default:
			if mime := oldMime(key); mime != "" {
				o.data = append(o.data, datum{mime, v})
			}
		}
	})
	if (o.kind == "pyout" || o.kind == "display_data") && o.text != nil {
		o.data = append(o.data, datum{"text/plain", o.text})
	}
	return o
}

// oldMime returns what a key of version 3 is called today.
func oldMime(key string) string {
	switch key {
	case "png", "jpeg":
		return "image/" + key
	case "svg":
		return "image/svg+xml"
	case "html", "latex", "markdown":
		return "text/" + key
	case "json", "javascript", "pdf":
		return "application/" + key
	}
	return ""
}

// writeText writes a text under its title, cleaned of what a terminal would do.
func (n *notebook) writeText(num int, title string, v []byte) {
	t := &tape{most: maxOutput}
	s := &screen{out: t}
	readText(v, s.write)
	s.flush()
	fmt.Fprintf(&n.out, "--- output of cell %d: %s ---\n", num, title)
	n.text(t)
}

func (n *notebook) failure(num int, o output) {
	t := &tape{most: maxOutput}
	s := &screen{out: t}
	_ = jsonArray(o.trace, func(v []byte) {
		jsonPieces(v, s.write)
		s.write([]byte("\n"))
	})
	s.flush()
	message := strings.Trim(o.ename+": "+o.evalue, ": ")
	fmt.Fprintf(&n.out, "--- output of cell %d: error ---\n", num)
	if !strings.Contains(strings.Join(strings.Fields(t.String()), " "), message) {
		n.out.WriteString(message + "\n")
	}
	n.text(t)
}

// writeResult writes the most readable form of a result, and names the forms that
// say more than text can.
func (n *notebook) writeResult(num int, title string, data []datum) {
	best, rank := -1, 0
	for i, d := range data {
		if r := readability(d.mime); r > rank {
			best, rank = i, r
		}
	}
	if best >= 0 {
		if mime := data[best].mime; mime != "text/plain" {
			title += ", " + typeName(mime)
		}
		n.writeText(num, title, data[best].v)
	}
	for _, d := range data {
		if readability(d.mime) == 0 {
			fmt.Fprintf(&n.out, "--- output of cell %d: %s ---\n", num, unseen(d.mime, d.v))
		}
	}
}

// readability ranks types of text; 0 is what is not shown.
func readability(mime string) int {
	switch mime {
	case "text/plain":
		return 5
	case "text/markdown":
		return 4
	case "text/latex":
		return 3
	case "text/html":
		return 2
	}
	if strings.HasPrefix(mime, "text/") {
		return 1
	}
	return 0
}

// unseen words what is not shown: its type and size.
func unseen(mime string, v []byte) string {
	n := int64(len(v))
	if strings.HasPrefix(mime, "image/") && !strings.HasSuffix(mime, "+xml") || mime == "application/pdf" {
		n = max(0, n-2) * 3 / 4 // of base64 in quotes
	}
	return fmt.Sprintf("%s, about %s, not shown", typeName(mime), formatSize(n))
}

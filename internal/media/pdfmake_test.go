package media

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"strings"
)

// A maker writes PDF files for the tests.
type maker struct {
	flate   bool // pack streams
	crypt   func(num int, b []byte) []byte
	trailer string // added to the trailer
	root    int
	bodies  []string // of the objects, from number 1
	streams map[int]bool
	z       *zlib.Writer // used again: making one takes longer than packing a page
}

// add adds an object and returns its number.
func (m *maker) add(body string) int {
	m.bodies = append(m.bodies, body)
	return len(m.bodies)
}

// stream adds a stream; entries go into its dictionary.
func (m *maker) stream(entries string, data []byte) int {
	num := len(m.bodies) + 1
	if m.flate && !strings.Contains(entries, "/Filter") {
		entries += " /Filter /FlateDecode"
		var out bytes.Buffer
		if m.z == nil {
			m.z = zlib.NewWriter(&out)
		}
		m.z.Reset(&out)
		m.z.Write(data)
		m.z.Close()
		data = out.Bytes()
	}
	if m.crypt != nil {
		data = m.crypt(num, data)
	}
	if m.streams == nil {
		m.streams = map[int]bool{}
	}
	m.streams[num] = true
	return m.add(fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", entries, len(data), data))
}

func deflate(b []byte) []byte {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	z.Write(b)
	z.Close()
	return out.Bytes()
}

// pages adds a catalogue and a page for each content, in a font of the given
// object number (0: Helvetica). Its objects come after all others.
func (m *maker) pages(font int, contents ...string) *maker {
	if font == 0 {
		font = m.add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
	}
	const fan = 50 // pages to a node
	top := m.add("")
	var nodes []string
	for from := 0; from < len(contents); from += fan {
		part := contents[from:min(from+fan, len(contents))]
		node := m.add("")
		var kids []string
		for _, c := range part {
			content := m.stream("", []byte(c))
			kids = append(kids, fmt.Sprintf("%d 0 R", m.add(fmt.Sprintf("<< /Type /Page /Parent %d 0 R /Contents %d 0 R >>", node, content))))
		}
		m.bodies[node-1] = fmt.Sprintf("<< /Type /Pages /Parent %d 0 R /Count %d /Kids [%s] >>", top, len(kids), strings.Join(kids, " "))
		nodes = append(nodes, fmt.Sprintf("%d 0 R", node))
	}
	m.bodies[top-1] = fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] /Resources << /Font << /F1 %d 0 R >> >> >>", len(contents), strings.Join(nodes, " "), font)
	m.root = m.add(fmt.Sprintf("<< /Type /Catalog /Pages %d 0 R >>", top))
	return m
}

// plain writes the file in the old way, with a table at its end.
func (m *maker) plain() []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
	at := make([]int, len(m.bodies))
	for i, body := range m.bodies {
		at[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, body)
	}
	table := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, o := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root %d 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, m.root, m.trailer, table)
	return b.Bytes()
}

// packed writes the file in the new way: all objects but streams in streams
// of objects, and the table a stream too.
func (m *maker) packed() []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.5\n%\xe2\xe3\xcf\xd3\n")
	rows := map[int][3]int{0: {0, 0, 65535}}
	var loose []int
	for i, body := range m.bodies {
		if m.streams[i+1] {
			rows[i+1] = [3]int{1, b.Len(), 0}
			fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, body)
			continue
		}
		loose = append(loose, i+1)
	}
	next := len(m.bodies) + 1
	for len(loose) > 0 {
		n := min(100, len(loose))
		var head, data strings.Builder
		for i, num := range loose[:n] {
			fmt.Fprintf(&head, "%d %d ", num, data.Len())
			data.WriteString(m.bodies[num-1] + " ")
			rows[num] = [3]int{2, next, i}
		}
		loose = loose[n:]
		all := deflate([]byte(head.String() + data.String()))
		if m.crypt != nil {
			all = m.crypt(next, all)
		}
		rows[next] = [3]int{1, b.Len(), 0}
		fmt.Fprintf(&b, "%d 0 obj\n<< /Type /ObjStm /N %d /First %d /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream\nendobj\n",
			next, n, head.Len(), len(all), all)
		next++
	}
	rows[next] = [3]int{1, b.Len(), 0}
	const width = 7
	var table []byte
	above := make([]byte, width)
	for num := range next + 1 {
		row := []byte{byte(rows[num][0])}
		row = binary.BigEndian.AppendUint32(row, uint32(rows[num][1]))
		row = binary.BigEndian.AppendUint16(row, uint16(rows[num][2]))
		table = append(table, 2) // each byte as the difference to the one above
		for i := range row {
			table = append(table, row[i]-above[i])
		}
		above = row
	}
	table = deflate(table)
	at := b.Len()
	fmt.Fprintf(&b, "%d 0 obj\n<< /Type /XRef /Size %d /Root %d 0 R /W [1 4 2] /Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns %d >> /Length %d %s >>\nstream\n%s\nendstream\nendobj\nstartxref\n%d\n%%%%EOF\n",
		next, next+1, m.root, width, len(table), m.trailer, table, at)
	return b.Bytes()
}

// hello is a page that shows a line of text.
func hello(text string) string {
	return "BT /F1 12 Tf 72 700 Td (" + text + ") Tj ET"
}

package media

import (
	"bytes"
	"compress/flate"
	"compress/lzw"
	"compress/zlib"
	"encoding/ascii85"
	"io"

	tifflzw "golang.org/x/image/tiff/lzw"
)

const maxFilters = 8

// decode returns the bytes of a stream with all filters undone, up to most of
// them. Of a damaged stream it is what comes before the damage. Filters for
// pictures are not undone; such a stream has no bytes.
func (d *Document) decode(s *stream, most int) []byte {
	filters, parms := d.list(s.dict, "Filter", "F"), d.list(s.dict, "DecodeParms", "DP")
	if len(filters) > maxFilters {
		return nil
	}
	b := d.raw(s)
	for i, f := range filters {
		var parm dict
		if i < len(parms) {
			parm = d.dict(parms[i])
		}
		b = d.unfilter(d.name(f), b, parm, most)
		if len(b) == 0 || d.src.spent() {
			return nil
		}
	}
	return b[:min(len(b), most)]
}

// list returns an entry that is an array, or one value for an array of one.
func (d *Document) list(of dict, key, short name) array {
	v := d.get(of[key])
	if v == nil {
		v = d.get(of[short])
	}
	switch v := v.(type) {
	case nil:
		return nil
	case array:
		return v
	default:
		return array{v}
	}
}

// unfilter undoes one filter.
func (d *Document) unfilter(filter name, b []byte, parm dict, most int) []byte {
	switch filter {
	case "FlateDecode", "Fl":
		return d.predicted(d.inflate(b, most), parm)
	case "LZWDecode", "LZW":
		var r io.ReadCloser
		if early, ok := d.get(parm["EarlyChange"]).(int); ok && early == 0 {
			r = lzw.NewReader(bytes.NewReader(b), lzw.MSB, 8)
		} else {
			r = tifflzw.NewReader(bytes.NewReader(b), tifflzw.MSB, 8)
		}
		defer r.Close()
		return d.predicted(d.drain(r, most), parm)
	case "ASCIIHexDecode", "AHx":
		if n := bytes.IndexByte(b, '>'); n >= 0 {
			b = b[:n]
		}
		return dehex(b)
	case "ASCII85Decode", "A85":
		b = bytes.TrimPrefix(bytes.TrimLeft(b, "\x00\t\n\f\r "), []byte("<~"))
		if n := bytes.IndexByte(b, '~'); n >= 0 {
			b = b[:n]
		}
		return d.drain(ascii85.NewDecoder(bytes.NewReader(b)), most)
	case "RunLengthDecode", "RL":
		return unrun(b, most)
	case "Crypt":
		return b
	}
	return nil
}

// inflate is lenient: some files lack the header or the check sum.
func (d *Document) inflate(b []byte, most int) []byte {
	b = bytes.TrimLeft(b, "\r\n")
	if z, err := zlib.NewReader(bytes.NewReader(b)); err == nil {
		return d.drain(z, most)
	}
	if len(b) > 2 {
		if out := d.drain(flate.NewReader(bytes.NewReader(b[2:])), most); len(out) > 0 {
			return out
		}
	}
	return d.drain(flate.NewReader(bytes.NewReader(b)), most)
}

// drain reads until the end, an error, the limit or the end of the time.
func (d *Document) drain(r io.Reader, most int) []byte {
	var out []byte
	for len(out) < most && !d.src.spent() {
		if cap(out)-len(out) < 512 {
			grown := make([]byte, len(out), max(8<<10, min(2*cap(out), most+512)))
			copy(grown, out)
			out = grown
		}
		n, err := r.Read(out[len(out):min(cap(out), len(out)+64<<10)])
		out = out[:len(out)+n]
		if err != nil {
			break
		}
	}
	return out[:min(len(out), most)]
}

// unrun undoes run lengths.
func unrun(b []byte, most int) (out []byte) {
	for len(b) > 1 && b[0] != 128 && len(out) < most {
		n := int(b[0])
		if n < 128 {
			n = min(n+1, len(b)-1)
			out = append(out, b[1:1+n]...)
			b = b[1+n:]
			continue
		}
		out = append(out, bytes.Repeat(b[1:2], 257-n)...)
		b = b[2:]
	}
	return out
}

// predicted undoes the difference coding that may lie below a filter.
func (d *Document) predicted(b []byte, parm dict) []byte {
	predictor := d.int(parm["Predictor"])
	if predictor < 2 {
		return b
	}
	or := func(key name, otherwise int) int {
		if v := d.int(parm[key]); v > 0 && v < 1<<20 {
			return v
		}
		return otherwise
	}
	colors, bits := min(or("Colors", 1), 64), min(or("BitsPerComponent", 8), 32)
	pixel := max(1, colors*bits/8)
	row := (colors*bits*or("Columns", 1) + 7) / 8
	if predictor == 2 {
		if bits == 8 {
			for from := 0; from < len(b); from += row {
				line := b[from:min(from+row, len(b))]
				for i := pixel; i < len(line); i++ {
					line[i] += line[i-pixel]
				}
			}
		}
		return b
	}
	return unfilter(b, row, pixel)
}

// unfilter undoes the filters of PNG, which are told by a byte before each row.
func unfilter(b []byte, row, pixel int) []byte {
	row = max(1, min(row, len(b)))
	out := make([]byte, 0, len(b))
	above := make([]byte, row)
	for len(b) > 1 {
		kind := b[0]
		n := min(row, len(b)-1)
		line := b[1 : 1+n]
		b = b[1+n:]
		for i := range line {
			var left, corner byte
			if i >= pixel {
				left, corner = line[i-pixel], above[i-pixel]
			}
			switch kind {
			case 1:
				line[i] += left
			case 2:
				line[i] += above[i]
			case 3:
				line[i] += byte((int(left) + int(above[i])) / 2)
			case 4:
				line[i] += paeth(left, above[i], corner)
			}
		}
		out = append(out, line...)
		copy(above, line)
	}
	return out
}

// paeth returns whichever of three neighbours is nearest to left+up-corner.
func paeth(left, up, corner byte) byte {
	p := int(left) + int(up) - int(corner)
	dist := func(v byte) int { return max(p-int(v), int(v)-p) }
	switch a, b, c := dist(left), dist(up), dist(corner); {
	case a <= b && a <= c:
		return left
	case b <= c:
		return up
	}
	return corner
}

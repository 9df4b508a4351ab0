package media

import (
	"bytes"
	"encoding/binary"
)

// The types that [Type] tells apart.
const (
	PNG  = "image/png"
	JPEG = "image/jpeg"
	GIF  = "image/gif"
	WebP = "image/webp"
	BMP  = "image/bmp"
	TIFF = "image/tiff"
	PDF  = "application/pdf"
)

// HeadSize is how many bytes of the beginning of a file [Type] can make use
// of. Fewer are enough for most types.
const HeadSize = 1024

// Type returns the type of the file that begins with head: one of the types
// named above, or "" for anything else. It looks at content only.
//
// Models take PNG, JPEG, GIF and WebP; [Image] turns BMP and TIFF into one of
// these. Other kinds of picture (AVIF, HEIC, ICO and so on) have no type here:
// providers refuse them.
func Type(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return PNG
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return JPEG
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return GIF
	case len(head) >= 16 && string(head[:4]) == "RIFF" && string(head[8:15]) == "WEBPVP8":
		return WebP
	case isBMP(head):
		return BMP
	case bytes.HasPrefix(head, []byte("II*\x00")), bytes.HasPrefix(head, []byte("MM\x00*")):
		return TIFF
	case isPDF(head):
		return PDF
	}
	return ""
}

// isBMP looks further than at the two letters BM, with which a text may begin.
func isBMP(head []byte) bool {
	if len(head) < 26 || string(head[:2]) != "BM" {
		return false
	}
	switch binary.LittleEndian.Uint32(head[14:]) { // the size of the second header
	case 12, 40, 52, 56, 64, 108, 124:
		return binary.LittleEndian.Uint32(head[6:]) == 0 // reserved
	}
	return false
}

// isPDF allows for the few bytes that mail and web programs put in front.
func isPDF(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	head = bytes.TrimLeft(head[:min(len(head), HeadSize)], "\x00\t\n\f\r ")
	return len(head) > 5 && string(head[:5]) == "%PDF-" && head[5] >= '0' && head[5] <= '9'
}

// otherPicture names a kind of picture that no model takes, or returns "".
func otherPicture(head []byte) string {
	if len(head) >= 12 && string(head[4:8]) == "ftyp" {
		switch string(head[8:12]) {
		case "avif", "avis":
			return "AVIF"
		case "heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1":
			return "HEIC"
		}
	}
	for _, kind := range []struct{ sign, name string }{
		{"\x00\x00\x01\x00", "ICO"},
		{"\x00\x00\x02\x00", "CUR"},
		{"8BPS", "Photoshop"},
		{"\xff\x0a", "JPEG XL"},
		{"\x00\x00\x00\x0cJXL ", "JPEG XL"},
		{"\x00\x00\x00\x0cjP  ", "JPEG 2000"},
		{"qoif", "QOI"},
	} {
		if bytes.HasPrefix(head, []byte(kind.sign)) {
			return kind.name
		}
	}
	return ""
}

// label is how a type is called in a message.
func label(mime string) string {
	switch mime {
	case PNG:
		return "PNG"
	case JPEG:
		return "JPEG"
	case GIF:
		return "GIF"
	case WebP:
		return "WebP"
	case BMP:
		return "BMP"
	case TIFF:
		return "TIFF"
	case PDF:
		return "PDF"
	}
	return "unknown"
}

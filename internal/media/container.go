package media

import (
	"encoding/binary"
)

// This file looks into the containers of images for what the decoders do not
// tell. All of it treats its input as hostile: it never allocates by what a
// header says, and never reads twice.

// countGIF returns how many frames a GIF has and how many pixels all of them
// together, from the frames' headers. As a frame takes memory besides its
// pixels, each counts for some more. It stops at the first thing that is not
// as it should be; the decoder will complain about that.
func countGIF(b []byte) (frames, pixels int) {
	const header, perFrame = 13, 2000
	if len(b) < header {
		return 0, 0
	}
	pos := header + colours(b[10])
	for pos < len(b) {
		switch b[pos] {
		case 0x21: // an extension: its kind, then blocks
			pos = skipBlocks(b, pos+2)
		case 0x2c: // a frame: place, size and flags, perhaps colours, then blocks
			if len(b)-pos < 10 {
				return frames, pixels
			}
			w := int(binary.LittleEndian.Uint16(b[pos+5:]))
			h := int(binary.LittleEndian.Uint16(b[pos+7:]))
			frames++
			pixels += w*h + perFrame
			pos = skipBlocks(b, pos+10+colours(b[pos+9])+1)
		default:
			return frames, pixels
		}
	}
	return frames, pixels
}

// colours returns the length of the colour table that flags announce.
func colours(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// skipBlocks returns the place after a chain of blocks.
func skipBlocks(b []byte, pos int) int {
	for pos < len(b) {
		n := int(b[pos])
		pos += n + 1
		if n == 0 {
			break
		}
	}
	return pos
}

// firstWebP returns the first frame of an animated WebP as a file of its own,
// because the decoder knows no animations. The frame is what is seen first,
// even if it does not cover the canvas.
func firstWebP(b []byte) (frame []byte, animated bool) {
	const animation, alpha = 1 << 1, 1 << 4
	if len(b) < 30 || string(b[12:16]) != "VP8X" || b[20]&animation == 0 {
		return nil, false
	}
	body := chunk(b[12:], "ANMF")
	const frameHeader = 16
	if len(body) < frameHeader {
		return []byte("RIFF\x04\x00\x00\x00WEBP"), true // no frame: the decoder will say so
	}
	flags := byte(0)
	if chunk(body[frameHeader:], "ALPH") != nil {
		flags = alpha
	}
	frame = append(frame, "RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00"...)
	frame = append(frame, flags, 0, 0, 0)
	frame = append(frame, body[6:12]...) // width and height, as VP8X has them
	frame = append(frame, body[frameHeader:]...)
	binary.LittleEndian.PutUint32(frame[4:], uint32(len(frame)-8))
	return frame, true
}

// chunk returns the body of the first chunk of the given name, or nil.
func chunk(b []byte, name string) []byte {
	for len(b) >= 8 {
		n := int64(binary.LittleEndian.Uint32(b[4:]))
		if n > int64(len(b)-8) {
			return nil
		}
		if string(b[:4]) == name {
			return b[8 : 8+n]
		}
		b = b[min(8+n+n%2, int64(len(b))):]
	}
	return nil
}

// scanJPEG reports whether a JPEG is progressive, and how it is to be turned.
// It reads the segments before the first scan.
func scanJPEG(b []byte) (progressive bool, orientation int) {
	orientation = 1
	pos := 2
	for pos+4 <= len(b) && b[pos] == 0xff {
		marker := b[pos+1]
		if marker == 0xff { // fill
			pos++
			continue
		}
		n := int(binary.BigEndian.Uint16(b[pos+2:]))
		if marker == 0xda || n < 2 || pos+2+n > len(b) {
			break
		}
		body := b[pos+4 : pos+2+n]
		switch {
		case marker == 0xc2:
			progressive = true
		case marker == 0xe1 && len(body) > 6 && string(body[:6]) == "Exif\x00\x00":
			orientation = exifOrientation(body[6:])
		}
		pos += 2 + n
	}
	return progressive, orientation
}

// exifOrientation returns the orientation that EXIF data in TIFF form tells,
// or 1.
func exifOrientation(b []byte) int {
	if len(b) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.BigEndian
	if b[0] == 'I' {
		order = binary.LittleEndian
	}
	pos := int64(order.Uint32(b[4:]))
	if pos+2 > int64(len(b)) {
		return 1
	}
	count := int64(order.Uint16(b[pos:]))
	for pos += 2; count > 0 && pos+12 <= int64(len(b)); pos, count = pos+12, count-1 {
		const tag, short = 0x0112, 3
		if order.Uint16(b[pos:]) != tag || order.Uint16(b[pos+2:]) != short {
			continue
		}
		if v := int(order.Uint16(b[pos+8:])); v >= 1 && v <= 8 {
			return v
		}
	}
	return 1
}

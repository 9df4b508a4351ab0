// Package charset is a file's bytes as text, and the way back, byte for byte.
//
// [Decode] tells the encoding of a file and gives its text with every line
// ending as "\n". [Text.Splice] makes edits of that text in the bytes it came
// from: what no edit touches is copied, never decoded and encoded again, so a
// byte outside the edits can not change, whatever the file holds.
//
// # Telling the encoding
//
// The first of these that holds decides:
//
//  1. No bytes at all: UTF-8.
//  2. A byte order mark: UTF-8, UTF-32, UTF-16 or GB18030, if the rest is valid
//     in it.
//  3. A NUL in the first 4096 bytes: UTF-32 or UTF-16 without a mark, if read so
//     it looks like text; otherwise binary.
//  4. More than 30 % control characters in the first 4096 bytes: binary.
//  5. Escape sequences of ISO-2022-JP in 7-bit text that is valid in it.
//  6. Valid UTF-8, so also plain ASCII.
//  7. The legacy encodings (and UTF-16 without any ASCII), by likelihood.
//
// For the last step every encoding in which the bytes are valid and come back
// the same says how many bits it would take to write the text down, knowing how
// frequent the characters are in the languages it was made for and what may
// stand next to what. Random bytes take eight bits each. The cheapest reading
// wins if it is well below that and at least a few bits below every reading
// that shows another text; otherwise the answer is [ErrUnknown]. Readings that
// show the same text are settled in this order: utf-16le, utf-16be, iso-8859-1 or windows-1252,
// gbk, shift_jis, euc-kr, big5, euc-jp, windows-1251, koi8-r, koi8-u, ibm866,
// windows-1250, iso-8859-2, windows-1253, windows-1254, windows-1255,
// windows-1256. Of two names for the same bytes the
// narrower is given (iso-8859-1 before windows-1252, gbk before gb18030), so
// that nothing is written that a reader of the narrower could not read. UTF-8
// with a few broken bytes takes part too; when it wins the answer is
// [ErrUnknown], as one reading of the whole file does not exist.
package charset

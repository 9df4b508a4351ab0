// Package media makes files that are not plain text fit for a model: images,
// PDF documents and Jupyter notebooks.
//
// The rule of the package is that no file can break a session. What a file
// is, is told by its content ([Type]), never by its name. An image is decoded
// once before it is handed on, so that a damaged one is an error here and not
// a refusal by a provider in every later turn. Whatever the bytes are, every
// function ends within a few seconds and a bounded amount of memory, with
// content or with an error that says what is wrong and what to do.
//
// PDF files are read by a reader of our own, because the library at hand can
// be made to loop for ever or to overflow the stack, which ends a Go program
// and can not be recovered from. Only its tables of glyph names are used.
package media

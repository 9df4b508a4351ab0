package cli

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/helve-dev/helve/internal/media"
	"github.com/helve-dev/helve/tool"
)

// What a prompt may bring along.
const (
	maxPrompt    = 4 << 20  // bytes of text from standard input
	maxTextFile  = 1 << 20  // bytes of a text file
	maxMediaFile = 64 << 20 // bytes of an image, before it is made smaller
	maxPDFFile   = 20 << 20
)

// promptText returns the prompt from the arguments, and from standard input if they say so.
func (a *app) promptText(ctx context.Context, words []string) (string, error) {
	i := slices.Index(words, "-")
	if i < 0 && (len(words) > 0 || isTerminal(a.Stdin)) {
		return strings.Join(words, " "), nil
	}
	if i >= 0 {
		words = slices.Delete(slices.Clone(words), i, i+1)
	}
	piped, err := a.readPrompt(ctx)
	said := strings.Join(words, " ")
	switch {
	case err != nil || said == "":
		return piped, err
	case strings.TrimSpace(piped) == "":
		return said, nil
	}
	return said + "\n\n<stdin>\n" + strings.TrimSuffix(piped, "\n") + "\n</stdin>", nil
}

// readPrompt reads standard input to its end, or until ctx ends.
func (a *app) readPrompt(ctx context.Context) (string, error) {
	type input struct {
		data []byte
		err  error
	}
	got := make(chan input, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(a.Stdin, maxPrompt+1))
		got <- input{data, err}
	}()
	select {
	case <-ctx.Done():
		return "", &silent{exitCanceled}
	case in := <-got:
		switch {
		case in.err != nil:
			return "", fmt.Errorf("reading the prompt: %w", in.err)
		case len(in.data) > maxPrompt:
			return "", usagef("standard input is longer than %d bytes: write it to a file, and name the file in the prompt", maxPrompt)
		case !utf8.Valid(in.data):
			return "", usagef("standard input is no text: give a file with --file, or name it in the prompt")
		}
		return string(in.data), nil
	}
}

// unread notes that standard input has data that is not part of the prompt.
func (a *app) unread(words []string) {
	f, ok := a.Stdin.(*os.File)
	if !ok || len(words) == 0 || slices.Contains(words, "-") {
		return
	}
	info, err := f.Stat()
	if err == nil && (info.Mode()&os.ModeNamedPipe != 0 || info.Mode().IsRegular() && info.Size() > 0) {
		a.printNote("standard input is not read beside a prompt: give - as the last word to add it")
	}
}

// enclose adds files to a prompt: texts to its text, images and PDFs as attachments.
func (a *app) enclose(ctx context.Context, prompt string, names []string) (string, []tool.Attachment, error) {
	var files []tool.Attachment
	for _, name := range names {
		path := a.abs(name)
		data, kind, err := readAttached(path)
		if err != nil {
			return "", nil, usagef("--file %s: %w", name, err)
		}
		if kind == "" {
			prompt += fmt.Sprintf("\n\n<file path=%q>\n%s\n</file>", filepath.ToSlash(path), strings.TrimSuffix(string(data), "\n"))
			continue
		}
		if kind != media.PDF {
			pic, err := media.Image(ctx, data, media.Limits{})
			if err != nil {
				return "", nil, usagef("--file %s: %w", name, err)
			}
			data, kind = pic.Data, pic.Mime
		}
		files = append(files, tool.Attachment{
			Type: "file", Mime: kind, Filename: filepath.Base(path),
			URL: "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data),
		})
	}
	return prompt, files, nil
}

// readAttached reads a file that goes with a prompt. Its kind is "" for text.
func readAttached(path string) (data []byte, kind string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, "", errors.Join(err, errors.New("it is no file: name a folder in the prompt instead, and the model looks into it"))
	}
	head := make([]byte, media.HeadSize)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, "", err
	}
	head = head[:n]
	kind = media.Type(head)
	most := maxTextFile
	switch kind {
	case "":
	case media.PDF:
		most = maxPDFFile
	default:
		most = maxMediaFile
	}
	rest, err := io.ReadAll(io.LimitReader(f, int64(most-n)+1))
	data = append(head, rest...)
	switch {
	case err != nil:
		return nil, "", err
	case len(data) > most:
		return nil, "", fmt.Errorf("it has more than %d bytes: name it in the prompt instead, and the model reads what it needs", most)
	case kind == "" && (!utf8.Valid(data) || slices.Contains(data, 0)):
		return nil, "", errors.New("it is neither text in UTF-8 nor an image or PDF: name it in the prompt instead")
	}
	return data, kind, nil
}

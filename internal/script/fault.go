package script

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A Fault is what a tool or plugin threw, with the places of its stack in the files they were
// written in.
type Fault struct {
	Name    string          `json:"name"`
	Message string          `json:"message"`
	Stack   string          `json:"stack"`
	Code    string          `json:"code,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
	// File, Line and Column are where it was thrown, if known; they count from 1.
	File   string `json:"-"`
	Line   int    `json:"-"`
	Column int    `json:"-"`
}

// Error is the name and the message, as scripts print them.
func (f *Fault) Error() string {
	switch {
	case f.Name == "" && f.Message == "":
		return "an error that says nothing"
	case f.Name == "":
		return f.Message
	case f.Message == "":
		return f.Name
	}
	return f.Name + ": " + f.Message
}

// maxFrames bounds how much of a stack is kept.
const maxFrames = 50

// locate maps the positions in a fault's stack to the sources, and drops our own frames.
func (d *Driver) locate(f *Fault) {
	if f == nil {
		return
	}
	switch f.Name {
	case "ReferenceError", "TypeError", "RangeError":
		f.Message = inBunsWords(f.Message)
	}
	if f.Stack == "" {
		return
	}
	frame := regexp.MustCompile(`^(\s*at (?:.* \()?)([^\s()]+):(\d+):(\d+)(\)?)$`)
	maker := regexp.MustCompile(`at \w*(?:Error|Exception) \($`) // the constructor of an error, which is not where it was thrown
	making := false
	var kept []string
	for line := range strings.SplitSeq(strings.TrimSuffix(f.Stack, "\n"), "\n") {
		if len(kept) == maxFrames {
			break
		}
		parts := frame.FindStringSubmatch(line)
		if parts == nil {
			kept = append(kept, line)
			continue
		}
		file, row, column := d.source(parts[2], parts[3], parts[4])
		if file == "" {
			continue
		}
		if f.File == "" || making {
			f.File, f.Line, f.Column = file, row, column
			making = maker.MatchString(parts[1])
		}
		kept = append(kept, fmt.Sprintf("%s%s:%d:%d%s", parts[1], file, row, column, parts[5]))
	}
	f.Stack = strings.Join(kept, "\n")
}

// source finds the file of a position in the program; there is none for our own code.
func (d *Driver) source(script, line, column string) (string, int, int) {
	if script != ProgramName || d.at == nil {
		return "", 0, 0
	}
	row, err := strconv.Atoi(line)
	if err != nil {
		return "", 0, 0
	}
	at, err := strconv.Atoi(column)
	if err != nil {
		return "", 0, 0
	}
	file, row, at := d.at(row-programStart, at)
	if strings.HasPrefix(file, "virtual:") {
		return "", 0, 0
	}
	return file, row, at
}

func (d *Driver) locateTools(tools []Tool) {
	for i := range tools {
		d.locate(tools[i].Error)
	}
}

// More returns what the error of a call carries beside its message: what a program printed before
// it failed, and what caused the error. Messages are as in Bun, and often do not include it.
func (f *Fault) More() string {
	var data struct {
		More string `json:"helveMore"`
	}
	if json.Unmarshal(f.Data, &data) != nil { // nothing of ours
		return ""
	}
	return data.More
}

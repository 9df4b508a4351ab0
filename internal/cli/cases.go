package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxCases is how many cases a file may have.
const maxCases = 1000

// A toolCase is a call of a tool and its expected outcome. The output is compared with Output and
// Contains; if Error is set, the call must fail with a text that contains it.
type toolCase struct {
	Name     string          `json:"name,omitempty"`
	Tool     string          `json:"tool,omitempty"` // which one, where a file has several; the file's name when empty
	Args     json.RawMessage `json:"args,omitempty"` // {} when there are none
	Output   *string         `json:"output,omitempty"`
	Contains *string         `json:"contains,omitempty"`
	Error    *string         `json:"error,omitempty"`
}

// readToolCases reads a test: {"cases": [...]}. A case without an expected outcome, or with an
// unknown key, is an error: it would test nothing.
func readToolCases(data []byte) ([]toolCase, error) {
	var file struct {
		Cases []toolCase `json:"cases"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return nil, fmt.Errorf("the test can not be read: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("the test can not be read: something stands behind its end")
	}
	if len(file.Cases) == 0 || len(file.Cases) > maxCases {
		return nil, fmt.Errorf(`the test has %d "cases", and 1 to %d are wanted`, len(file.Cases), maxCases)
	}
	for i := range file.Cases {
		if err := file.Cases[i].check(); err != nil {
			return nil, fmt.Errorf("cases[%d]: %w", i, err)
		}
	}
	return file.Cases, nil
}

// check reports what is wrong with a case, and sets its defaults.
func (c *toolCase) check() error {
	if args := bytes.TrimSpace(c.Args); len(args) == 0 || string(args) == "null" {
		c.Args = json.RawMessage("{}")
	} else if args[0] != '{' {
		return errors.New(`its "args" are not an object`)
	}
	switch {
	case c.Error != nil && (c.Output != nil || c.Contains != nil):
		return errors.New(`it has both an "error" and an "output", and a call ends in one way only`)
	case c.Error == nil && c.Output == nil && c.Contains == nil:
		return errors.New(`it has none of "output", "contains" and "error", and so tests nothing`)
	case c.Contains != nil && *c.Contains == "":
		return errors.New(`its "contains" is empty, and so tests nothing`)
	}
	return nil
}

// String identifies a case for people: its name, or its arguments.
func (c toolCase) String() string {
	if c.Name != "" {
		return c.Name
	}
	var b bytes.Buffer
	if json.Compact(&b, c.Args) != nil {
		return string(c.Args)
	}
	return b.String()
}

// Check compares the outcome of a call with the case. A final line feed makes no difference. The
// error has the expected and the actual outcome.
func (c toolCase) Check(output string, err error) error {
	if c.Error != nil {
		switch {
		case err == nil:
			return fmt.Errorf("it did not fail, though an error with %q was wanted\ngot: %s", *c.Error, output)
		case !strings.Contains(err.Error(), *c.Error):
			return fmt.Errorf("it failed with another error\nwanted: %s\ngot:    %s", *c.Error, err.Error())
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("it failed: %w", err)
	}
	got := strings.TrimSuffix(output, "\n")
	if c.Output != nil && got != strings.TrimSuffix(*c.Output, "\n") {
		return fmt.Errorf("its output is another one\nwanted: %q\ngot:    %q", strings.TrimSuffix(*c.Output, "\n"), got)
	}
	if c.Contains != nil && !strings.Contains(output, *c.Contains) {
		return fmt.Errorf("its output does not contain what was wanted\nwanted: %q\ngot:    %q", *c.Contains, got)
	}
	return nil
}

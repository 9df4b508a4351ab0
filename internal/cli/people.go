package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/helve-dev/helve/tool"
)

// forPeople words the error of a call that a person made by hand. Models get lists that they can
// interpret; a person gets a description of the problem.
func forPeople(req tool.Call, err error) error {
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		return err
	}
	if why := e.Reason(); why != "" {
		brief := *e
		brief.Err, brief.Hint = errors.New(why), ""
		if e.Kind == tool.Denied {
			brief.Hint = "'helve permission explain' shows what decides about a call."
		}
		return &brief
	}
	brief := *e
	takes := fmt.Sprintf("'helve tools %s' shows what it takes.", req.Tool)
	switch {
	case e.Kind == tool.UnknownTool:
		_, listed, ok := strings.Cut(e.Error(), ". Available tools: ")
		if !ok {
			return err
		}
		_, why, _ := strings.Cut(listed, ". ") // why one that a user brings could not be loaded
		brief.Err = fmt.Errorf("no tool called %q is offered", req.Tool)
		brief.Hint = cmp.Or(e.Hint, why) + "\n'helve tools' lists those that are."
	case e.Kind != tool.InvalidInput:
		return err
	case len(e.Issues) == 0:
		brief.Hint = cmp.Or(e.Hint, takes)
	case e.Garbled:
		brief.Err = fmt.Errorf("the arguments of %s can not be read: %s", req.Tool, e.Issues[0].Message)
		brief.Hint = takes
	default:
		brief.Err = fmt.Errorf("the arguments of %s do not fit", req.Tool)
		brief.Hint = e.Hint + "\n" + takes
	}
	brief.Hint = strings.TrimLeft(brief.Hint, "\n")
	return &brief
}

package process

import (
	"encoding/json"
	"fmt"
)

// Words says how a job stands.
func (i JobInfo) Words() string {
	switch {
	case i.State == JobRunning && i.Exited:
		return "running (the command itself has ended, what it started goes on)"
	case i.State == JobRunning && i.Orphan:
		return "running without its runtime"
	case i.State != JobEnded:
		return string(i.State)
	case i.Signal != "":
		return "ended by " + i.Signal
	case i.Cut:
		return fmt.Sprintf("ended (the command had exit code %d)", i.Code)
	}
	return fmt.Sprintf("ended with exit code %d", i.Code)
}

// MarshalJSON writes a job. There is no exit code before the command has
// ended.
func (i JobInfo) MarshalJSON() ([]byte, error) {
	type plain JobInfo
	var code *int
	if i.Exited {
		code = &i.Code
	}
	return json.Marshal(struct {
		plain
		Code *int `json:"code,omitempty"`
	}{plain(i), code})
}

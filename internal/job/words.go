package job

import (
	"encoding/json"
	"fmt"
)

// Words says how a job stands.
func (i Info) Words() string {
	switch {
	case i.State == Running && i.Exited:
		return "running (the command itself has ended, what it started goes on)"
	case i.State == Running && i.Orphan:
		return "running without its runtime"
	case i.State != Ended:
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
func (i Info) MarshalJSON() ([]byte, error) {
	type plain Info
	var code *int
	if i.Exited {
		code = &i.Code
	}
	return json.Marshal(struct {
		plain
		Code *int `json:"code,omitempty"`
	}{plain(i), code})
}

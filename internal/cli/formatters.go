package cli

import (
	"bytes"
	"encoding/json"

	"github.com/helve-dev/helve"
)

// formatters reads the config key: true or an object switch formatting on,
// everything else leaves it off. Formatters keep the order they are written
// in.
func (a *app) formatters(section json.RawMessage) *helve.Formatters {
	out := &helve.Formatters{Builtin: true}
	for _, name := range []string{"EXPERIMENTAL_OXFMT", "EXPERIMENTAL"} {
		out.Experimental = out.Experimental || a.truth("HELVE_"+name) || a.truth("OPENCODE_"+name)
	}
	if string(section) == "true" {
		return out
	}
	dec := json.NewDecoder(bytes.NewReader(section))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return out
		}
		var f struct {
			Disabled    bool              `json:"disabled"`
			Command     []string          `json:"command"`
			Environment map[string]string `json:"environment"`
			Extensions  []string          `json:"extensions"`
		}
		if err := dec.Decode(&f); err != nil { // checked when the config was read
			return out
		}
		key, _ := name.(string)
		out.Own = append(out.Own, helve.Formatter{
			Name: key, Disabled: f.Disabled, Command: f.Command, Environment: f.Environment, Extensions: f.Extensions,
		})
	}
	return out
}

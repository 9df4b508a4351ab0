package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"helve/internal/config"
	"helve/permission"
)

// shownConfig is what helve config --json prints.
type shownConfig struct {
	Config   json.RawMessage              `json:"config"`
	Origins  map[string]permission.Source `json:"origins"`
	Sources  []config.Source              `json:"sources"`
	Problems []config.Problem             `json:"problems"`
	Withheld []config.Withheld            `json:"withheld"`
	Policy   string                       `json:"policyError,omitempty"`
}

func (a *app) configCommand() *cobra.Command {
	var asJSON, secrets bool
	c := &cobra.Command{
		Use:   "config",
		Short: "Show the configuration that holds here, and where it comes from",
		Long: `Config prints the merged configuration with the file and line each key was
written in, then what is wrong with the files, and what is not in force because
its file is not trusted. Values that look like secrets are left out unless
--secrets is given.`,
		Example: `  helve config
  helve config --json
  helve config check`,
		Args: atMost(0),
		RunE: func(*cobra.Command, []string) error {
			s, err := a.load()
			if err != nil {
				return err
			}
			raw := s.cfg.Raw
			if !secrets {
				raw = redacted(raw)
			}
			if asJSON {
				return a.configJSON(s.cfg, raw)
			}
			return a.printConfig(s.cfg, raw)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&secrets, "secrets", false, "print secrets too")
	c.AddCommand(a.configCheckCommand())
	return c
}

func (a *app) configCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Check the config files; exit 1 on errors",
		Long:  "Check prints every mistake in the config files with its place and the key that was probably meant.",
		Example: `  helve config check
  helve config check --dir ../other`,
		Args: atMost(0),
		RunE: func(*cobra.Command, []string) error {
			s, err := a.load()
			if err != nil {
				return err
			}
			bad := s.cfg.PolicyError != nil
			for i := range s.cfg.Problems {
				p := &s.cfg.Problems[i]
				bad = bad || p.Severity == config.Error
				fmt.Fprintf(a.Stdout, "%s: %s\n", p.Severity, safe(p.Error()))
			}
			if bad {
				return &silent{exitFailed}
			}
			fmt.Fprintf(a.Stdout, "ok: %d sources, %d warnings\n", len(s.cfg.Sources), len(s.cfg.Problems))
			return nil
		},
	}
}

func (a *app) configJSON(cfg *config.Config, raw json.RawMessage) error {
	out := shownConfig{
		Config: raw, Origins: cfg.Origins, Sources: append([]config.Source{}, cfg.Sources...),
		Problems: append([]config.Problem{}, cfg.Problems...), Withheld: append([]config.Withheld{}, cfg.Withheld...),
	}
	if len(raw) == 0 {
		out.Config = json.RawMessage("{}")
	}
	if cfg.PolicyError != nil {
		out.Policy = cfg.PolicyError.Error()
	}
	return a.printJSON(out)
}

func (a *app) printConfig(cfg *config.Config, raw json.RawMessage) error {
	st := a.style(a.Stdout)
	members, err := ordered(raw)
	if err != nil {
		return err
	}
	for _, m := range members {
		where := ""
		if from, ok := cfg.Origins[m.key]; ok {
			where = "  " + st.dim("("+safe(from.String())+")")
		}
		var b bytes.Buffer
		if err := json.Indent(&b, m.value, "", "  "); err != nil {
			return fmt.Errorf("printing the config: %w", err)
		}
		fmt.Fprintf(a.Stdout, "%s%s\n%s\n", st.bold(safe(m.key)), where, safe(b.String()))
	}
	if len(members) == 0 {
		fmt.Fprintln(a.Stdout, "No configuration: the default rules hold.")
	}
	for _, s := range cfg.Sources {
		state := ""
		switch {
		case s.Changed:
			state = ", changed since it was trusted"
		case s.Guarded && !s.Trusted:
			state = ", not trusted"
		case s.Guarded:
			state = ", trusted"
		}
		fmt.Fprintf(a.Stdout, "source: %s (%s%s)\n", safe(s.Path), s.Kind, state)
	}
	a.warn(cfg)
	if cfg.PolicyError != nil {
		a.errorln(cfg.PolicyError.Error())
	}
	return nil
}

// A jsonMember is a member of an object.
type jsonMember struct {
	key   string
	value json.RawMessage
}

// ordered reads an object in its written order.
func ordered(raw json.RawMessage) ([]jsonMember, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("reading the config: %w", err)
	}
	var out []jsonMember
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("reading the config: %w", err)
		}
		m := jsonMember{key: fmt.Sprint(tok)}
		if err := dec.Decode(&m.value); err != nil {
			return nil, fmt.Errorf("reading the config: %w", err)
		}
		out = append(out, m)
	}
	return out, nil
}

// redacted replaces the text of members whose name says that they are secret,
// wherever they stand. Order and everything else stay.
func redacted(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return raw
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var out bytes.Buffer
	r := redactor{dec: dec, out: &out}
	if err := r.value(false); err != nil && err != io.EOF {
		return json.RawMessage(`"the config can not be shown"`)
	}
	return out.Bytes()
}

type redactor struct {
	dec *json.Decoder
	out *bytes.Buffer
}

// value copies one value. Texts in a secret one are replaced.
func (r *redactor) value(secret bool) error {
	tok, err := r.dec.Token()
	if err != nil {
		return err
	}
	switch v := tok.(type) {
	case json.Delim:
		return r.container(v, secret)
	case string:
		if secret {
			v = "[redacted]"
		}
		r.out.Write(quoted(v))
	case nil:
		r.out.WriteString("null")
	default:
		fmt.Fprint(r.out, v)
	}
	return nil
}

func (r *redactor) container(open json.Delim, secret bool) error {
	r.out.WriteRune(rune(open))
	for first := true; r.dec.More(); first = false {
		if !first {
			r.out.WriteByte(',')
		}
		inside := secret
		if open == '{' {
			tok, err := r.dec.Token()
			if err != nil {
				return err
			}
			key := fmt.Sprint(tok)
			r.out.Write(quoted(key))
			r.out.WriteByte(':')
			inside = secret || secretName(key)
		}
		if err := r.value(inside); err != nil {
			return err
		}
	}
	end, err := r.dec.Token()
	if err != nil {
		return err
	}
	fmt.Fprint(r.out, end)
	return nil
}

// secretName reports whether a name is that of something secret.
func secretName(name string) bool {
	name = strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
	if name == "headers" || name == "authorization" {
		return true
	}
	for _, word := range []string{"apikey", "token", "secret", "password", "credential", "privatekey", "accesskey"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return strings.HasSuffix(name, "key")
}

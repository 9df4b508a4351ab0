package openai

import (
	"strconv"
	"strings"

	"github.com/helve-dev/helve/model"
)

const maxName = 64

// names maps tool names to names with only letters, digits, '_' and '-', which the protocol
// requires, and back.
type names struct{ out, back map[string]string }

// namesOf maps the tools of a request and those in its history. Valid names stay unchanged.
func namesOf(req model.Request) names {
	n := names{out: map[string]string{}, back: map[string]string{}}
	var all []string
	for _, t := range req.Tools {
		all = append(all, t.Name)
	}
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			if p.Call != nil {
				all = append(all, p.Call.Name)
			}
		}
	}
	for _, name := range all {
		if fitted(name) == name {
			n.out[name], n.back[name] = name, name
		}
	}
	for _, name := range all {
		if _, ok := n.out[name]; ok {
			continue
		}
		base := fitted(name)
		free := base
		for i := 2; n.inUse(free); i++ {
			suffix := "_" + strconv.Itoa(i)
			free = base[:min(len(base), maxName-len(suffix))] + suffix
		}
		n.out[name], n.back[free] = free, name
	}
	return n
}

func (n names) inUse(name string) bool {
	_, ok := n.back[name]
	return ok
}

func fitted(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "_"
	}
	return name[:min(len(name), maxName)]
}

// original returns the name of a tool that the model calls.
func (n names) original(name string) string {
	if own, ok := n.back[name]; ok {
		return own
	}
	return name
}

// idsOf returns the ids of the calls in a conversation.
func idsOf(req model.Request) map[string]bool {
	ids := map[string]bool{}
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			if p.Call != nil {
				ids[p.Call.ID] = true
			}
		}
	}
	return ids
}

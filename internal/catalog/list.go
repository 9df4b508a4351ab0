package catalog

import (
	"cmp"
	"slices"

	"github.com/helve-dev/helve/model"
)

// A Listing is a provider and how it is doing, without its key.
type Listing struct {
	ID       string   `json:"id"`
	Also     string   `json:"also,omitempty"` // another name of it
	Name     string   `json:"name"`
	Protocol Protocol `json:"protocol"`
	URL      string   `json:"url,omitempty"`
	State    State    `json:"state"`
	Key      string   `json:"key,omitempty"`   // where its key was found
	Env      []string `json:"env,omitempty"`   // the variables that its key is looked for in
	Error    string   `json:"error,omitempty"` // why it cannot be used
	From     string   `json:"from,omitempty"`  // where it is configured
	Models   []Listed `json:"models"`
}

// A State is the state of a provider in a word.
type State string

// The states. A ready provider may still fail to respond.
const (
	Ready  State = "ready"
	Local  State = "local" // it needs no key, and may run or not
	NoKey  State = "no key"
	Off    State = "off"
	Broken State = "broken" // its settings cannot be used
)

// Listed is a known or configured model. Zero fields are unknown.
type Listed struct {
	ID         string `json:"id"`
	Name       string `json:"name,omitempty"`
	Configured bool   `json:"configured"`
	model.Info
}

// List returns every provider, those first that can be used.
func (c *Catalog) List() []Listing {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]Listing, 0, len(c.served))
	for _, s := range c.served {
		l := Listing{
			ID: s.ID, Also: s.Also, Name: s.Name, Protocol: s.Protocol, URL: s.URL, State: s.state(), Key: s.keyFrom, Env: s.Env, From: s.conf.From,
			Models: s.list(),
		}
		if s.err != nil {
			l.Error = s.err.Error()
		}
		out = append(out, l)
	}
	order := []State{Ready, Broken, Local, NoKey, Off}
	slices.SortStableFunc(out, func(a, b Listing) int { return cmp.Compare(slices.Index(order, a.State), slices.Index(order, b.State)) })
	return out
}

func (s *served) state() State {
	switch {
	case s.off:
		return Off
	case s.noKey:
		return NoKey
	case s.err != nil:
		return Broken
	case s.Local && !s.configured:
		return Local
	}
	return Ready
}

// list returns the models of a provider: first the configured ones, then the known ones.
func (s *served) list() []Listed {
	out := []Listed{}
	add := func(m Model, configured bool) {
		if slices.ContainsFunc(out, func(l Listed) bool { return l.ID == m.ID }) {
			return
		}
		out = append(out, Listed{ID: m.ID, Name: m.Name, Configured: configured, Info: s.info(m)})
	}
	for _, m := range s.conf.Models {
		add(s.model(m.ID), true)
	}
	if s.Default != "" {
		add(s.model(s.Default), false)
	}
	for _, f := range families() {
		if f.of == s.ID && !f.dated {
			add(s.model(f.name), false)
		}
	}
	return out
}

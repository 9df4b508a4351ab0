package config

import (
	"maps"
	"slices"
	"strings"
)

// A shape describes the valid values of a setting.
type shape struct {
	kinds  string             // the node kinds allowed; any when empty
	words  []string           // a string must be one of these
	like   string             // what to write, where the kinds say too little
	above  bool               // a number must be whole and above 0
	fields map[string]*shape  // the keys of an object
	open   bool               // any other key may stand in the object too
	each   *shape             // of every other key's value, or of every element
	whole  bool               // a mistake inside leaves out the whole value
	policy bool               // a mistake inside makes the policy void
	rules  bool               // it is a policy: read as one
	tools  bool               // its keys are names of tools
	helve  bool               // only in helve's own files
	alone  bool               // of a list: an element with a mistake is left out alone
	stops  bool               // a mistake inside switches it off: left out, it would run with other settings
	strict bool               // a key that is not known is a mistake inside, and not only told
	guards bool               // what it forbids is not forbidden without it: a name nearly its own, or one in a file where it has no effect, is a mistake
	good   func(*node) string // what else is wrong with it; "" for nothing
}

// The shapes of values that need no more than a kind.
func anyShape() *shape    { return &shape{} }
func textShape() *shape   { return &shape{kinds: "s"} }
func boolShape() *shape   { return &shape{kinds: "b"} }
func countShape() *shape  { return &shape{kinds: "n", above: true} }
func objectShape() *shape { return &shape{kinds: "o", open: true} }
func textsShape() *shape  { return &shape{kinds: "a", each: textShape()} }
func stringMap() *shape   { return &shape{kinds: "o", each: textShape()} }
func rulesShape() *shape  { return &shape{kinds: "so", rules: true, policy: true} }
func toolsShape() *shape {
	return &shape{kinds: "o", each: &shape{kinds: "b", policy: true}, policy: true, tools: true}
}

// guarding marks a shape as one that restricts something.
func guarding(s *shape) *shape {
	s.guards = true
	return s
}

// agentShape is the shape of an agent; unknown keys are options of the agent.
func agentShape() *shape {
	return &shape{kinds: "o", open: true, policy: true, fields: map[string]*shape{
		"name":        textShape(),
		"description": textShape(),
		"model":       textShape(),
		"variant":     textShape(),
		"prompt":      textShape(),
		"temperature": {kinds: "n", good: between(2)},
		"top_p":       {kinds: "n", good: between(1)},
		"mode":        {kinds: "s", words: []string{"subagent", "primary", "all"}},
		"hidden":      boolShape(),
		"disable":     {kinds: "b", policy: true},
		"color":       {kinds: "s", good: badColor},
		"steps":       countShape(),
		"maxSteps":    countShape(),
		"options":     objectShape(),
		"permission":  rulesShape(),
		"tools":       toolsShape(),
	}}
}

func mcpShape() *shape {
	return &shape{kinds: "o", whole: true, stops: true, fields: map[string]*shape{
		"type":        {kinds: "s", words: []string{"local", "remote"}},
		"command":     textsShape(),
		"cwd":         textShape(),
		"environment": stringMap(),
		"enabled":     boolShape(),
		"timeout":     countShape(),
		"url":         textShape(),
		"headers":     stringMap(),
		"oauth": {kinds: "bo", fields: map[string]*shape{
			"clientId": textShape(), "clientSecret": textShape(), "scope": textShape(), "redirectUri": textShape(),
			"callbackPort": countShape(),
		}},
		"limit": {kinds: "n", above: true, helve: true},
		"wall":  {kinds: "b", helve: true, guards: true},
		"roots": {kinds: "b", helve: true},
	}}
}

func formatterShape() *shape {
	return &shape{kinds: "o", whole: true, fields: map[string]*shape{
		"disabled":    boolShape(),
		"command":     textsShape(),
		"environment": stringMap(),
		"extensions":  textsShape(),
	}}
}

// wallShape is the shape of the sandbox settings. If one were ignored, commands would run with less
// protection than intended.
func wallShape() *shape {
	part := func(s *shape) *shape {
		s.policy = true
		if s.each != nil {
			s.each.policy = true
		}
		return s
	}
	return &shape{kinds: "o", like: `{"level": "write"}`, helve: true, policy: true, strict: true, guards: true, fields: map[string]*shape{
		"level":    part(&shape{kinds: "s", words: []string{"off", "write", "strict"}}),
		"required": part(boolShape()),
		"writable": part(textsShape()),
		"readable": part(textsShape()),
	}}
}

// finderShape is the shape of a search service.
func finderShape() *shape {
	return &shape{kinds: "o", helve: true, whole: true, fields: map[string]*shape{
		"provider":   {kinds: "s", words: []string{"exa", "searxng", "brave", "tavily", "command"}},
		"endpoint":   textShape(),
		"key":        textShape(),
		"command":    textsShape(),
		"timeout_ms": countShape(),
	}}
}

// fileShape is the shape of a config file. It includes keys that only other parts of OpenCode use,
// so that its files load without warnings.
func fileShape() *shape {
	file := &shape{kinds: "o", policy: true, fields: map[string]*shape{
		"permission":    rulesShape(),
		"tools":         guarding(toolsShape()),
		"agent":         {kinds: "o", each: agentShape(), policy: true, guards: true},
		"mode":          {kinds: "o", each: agentShape(), policy: true},
		"default_agent": textShape(),
		"mcp":           {kinds: "o", each: mcpShape()},
		"lsp":           {kinds: "bo", each: lspShape()},
		"formatter":     {kinds: "bo", each: formatterShape()},
		"skills":        {kinds: "o", fields: map[string]*shape{"paths": textsShape(), "urls": textsShape()}},
		"plugin":        {kinds: "a", alone: true, each: pluginShape()},
		"instructions":  textsShape(),
		"snapshot":      boolShape(),
		"compaction": {kinds: "o", open: true, fields: map[string]*shape{
			"auto": boolShape(), "prune": boolShape(), "reserved": {kinds: "n", good: notCount},
		}},
		"watcher": {kinds: "o", fields: map[string]*shape{"ignore": textsShape()}},
		"experimental": {kinds: "o", open: true, fields: map[string]*shape{
			"batch_tool":            boolShape(),
			"continue_loop_on_deny": boolShape(),
			"openTelemetry":         boolShape(),
			"primary_tools":         textsShape(),
			"mcp_timeout":           countShape(),
			"disable_paste_summary": boolShape(),
			"hook":                  objectShape(),
			"chatMaxRetries":        {kinds: "n"},
			"lsp_tool":              boolShape(),
			"plan_mode":             boolShape(),
		}},
		"tool_output": {kinds: "o", fields: map[string]*shape{
			"max_lines":      countShape(),
			"max_bytes":      countShape(),
			"retention_days": {kinds: "n", above: true, helve: true},
			"quota_bytes":    {kinds: "n", above: true, helve: true},
		}},
		"$schema": textShape(), "theme": textShape(), "username": textShape(), "layout": textShape(),
		"model": textShape(), "small_model": textShape(), "shell": textShape(),
		"logLevel": textShape(), "share": textShape(), "autoshare": boolShape(),
		"autoupdate":         {kinds: "bs"},
		"disabled_providers": textsShape(), "enabled_providers": textsShape(),
		"subagent_depth": {kinds: "n", good: notCount},
		"keybinds":       objectShape(), "tui": objectShape(), "server": objectShape(), "command": objectShape(),
		"provider":   {kinds: "o", each: providerShape()},
		"enterprise": objectShape(), "attachment": objectShape(),
		"reference": anyShape(), "references": anyShape(),
	}}
	maps.Copy(file.fields, ownFields())
	return file
}

// ownFields are the keys that only helve's own files have.
func ownFields() map[string]*shape {
	return map[string]*shape{
		"permission_examples": {kinds: "o", helve: true, policy: true, each: &shape{kinds: "o", each: &shape{kinds: "s", words: []string{"allow", "ask", "deny"}, policy: true}, policy: true}},
		"repair":              {kinds: "b", helve: true},
		"durable":             {kinds: "b", helve: true},
		"edit": {kinds: "o", helve: true, fields: map[string]*shape{
			"matching": {kinds: "s", words: []string{"safe", "seed"}},
			"unread":   boolShape(),
		}},
		"search": {kinds: "o", helve: true, fields: map[string]*shape{
			"order":        {kinds: "s", words: []string{"newest", "first", "name"}},
			"limit":        countShape(),
			"budget_ms":    countShape(),
			"memory_bytes": {kinds: "n"},
			"keep":         boolShape(),
		}},
		"bash": {kinds: "o", helve: true, fields: map[string]*shape{
			"timeout_ms":     countShape(),
			"max_timeout_ms": countShape(),
			"pass_env":       textsShape(),
			"set_env":        {kinds: "o", each: textShape()},
			"jobs":           countShape(),
			"job_bytes":      {kinds: "n", above: true},
			"jobs_bytes":     {kinds: "n", above: true},
			"checkpoint":     boolShape(),
			"detach":         textsShape(),
		}},
		"wall": wallShape(),
		"web": {kinds: "o", helve: true, fields: map[string]*shape{
			"user_agent":     textShape(),
			"proxy":          textShape(),
			"timeout_ms":     countShape(),
			"max_timeout_ms": countShape(),
			"max_bytes":      {kinds: "n", above: true},
			"cache":          boolShape(),
		}},
		"hooks":            hooksShape(),
		"custom":           customShape(),
		"language_servers": serversShape(),
		"websearch":        finderShape(),
		"codesearch":       finderShape(),
		"task":             budgetShape("time_s", "idle_s", "tokens", "cost", "steps", "calls"),
		"session":          budgetShape("time_s", "idle_s", "tokens", "cost", "steps", "calls"),
		"history":          {kinds: "o", helve: true, fields: map[string]*shape{"quota_bytes": {kinds: "n", above: true}}},
	}
}

// keyNames gives the keys of an object's shape, sorted.
func (s *shape) keyNames() []string { return slices.Sorted(maps.Keys(s.fields)) }

// guarded returns the keys that restrict something, sorted.
func (s *shape) guarded() (names []string) {
	for name, f := range s.fields {
		if f.guards {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// want returns in words what the shape accepts.
func (s *shape) want() string {
	if len(s.words) > 0 {
		return `"` + strings.Join(s.words[:len(s.words)-1], `", "`) + `" or "` + s.words[len(s.words)-1] + `"`
	}
	if s.above {
		return "a whole number above 0"
	}
	var words []string
	for _, k := range []byte(s.kinds) {
		words = append(words, kindWord(k))
	}
	return strings.Join(words, " or ")
}

func kindWord(kind byte) string {
	switch kind {
	case 'o':
		return "an object"
	case 'a':
		return "a list"
	case 's':
		return "a string"
	case 'n':
		return "a number"
	case 'b':
		return "true or false"
	}
	return "null"
}

// knownPermissions are the permissions of the built-in tools; a similar name is probably a typo.
func knownPermissions() []string {
	return []string{
		"read", "edit", "glob", "grep", "list", "bash", "task", "external_directory", "todowrite", "todoread",
		"question", "webfetch", "websearch", "codesearch", "lsp", "doom_loop", "skill", "plan_enter", "plan_exit",
	}
}

// knownTools are the names of the built-in tools with their permissions.
func knownTools() []string {
	return append(knownPermissions(), "write", "multiedit", "apply_patch", "job", "batch", "tool_search", "tool_call",
		"list_mcp_resources", "read_mcp_resource")
}

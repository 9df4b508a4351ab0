package config

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/helve-dev/helve/permission"
)

// buildConfig turns the merged tree into the Config.
func (l *loader) buildConfig() *Config {
	c, m := l.cfg, l.merged
	modesToAgents(m)
	toolRules(m)
	if policy := m.get("permission"); policy != nil {
		rules, e, err := policy.policyRules(l.opt.Home)
		for _, ce := range configErrors(err) {
			in, at := e.originOf(ce.Offset)
			l.void(l.addProblem(in, at, Problem{Key: "permission", Message: ce.Error(), Severity: Error}))
		}
		c.Rules = rules
	}
	l.agents()
	l.models()
	c.DefaultAgent = textOf(m.get("default_agent"))
	n := m.get("experimental")
	c.Experimental = Experimental{
		BatchTool:          truth(n.get("batch_tool")),
		ContinueLoopOnDeny: truth(n.get("continue_loop_on_deny")),
		OpenTelemetry:      truth(n.get("openTelemetry")),
		MCPTimeout:         int(intValue(n.get("mcp_timeout"))),
		PrimaryTools:       elemTexts(n.get("primary_tools")),
		LSPTool:            truth(n.get("lsp_tool")),
		PlanMode:           truth(n.get("plan_mode")),
	}
	if out := m.get("tool_output"); out != nil {
		c.ToolOutput = ToolOutput{
			MaxLines:      int(intValue(out.get("max_lines"))),
			MaxBytes:      int(intValue(out.get("max_bytes"))),
			RetentionDays: int(intValue(out.get("retention_days"))),
			QuotaBytes:    intValue(out.get("quota_bytes")),
		}
	}
	c.Repair = maybe(m.get("repair"))
	c.Durable = truth(m.get("durable"))
	if e := m.get("edit"); e != nil {
		c.Edit = Edit{Matching: textOf(e.get("matching")), Unread: truth(e.get("unread"))}
	}
	c.Search = searching(m.get("search"))
	c.Bash, c.Wall = running(m.get("bash")), walled(m.get("wall"))
	if l.unwalled { // what it was to hold is not known, and something may run though every call is denied
		c.Wall = Wall{Level: "strict"}
	}
	c.Web = networked(m.get("web"))
	c.Web.Search, c.Web.Code = finding(m.get("websearch")), finding(m.get("codesearch"))
	l.network()
	c.Bash.Shell = textOf(m.get("shell"))
	if h := m.get("history"); h != nil {
		c.HistoryBytes = intValue(h.get("quota_bytes"))
	}
	l.languages()
	c.LanguageServers, c.ProjectTrusted = serving(m.get("language_servers")), l.trustsProject()
	c.MCP, c.LSP = section(m, "mcp"), section(m, "lsp")
	c.Formatter, c.Skills = section(m, "formatter"), section(m, "skills")
	l.brought()
	c.Plugins, c.Instructions = entries(m.get("plugin")), entries(m.get("instructions"))
	c.Raw = encode(m)
	l.origins()
	if c.PolicyError != nil {
		// An invalid policy denies everything, so that a caller who ignores the error is safe.
		from := permission.Source{}
		if pe, ok := l.cfg.PolicyError.(*policyError); ok {
			from = permission.Source{File: pe.problem.File, Line: pe.problem.Line}
		}
		all := permission.Rule{Permission: "*", Pattern: "*", Action: permission.Deny, From: from}
		l.cfg.Ceilings = append(l.cfg.Ceilings, permission.Ruleset{all})
	}
	return c
}

func searching(v *node) Search {
	if v == nil {
		return Search{}
	}
	s := Search{
		Order: textOf(v.get("order")), Limit: int(intValue(v.get("limit"))),
		BudgetMS: int(intValue(v.get("budget_ms"))), Memory: int(intValue(v.get("memory_bytes"))),
	}
	s.Keep = maybe(v.get("keep"))
	return s
}

func running(v *node) Bash {
	if v == nil {
		return Bash{}
	}
	b := Bash{
		TimeoutMS: int(intValue(v.get("timeout_ms"))), MaxTimeoutMS: int(intValue(v.get("max_timeout_ms"))),
		PassEnv: elemTexts(v.get("pass_env")), Jobs: int(intValue(v.get("jobs"))),
		JobBytes: intValue(v.get("job_bytes")), JobsBytes: intValue(v.get("jobs_bytes")), Checkpoint: maybe(v.get("checkpoint")),
		Detach: elemTexts(v.get("detach")),
	}
	if set := v.get("set_env"); set != nil {
		b.SetEnv = map[string]string{}
		for _, m := range set.members {
			b.SetEnv[m.key] = textOf(m.val)
		}
	}
	return b
}

func networked(v *node) Web {
	if v == nil {
		return Web{}
	}
	return Web{
		UserAgent: textOf(v.get("user_agent")), Proxy: textOf(v.get("proxy")), MaxBytes: intValue(v.get("max_bytes")),
		TimeoutMS: int(intValue(v.get("timeout_ms"))), MaxTimeoutMS: int(intValue(v.get("max_timeout_ms"))), Cache: maybe(v.get("cache")),
	}
}

func finding(v *node) Finder {
	if v == nil {
		return Finder{}
	}
	return Finder{
		Provider: textOf(v.get("provider")), Endpoint: textOf(v.get("endpoint")), Key: textOf(v.get("key")),
		Command: elemTexts(v.get("command")), TimeoutMS: int(intValue(v.get("timeout_ms"))),
	}
}

func walled(v *node) Wall {
	if v == nil {
		return Wall{}
	}
	return Wall{
		Level: textOf(v.get("level")), Required: maybe(v.get("required")),
		Writable: elemTexts(v.get("writable")), Readable: elemTexts(v.get("readable")),
	}
}

// maybe returns a switch, nil if it is not set.
func maybe(v *node) *bool {
	if v == nil {
		return nil
	}
	b := truth(v)
	return &b
}

func (l *loader) origins() {
	for _, m := range l.merged.members {
		l.cfg.Origins[m.key] = m.in.sourceAt(m.at)
		if m.val.kind != 'o' {
			continue
		}
		for _, sub := range m.val.members {
			l.cfg.Origins[m.key+"."+sub.key] = sub.in.sourceAt(sub.at)
		}
	}
	for _, m := range l.merged.members {
		if !m.val.only(m.in) {
			l.partOrigins(m.key, m.val)
		}
	}
}

// partOrigins records the origins of everything in a value.
func (l *loader) partOrigins(name string, n *node) {
	for _, m := range n.members {
		sub := name + "." + m.key
		l.cfg.Origins[sub] = m.in.sourceAt(m.at)
		l.partOrigins(sub, m.val)
	}
	for i, e := range n.elems {
		sub := name + "." + strconv.Itoa(i)
		l.cfg.Origins[sub] = e.sourceRule()
		l.partOrigins(sub, e)
	}
}

// only reports whether all of a value comes from one input.
func (n *node) only(in *input) bool {
	for _, m := range n.members {
		if m.in != in || !m.val.only(in) {
			return false
		}
	}
	for _, e := range n.elems {
		if e.in != in || !e.only(in) {
			return false
		}
	}
	return true
}

// modesToAgents moves the entries of the old key mode to agent, where each is a primary agent.
func modesToAgents(m *node) {
	modes := m.get("mode")
	if modes == nil {
		return
	}
	moved := &node{kind: 'o', in: modes.in, at: modes.at}
	for _, a := range modes.members {
		val := &node{kind: 'o', in: a.val.in, at: a.val.at, members: slices.Clone(a.val.members)}
		val.put(member{"mode", stringNode("primary", a.val), a.in, a.at})
		moved.put(member{a.key, val, a.in, a.at})
	}
	top := m.members[m.find("mode")]
	m.filterMembers(func(x member) bool { return x.key != "mode" })
	m.merge(&node{kind: 'o', members: []member{{"agent", moved, top.in, top.at}}})
}

// agents builds the agents from the tree with their ceilings.
func (l *loader) agents() {
	c := l.cfg
	place := map[string]int{}
	if all := l.merged.get("agent"); all != nil {
		for _, m := range all.members {
			place[m.key] = len(c.Agents)
			c.Agents = append(c.Agents, l.agent(m))
		}
	}
	for _, limit := range l.agentCeilings {
		i, ok := place[limit.name]
		if !ok {
			i = len(c.Agents)
			place[limit.name] = i
			c.Agents = append(c.Agents, Agent{Name: limit.name, Untrusted: true, From: limit.from})
		}
		c.Agents[i].Ceilings = append(c.Agents[i].Ceilings, limit.rules)
		c.Agents[i].Broken = l.broken[limit.name]
	}
}

// inherited is what other programs write as the model of an agent without one of its own.
const inherited = "inherit"

func (l *loader) agent(m member) Agent {
	a := Agent{Name: m.key, From: m.in.sourceAt(m.at)}
	options := &node{kind: 'o', owned: true}
	for _, f := range m.val.members {
		switch f.key {
		case "name":
			if a.Title = f.val.text; a.Title == a.Name {
				a.Title = ""
			}
		case "description":
			a.Description = f.val.text
		case "mode":
			a.Mode = f.val.text
		case "disable":
			a.Disable = truth(f.val)
		case "hidden":
			hidden := truth(f.val)
			a.Hidden = &hidden
		case "model":
			if f.val.text != inherited {
				a.Model = f.val.text
			}
		case "prompt":
			a.Prompt = f.val.text
		case "color":
			a.Color = f.val.text
		case "permission":
			rules, e, err := f.val.policyRules(l.opt.Home)
			for _, ce := range configErrors(err) {
				in, at := e.originOf(ce.Offset)
				l.void(l.addProblem(in, at, Problem{Key: "agent", Message: ce.Error(), Severity: Error}))
			}
			a.Permission = rules
		case "options":
			options.merge(f.val)
		default:
			// Unknown settings are options.
			switch f.key {
			case "steps":
				a.Steps = int(intValue(f.val))
			case "maxSteps":
			case "temperature":
				a.Temperature = float(f.val)
			case "top_p":
				a.TopP = float(f.val)
			default:
				options.put(f)
			}
		}
	}
	if a.Steps == 0 {
		a.Steps = int(intValue(m.val.get("maxSteps")))
	}
	if len(options.members) > 0 {
		a.Options = encode(options)
	}
	return a
}

func section(m *node, key string) json.RawMessage {
	if n := m.get(key); n != nil {
		return encode(n)
	}
	return nil
}

func entries(n *node) []Entry {
	if n == nil {
		return nil
	}
	var all []Entry
	for _, e := range n.elems {
		all = append(all, Entry{Value: encode(e), Dir: e.in.dir, From: e.sourceRule()})
	}
	return all
}

func elemTexts(n *node) (all []string) {
	if n == nil {
		return nil
	}
	for _, e := range n.elems {
		all = append(all, e.text)
	}
	return all
}

func textOf(n *node) string {
	if n == nil {
		return ""
	}
	return n.text
}

func truth(n *node) bool { return n != nil && n.kind == 'b' && n.text == "true" }

func intValue(n *node) int64 {
	if n == nil {
		return 0
	}
	v, err := strconv.ParseInt(n.text, 10, 64)
	if err != nil { // the check lets only whole numbers through
		return 0
	}
	return v
}

func float(n *node) *float64 {
	v, err := strconv.ParseFloat(n.text, 64)
	if err != nil {
		return nil
	}
	return &v
}

// Package builtin holds the tools that come with helve, one file each, and the order in which they
// are shown.
package builtin

import (
	"context"

	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/lspclient"
	"github.com/helve-dev/helve/internal/replace"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// Rooms are the parts of the runtime that the tools use.
type Rooms struct {
	Files  *files.Workspace
	Search Searching // Files need not be set
	Shell  Shell
	// Checkpoint keeps copies of files that commands are about to destroy.
	Checkpoint bool
	Format     Formatters // nil for none
	// Matching is how edits find their text.
	Matching replace.Profile
	Todos    Todos
	People   People
	Calls    Calls
	// Resources are the resources of MCP servers; nil for none.
	Resources Resources
	Web       Web
	Skills    Skills // nil for none
	// Languages are the language servers; nil for none.
	Languages *lspclient.Set
	Delegates Delegates // nil for none
	Plans     Plans     // nil for none
}

// Todos keeps the todo lists of sessions.
type Todos interface {
	Todos(session string) ([]tool.Todo, error)
	SetTodos(session string, todos []tool.Todo) error
}

// People answer questions.
type People interface {
	Question(ctx context.Context, c *tool.Call, qs []tool.Question) ([][]string, error)
}

// Calls makes calls of other tools.
type Calls interface {
	Call(ctx context.Context, c tool.Call) (*tool.Result, error)
	// Tools returns the tools that are offered to a, in order.
	Tools(a tool.Audience) []tool.Spec
	// Gather loads the tools of external programs.
	Gather(ctx context.Context)
}

// All returns the tools in the order in which models are shown them. A stable order keeps prompt
// caches valid.
func All(r Rooms) []tool.Tool {
	r.Search.Files = r.Files
	e := editor{files: r.Files, format: r.Format, matching: r.Matching, languages: r.Languages}
	plan := planTools{plans: r.Plans, people: r.People}
	return []tool.Tool{
		invalid(),
		question(r.People),
		bash(commands{files: r.Files, shell: r.Shell, checkpoint: r.Checkpoint}),
		jobTool(r.Shell),
		read(r.Files, r.Languages),
		glob(r.Search),
		grep(r.Search),
		list(r.Files),
		edit(e),
		multiedit(e),
		write(e),
		task(r.Delegates),
		webfetch(r.Web),
		todowrite(r.Todos),
		todoread(r.Todos),
		websearch(r.Web),
		codesearch(r.Web),
		loadSkill(r.Skills),
		batch(r.Calls),
		applyPatch(e),
		language(e),
		planExit(plan),
		planEnter(plan),
		toolSearch(r.Calls),
		toolCall(r.Calls),
		listResources(r.Resources),
		readResource(r.Resources),
	}
}

// askAll asks for a permission as a whole, with the pattern *.
func askAll(ctx context.Context, c *tool.Call, name string) error {
	return c.Ask(ctx, permission.Request{Permission: name, Patterns: []string{"*"}, Always: []string{"*"}})
}

// asking runs the work of a tool that collects its permission requests in a batch. If the work
// fails before it has asked, only a caller with permission is told why.
func asking(ctx context.Context, c *tool.Call, work func(asks *permission.Batch) (*tool.Result, error)) (*tool.Result, error) {
	asks := permission.NewBatch(c)
	res, err := work(asks)
	if err != nil {
		return nil, asks.Fail(ctx, err)
	}
	return res, nil
}

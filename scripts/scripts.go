// Package scripts is the engine for tools and plugins of users: TypeScript and JavaScript, in
// process or in Bun or Node, and programs in any language. A runtime that is given
//
//	helve.Options{Plugins: plugin.Options{Folders: …}, Scripts: scripts.Engine()}
//
// loads them; only a program that imports this package links what that takes.
package scripts

import (
	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/custom"
	"github.com/helve-dev/helve/internal/plugins"
	"github.com/helve-dev/helve/plugin"
)

// Engine returns the engine. Several runtimes may have it.
func Engine() helve.ScriptEngine {
	return func(opt plugin.Options, s plugins.Services) plugins.Set {
		return custom.New(custom.Options{Options: opt, Services: s})
	}
}

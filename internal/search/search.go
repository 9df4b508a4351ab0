// Package search walks and searches a tree of files as ripgrep does: it honors ignore files and
// hidden names, and does not follow links.
//
// Ignore rules select what is searched. They are not access control.
package search

import (
	"context"
	"iter"
)

// Options say what to walk. The zero value walks the current folder.
type Options struct {
	// Dir is the folder to walk; "" is the current one. If Dir is a link it is followed; links
	// below it are not. It is walked even if an ignore file above it matches it.
	Dir string
	// Exact says that Dir is absolute and contains no link: one that has appeared in the path
	// meanwhile is not followed.
	Exact bool
	// Globs choose names relative to Dir, as ripgrep's --glob does. "*.go" and
	// "src/**" keep only what they match, "!x" leaves x out, the last that
	// matches decides. A name without a slash is meant at any depth. What a glob
	// keeps is kept although it is hidden or an ignore file names it, folders
	// included: "*" opens every folder. {a,b} is a choice.
	Globs []string
	// Closed says that a folder that an ignore file matches stays closed even if a glob such as "*"
	// matches it too, unless a glob names it: "build/**" opens an ignored folder build, "**/*" does
	// not.
	Closed bool
	// Hidden says that names with a leading dot are listed too.
	Hidden bool
	// Ignored disables ignore files.
	Ignored bool
	// Max ends the walk after that many names; 0 is no limit. To learn whether
	// there was more, ask for one more.
	Max int
	// Worktree is the highest folder whose ignore files apply to Dir. If it is "", or Dir is not
	// inside it, all folders above Dir count.
	Worktree string
	// Excludes is the user's own git excludes file; "" means the one that git's user settings name,
	// or else git/ignore below $XDG_CONFIG_HOME or ~/.config. os.DevNull means none.
	Excludes string
	// Skipped, if not nil, is set to what was left out when the walk ends.
	Skipped *Skipped
}

// Skipped counts what a walk left out, so that an answer can say so. A folder
// counts once, whatever is in it.
type Skipped struct {
	Ignored int   // named by an ignore file; what a glob such as "!x" names does not count
	Hidden  int   // a leading dot
	Barred  int   // files that a [Exclusion] shuts
	Binary  int   // files with a match that are not text, or not to their end
	Failed  int   // folders, files and ignore files that could not be read
	Err     error // why the first of the failed could not be read
}

// Files yields the names of the regular files in the tree, relative to Dir and
// with slashes, folder by folder in byte order of the names, so that two walks
// of the same tree are equal. It lists what `rg --files` lists, with these
// differences: a folder .git is never entered, an ignore file that is a link is
// not read, and ignore files follow git where ripgrep has its own reading of
// braces and brackets.
//
// A folder or an ignore file that cannot be read is passed over and counted in
// [Skipped]. An error is yielded, as the last pair and with no name, only if the
// walk as a whole fails: Dir cannot be read, a glob is wrong, ctx is done.
//
// Folders are opened below the handle of their parent and never through a
// link, so a folder that is exchanged for a link during the walk does not lead
// out of Dir. Memory is bounded by the entries of the folders on the way to the
// current one, handles by a constant.
func Files(ctx context.Context, opt Options) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		w := &walker{}
		defer w.close()
		err := w.open(ctx, opt)
		if err == nil {
			err = w.run(ctx, yield)
		}
		if opt.Skipped != nil {
			*opt.Skipped = w.skipped
		}
		if err != nil {
			yield("", err)
		}
	}
}

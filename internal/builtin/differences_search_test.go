package builtin_test

// searchDifferences are those of the tools that look for files.
func searchDifferences() []difference {
	const all = "asks_when_everything_asks"
	var ds []difference
	add := func(anchor, why, ours string, name string, fields ...string) {
		for _, field := range fields {
			ds = append(ds, difference{anchor, name, field, ours, why})
		}
	}
	for _, name := range []string{"bad_regex", "lookahead", "multiline_pattern"} {
		add("grep.invalid", "a pattern that can not be read is an error that says where, and nobody is asked about it", "", "grep."+name, "calls.0", all)
	}
	why := "a repository's own folder is not searched unless it is the path"
	add("search.git", why, "No files found", "grep.git_dir", "calls.0.output")
	add("search.git", why, "", "grep.git_dir", "calls.0.metadata")
	add("search.git", why, "No files found", "grep.empty_files", "calls.0.output")
	add("search.git", why, "", "grep.empty_files", "calls.0.metadata")
	add("search.git", why, "", "glob.single_star_all", "calls.0")
	add("search.git", why, "give it as path", "glob.git_dir", "calls.0.output")
	add("search.git", why, "", "glob.git_dir", "calls.0.metadata")
	why = "links are not followed"
	add("search.links", why, "", "grep.symlink_dir", "calls.0")
	add("search.links", why, "", "grep.symlink_broken", "calls.0")
	add("search.links", why, "", "glob.symlink_file", "calls.0")
	why = "what was left out is told"
	add("search.told", why, "1 ignored path not searched", "grep.dot_ignore_file", "calls.0.output")
	add("search.told", why, "1 binary file not shown", "grep.binary_only", "calls.0.output")
	add("grep.names", "a name may hold any character", "a|b.txt", "grep.pipe_in_name", "calls.0.output")
	add("grep.names", "a name may hold any character", "", "grep.pipe_in_name", "calls.0.metadata")
	add("glob.closed", "an ignored folder stays closed unless it is named", "1 ignored path not listed", "glob.gitignored", "calls.0.output")
	add("glob.closed", "an ignored folder stays closed unless it is named", "", "glob.gitignored", "calls.0.metadata")
	add("glob.newest", "the newest hundred, and not the newest of some hundred", "f119.txt", "glob.over_100", "calls.0.output")
	why = "a pattern that names the folder itself means what is in it"
	add("glob.spelling", why, "{{WS}}/a.txt", "glob.dot_slash", "calls.0.output")
	add("glob.spelling", why, "", "glob.dot_slash", "calls.0.metadata")
	add("glob.spelling", why, "{{WS}}/a.txt", "glob.absolute_pattern", "calls.0.output")
	add("glob.spelling", why, "", "glob.absolute_pattern", "calls.0.metadata")
	why = "who gives a folder is told how to go on"
	add("glob.folder", why, "src is a folder", "glob.directory_name", "calls.0.output")
	add("glob.folder", why, "src is a folder", "glob.directory_slash", "calls.0.output")
	return ds
}

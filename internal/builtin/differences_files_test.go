package builtin_test

// fileDifferences are those of the tools that change files.
func fileDifferences() []difference {
	const all = "asks_when_everything_asks"
	var ds []difference
	add := func(anchor, why, ours string, name string, fields ...string) {
		for _, field := range fields {
			ds = append(ds, difference{anchor, name, field, ours, why})
		}
	}
	why := "a match that was not exact is told, with where and how it was found"
	for _, name := range []string{
		"block_anchor_single", "block_anchor_two_candidates", "context_aware_multi_block", "escape_normalized_dollar",
		"escape_normalized_tab_quote", "indentation_flexible", "line_trimmed_ambiguous", "line_trimmed_block",
		"line_trimmed_trailing_newline_in_old", "multi_occurrence_fuzzy", "tabs_vs_spaces", "whitespace_normalized_multiline",
		"whitespace_normalized_substring",
	} {
		add("edit.match", why, "", "edit."+name, "calls.1.metadata.match", "calls.1.output")
	}
	const allDefault = "defaults." + all + ".1"
	why = "by default a match must be clear, and what was not quoted is not replaced"
	for _, name := range []string{
		"block_anchor_single", "block_anchor_two_candidates", "context_aware_multi_block", "line_trimmed_ambiguous", "multi_occurrence_fuzzy",
	} {
		add("edit.safe", why, "", "edit."+name, "defaults.calls.1", "defaults.files.a.txt", allDefault)
	}
	for _, name := range []string{
		"block_anchor_identical_blocks", "block_anchor_two_line_find", "escape_normalized_in_file", "newlines_only_old", "overlap_not_all",
		"single_space_old", "unicode_nfd_vs_nfc",
	} {
		add("edit.safe", why, "", "edit."+name, "defaults.calls.1.error")
	}
	why = "by default the new text is indented as the file is, or, where that can not be told, nothing is replaced"
	for _, name := range []string{"indentation_flexible", "line_trimmed_block", "line_trimmed_trailing_newline_in_old", "tabs_vs_spaces"} {
		add("edit.indent", why, "", "edit."+name, "defaults.calls.1", "defaults.files.a.txt", allDefault)
	}
	why = "bytes that were not asked for stay: the mark at the beginning, and the line endings"
	add("edit.bytes", why, "", "edit.bom", "files.a.txt.base64", "files.a.txt.text")
	add("edit.bytes", why, "", "edit.crlf_multiline_lf_old", "calls.1.metadata.filediff.after", "files.a.txt.text")
	for _, name := range []string{"update_bom", "update_crlf_file", "update_crlf_patch", "update_no_trailing_newline"} {
		add("edit.bytes", why, "", "apply_patch."+name, "calls.0.metadata", "files.a.txt", all+".0.metadata.diff")
	}
	add("edit.empty_old", "an empty oldString never replaces a file", "", "edit.empty_old_existing", "calls.0", "files.a.txt", all+".0")
	why = "a link is asked about under the name that it leads to, too"
	add("read.symlink", why, "", "edit.symlink", all+".1", all+".0.patterns.1")
	add("read.symlink", why, "", "write.symlink", all+".1", all+".0.patterns.1")
	add("write.same_file", "what was read under one name was read", "", "write.symlink_read_other_name", "calls.1", "files.real.txt", all+".1")
	why = "what can not be written is not asked about"
	for _, name := range []string{"write.path_is_directory", "write.parent_is_file", "write.empty_path"} {
		add("write.asks_last", why, "null", name, all+".0")
	}
	add("write.lone_surrogate", "half a character is refused, not replaced", "", "write.lone_surrogate", "calls.0", "files.n.txt", all+".0")
	add("write.contents_decide", "contents decide whether a file has changed, not its time", "", "write.after_external_old_mtime", "calls.1", "files.a.txt", all+".1")
	why = "the difference that is told is the one that was made, formatting counted in"
	add("formatter.final", why, "SHOUT", "formatter.edit_create", "calls.0.metadata.diff", "calls.0.metadata.filediff.after")
	add("formatter.final", why, "SHOUT", "formatter.patch", "calls.0.metadata.diff", "calls.0.metadata.files.0")
	return append(ds, patchDifferences()...)
}

func patchDifferences() []difference {
	const all = "asks_when_everything_asks"
	var ds []difference
	add := func(anchor, why, ours string, name string, fields ...string) {
		for _, field := range fields {
			ds = append(ds, difference{anchor, name, field, ours, why})
		}
	}
	why := "the request tells of each file apart, as later versions do"
	for _, name := range []string{
		"add", "add_absolute", "add_empty", "add_existing", "add_nested", "delete", "end_marker_in_content", "heredoc_bare", "indented_markers",
		"mixed", "surrounding_text", "update", "update_blank_context_line_space", "update_bom",
		"update_crlf_file", "update_crlf_patch", "update_delete_all", "update_delete_lines", "update_eof_marker", "update_no_at_header",
		"update_no_trailing_newline", "update_repeated_block", "update_two_hunks", "update_without_read",
	} {
		add("apply_patch.files", why, "", "apply_patch."+name, all+".0.metadata.files")
	}
	add("apply_patch.files", why, "", "apply_patch.add_outside", all+".1.metadata.files")
	why = "where a file is moved to is asked about, too, and whether it may be read: under its new name it could be"
	add("apply_patch.move", why, "", "apply_patch.move_no_chunks", all+".0", all+".1")
	add("apply_patch.move", why, "", "apply_patch.move_onto_existing", all+".0", all+".1")
	add("apply_patch.overwrite", "what is replaced is shown", "b.txt", "apply_patch.move_onto_existing", "calls.0.metadata.diff", "calls.0.metadata.files.0.diff")
	why = "a line that can not be understood is an error that names it, and nothing is written"
	add("apply_patch.strict", why, "line 2", "apply_patch.header_no_path", "calls.0.error")
	add("apply_patch.strict", why, "", "apply_patch.add_blank_lines", "calls.0", "files.n.txt", all+".0")
	why = "an update that changes nothing is an error, not a success"
	add("apply_patch.no_change", why, "", "apply_patch.update_no_change", "calls.0", all+".0")
	add("apply_patch.no_change", why, "", "apply_patch.update_no_chunks", "calls.0", all+".0")
	why = "what is meant is clear, so it is done"
	add("apply_patch.lenient", why, "", "apply_patch.update_blank_context_line", "calls.0", "files.a.txt", all+".0")
	add("apply_patch.lenient", why, "", "apply_patch.update_no_at_header", "calls.0.metadata", "files.a.txt", all+".0.metadata.diff")
	add("apply_patch.end_of_file", "the marker of the end of a file means it", "", "apply_patch.update_eof_marker",
		"calls.0.metadata", "files.a.txt", all+".0.metadata.diff")
	add("apply_patch.overwrite", "a new file in the place of one that exists shows what it replaces", "", "apply_patch.add_existing",
		"calls.0.metadata", all+".0.metadata.diff")
	for _, name := range []string{"edit_unavailable", "gpt4_gets_edit", "oss_gets_edit", "unavailable_for_other_models"} {
		add("invalid.status", "a call that was not understood has failed; the model reads the same text", `"error"`, "apply_patch."+name, "calls.0.status")
	}
	return ds
}

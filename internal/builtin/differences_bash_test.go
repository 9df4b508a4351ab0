package builtin_test

// bashDifferences are those of the tool that runs commands.
func bashDifferences() []difference {
	const all = "asks_when_everything_asks"
	var ds []difference
	add := func(anchor, why, ours, name string, fields ...string) {
		for _, field := range fields {
			ds = append(ds, difference{anchor, name, field, ours, why})
		}
	}
	why := "a command is asked about as it is written, with numbers, variables and redirections; what may be allowed from now on ends in a blank and a star"
	for _, name := range []string{
		"cr_progress", "crlf", "exit_code", "false", "git_status", "heredoc", "multiline", "pwd", "seq_2000", "seq_2001", "stderr_only",
		"stdout_stderr_order", "subshell", "unicode", "workdir", "background", "big_bytes", "big_lines", "big_single_line", "big_then_exit",
		"killed_by_signal", "metadata_cap", "non_utf8", "segv", "split_multibyte", "timeout", "timeout_no_output", "timeout_ignores_term",
		"default_timeout_env", "abort",
	} {
		add("bash.asks", why, "", "bash."+name, all)
	}
	add("bash.asks", why, "", "write.keeps_mode", all)
	add("bash.syntax", "a line that can not be read is asked about whole, and nothing is offered for ever", "", "bash.syntax_error", all)
	why = "files are asked about as the file tools ask"
	for _, name := range []string{"cat_outside", "cd_outside", "cd_parent", "creates_file"} {
		add("bash.files", why, "", "bash."+name, all)
	}
	why = "a command that was ended before its time has failed; the model reads the same text"
	for _, name := range []string{"timeout", "timeout_no_output", "timeout_ignores_term", "default_timeout_env"} {
		add("bash.timeout", why, `"error"`, "bash."+name, "calls.0.status")
	}
	add("bash.timeout_zero", "a time of nothing is a mistake", "must be a positive number", "bash.timeout_zero", "calls.0.error")
	add("bash.timeout_zero", "a time of nothing is a mistake", "", "bash.timeout_zero", "calls.0", all)
	add("bash.empty", "a blank command is a mistake", "The command is empty", "bash.whitespace_command", "calls.0.error")
	add("bash.empty", "a blank command is a mistake", "", "bash.whitespace_command", "calls.0")
	why = "the beginning and the end of a long output are shown, and of a running one the newest part"
	for _, name := range []string{"big_bytes", "big_lines", "big_single_line", "big_then_exit", "seq_2001"} {
		add("bash.middle", why, "truncated...", "bash."+name, "calls.0.output")
	}
	for _, name := range []string{"big_bytes", "big_single_line", "metadata_cap"} {
		add("bash.middle", why, "...", "bash."+name, "calls.0.metadata.output")
	}
	why = "what goes on when a command has ended is told, and can be stopped"
	add("bash.left", why, "goes on in the background as job", "bash.background", "calls.0.output", "calls.0.metadata.output")
	add("bash.left", why, "job_", "bash.background", "calls.0.metadata.job")
	for _, name := range []string{"killed_by_signal", "segv"} {
		add("bash.signal", "a signal that ended a command is named", "SIG", "bash."+name, "calls.0.output", "calls.0.metadata.output", "calls.0.metadata.signal")
	}
	add("bash.undo", "what a command destroys can be brought back", "chg_", "bash.creates_file", "calls.0.metadata.undo")
	add("bash.utf8", "a character that comes in two pieces is one", "é", "bash.split_multibyte", "calls.0.output", "calls.0.metadata.output")
	add("bash.description", "a command without a description is described by itself", "", "bash.missing_description", "calls.0", all)
	add("invalid.status", "a call that was not understood has failed; the model reads the same text", `"error"`, "invalid.malformed_text", "calls.0.status")
	add("bash.batch", "calls of a batch run at once, so that one may see what another has made or not", "", "batch.mixed", "inner.1", all)
	add("bash.abort", "a command that was cancelled says so with what it had printed", "", "bash.abort", "calls.0.output", "calls.0.title", "calls.0.metadata", "calls.0.error")
	return ds
}

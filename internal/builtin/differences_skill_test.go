package builtin_test

// skillDifferences are those of the tool that loads skills.
func skillDifferences() []difference {
	ds := []difference{
		{"skill.files", "skill.load", "calls.0.output", "**Files**: `ref.md`, `scripts/run.sh`", "the files of a skill are named, as later versions do"},
		{"skill.names", "skill.miscased", "calls.0.error", `Available skills: demo`, "names are listed, and not their numbers"},
	}
	for _, name := range []string{"claude_dir", "crlf", "load", "name_differs_from_dir"} {
		for _, field := range []string{"defaults.calls.0.metadata.guarded", "defaults.calls.0.output", "defaults.asks_when_everything_asks.0.metadata"} {
			ds = append(ds, difference{"skill.trust", "skill." + name, field, "", "the skills of a project that is not trusted are marked"})
		}
	}
	return ds
}

package builtin_test

// skillDifferences are those of the tool that loads skills.
func skillDifferences() []difference {
	return []difference{
		{"skill.files", "skill.load", "calls.0.output", "**Files**: `ref.md`, `scripts/run.sh`", "the files of a skill are named, as later versions do"},
		{"skill.names", "skill.miscased", "calls.0.error", `Available skills: demo`, "names are listed, and not their numbers"},
	}
}

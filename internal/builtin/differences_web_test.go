package builtin_test

// webDifferences are those of the tools that reach the network.
func webDifferences() []difference {
	const all = "asks_when_everything_asks"
	var ds []difference
	add := func(anchor, why, ours string, name string, fields ...string) {
		for _, field := range fields {
			ds = append(ds, difference{anchor, name, field, ours, why})
		}
	}
	why := `"always" is about one site`
	for _, name := range []string{
		"html_markdown", "html_html", "md_headings", "md_lists", "md_escapes", "md_emphasis", "md_table", "md_whitespace", "md_unclosed",
		"md_entities", "md_plain_in_html", "json", "plain", "markdown_type", "upper_content_type", "latin1", "bom_body", "octet_stream",
		"status_500", "status_204", "status_403", "cloudflare_challenge", "redirect", "redirect_loop", "too_large_content_length",
		"too_large_chunked", "truncated_bytes", "gzip", "request_headers_markdown", "request_headers_html", "query_and_fragment",
	} {
		add("webfetch.always", why, `"{{HTTP}}/*"`, "webfetch."+name, all+".0.always.0")
	}
	add("webfetch.always", why, `"http://127.0.0.1:9/*"`, "webfetch.connection_refused", all+".0.always.0")
	add("webfetch.always", why, `"{{HTTP}}/*"`, "permission.webfetch_ask", "asks.0.always.0")
	add("webfetch.always", why, `"{{HTTP}}/*"`, "batch.default_applies", all+".0.always.0")
	why = "what is on this machine is asked about unless a rule names it"
	add("webfetch.inside", why, `"http://127.0.0.1:9/x"`, "webfetch.connection_refused", "asks.0")
	add("webfetch.inside", why, `"this machine"`, "webfetch.connection_refused", all+".0.metadata.place")
	why = "a page that leads elsewhere is asked about under that name too, and the model is told where it came from"
	add("webfetch.redirect", why, `(Redirected to {{HTTP}}/p)`, "webfetch.redirect", "calls.0.output")
	add("webfetch.redirect", why, `"{{HTTP}}/p"`, "webfetch.redirect", "calls.0.metadata.finalUrl")
	add("webfetch.redirect", why, `"redirectedFrom":"{{HTTP}}/r"`, "webfetch.redirect", all+".1")
	add("webfetch.redirect", "a loop ends at once", "in a circle", "webfetch.redirect_loop", "calls.0.error")
	why = "a table is a table"
	add("webfetch.tables", why, `| 1 | 2 |`, "webfetch.md_table", "calls.0.output")
	add("webfetch.tables", why, `| 1 | 2 |`, "webfetch.html_markdown", "calls.0.output")
	why = "a page that is too large is shown as far as it was read, and says so"
	add("webfetch.cut", why, "", "webfetch.too_large_content_length", "calls.0", "saved_output.0")
	add("webfetch.cut", why, "", "webfetch.too_large_chunked", "calls.0", "saved_output.0")
	why = "what the server says about the failure is shown"
	add("webfetch.status", why, `It says:\n\nboom`, "webfetch.status_500", "calls.0.error")
	add("webfetch.status", why, `It says:\n\nforbidden`, "webfetch.status_403", "calls.0.error")
	add("webfetch.challenge", "a second try under an honest name", "", "webfetch.cloudflare_challenge", "calls.0")
	add("webfetch.charset", "text is text in any encoding", "café", "webfetch.latin1", "calls.0.output")
	add("webfetch.type", "types are the same in capitals", "**x**", "webfetch.upper_content_type", "calls.0.output")
	add("webfetch.binary", "what is no text is not shown as one", "", "webfetch.octet_stream", "calls.0")
	why = "an encoding is asked for only if it is understood"
	add("webfetch.encoding", why, `\"Accept-Encoding\": \"gzip\"`, "webfetch.request_headers_markdown", "calls.0.output")
	add("webfetch.errors", "the words are not those of a JavaScript engine", "connection refused", "webfetch.connection_refused", "calls.0.error")
	why = "nobody is asked about an address that is none"
	add("webfetch.errors", why, "invalid URL: it has no host", "webfetch.bad_url", "calls.0.error")
	add("webfetch.errors", why, "null", "webfetch.bad_url", all+".0")
	why = "what is not sent is not asked about: a rule could be met by it alone"
	add("webfetch.fragment", why, `"{{HTTP}}/p?a=1\u0026b=2"`, "webfetch.query_and_fragment", all+".0.metadata.url", all+".0.patterns.0")
	add("webfetch.empty", "nothing is told from something", "The server sent nothing", "webfetch.status_204", "calls.0.output")
	return ds
}

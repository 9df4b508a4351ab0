{{- /* What the search of the site looks into: every page, cut at its headings.
  A script and not JSON, because from a disk a page may load nothing else. */ -}}
{{- $pages := slice -}}
{{- range sort site.Pages "RelPermalink" -}}
  {{- $sections := slice -}}
  {{- $content := .Content | replaceRE `<(/?(?:p|li|td|th|tr|pre|div|ul|ol|blockquote)[ >])` " <$1" -}}
  {{- $content = replaceRE `<h[1-6] id="([^"]*)">` "␞$1␟" $content -}}
  {{- range after 1 (split $content "␞") -}}
    {{- $anchor := index (split . "␟") 0 -}}
    {{- $rest := index (split . "␟") 1 -}}
    {{- $heading := index (split $rest "</h") 0 -}}
    {{- $text := $rest | strings.TrimPrefix $heading | plainify | htmlUnescape | replaceRE `\s+` " " -}}
    {{- $heading = $heading | plainify | htmlUnescape | replaceRE `\s+` " " -}}
    {{- $sections = $sections | append (dict "anchor" $anchor "heading" (strings.Trim $heading " ") "text" (strings.Trim $text " ")) -}}
  {{- end -}}
  {{- $pages = $pages | append (dict "href" (partial "place.html" .) "title" (partial "title.html" .) "sections" $sections) -}}
{{- end -}}
window.helveIndex = {{ $pages | jsonify }};

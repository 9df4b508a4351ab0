package page

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRaised is about text beside the line, which must not become a part of
// the number before it.
func TestRaised(t *testing.T) {
	for _, c := range []struct{ html, markdown, text string }{
		{`2<sup>32</sup>`, "2^32", "2^32"},
		{`2<sup>32</sup>-1 of 2<sup><i>n</i></sup>`, "2^32-1 of 2^*n*", "2^32-1 of 2^n"},
		{`10<sup>-3</sup> m<sup>2</sup>`, "10^-3 m^2", "10^-3 m^2"},
		{`e<sup>x + 1</sup> and a<sup>i,j</sup>`, "e^(x + 1) and a^(i,j)", "e^(x + 1) and a^(i,j)"},
		{`(a+b)<sup>2</sup>`, "(a+b)^2", "(a+b)^2"},
		{`2<sup>10</sup>x 2<sup>3</sup>4 x<sup>2</sup>y`, "2^(10)x 2^(3)4 x^2y", "2^(10)x 2^(3)4 x^2y"},
		{`H<sub>2</sub>O C<sub>6</sub>H<sub>12</sub>O<sub>6</sub>`, "H_2O C_6H_(12)O_6", "H_2O C_6H_(12)O_6"},
		{`(x)<sub>i</sub> Expr<sub>opt</sub>`, `(x)\_i Expr_opt`, "(x)_i Expr_opt"},
		{`1<sup>st</sup> 2<sup>ND</sup> Kit<sup>®</sup> now<sup>*</sup>`, `1st 2ND Kit® now\*`, "1st 2ND Kit® now*"},
		{`<sup>1</sup> a <sup>2</sup> b<sup> 3</sup> <sup>1</sup>/<sub>2</sub>`, "1 a 2 b 3 1/2", "1 a 2 b 3 1/2"},
		{`<p>a</p><sup>1</sup>b<br><sup>2</sup>`, "a\n\n1b  \n2", "a\n1b\n2"},
		{`in 2005<sup><a href="#fn1">1</a></sup>`, "in 2005[1](#fn1)", "in 2005^1"},
		{`in 2005<a href="#fn1"><sup>1</sup></a>`, "in 2005[1](#fn1)", "in 2005^1"},
		{`in 2005<sup><a href="#c1">[1]</a></sup>`, `in 2005[\[1\]](#c1)`, "in 2005[1]"},
		{`<code>2<sup>8</sup></code>`, "`2^8`", "2^8"},
		{"<pre><code>a = 2<sup>8</sup>\nb<sub>i, j</sub></code></pre>", "```\na = 2^8\nb_(i, j)\n```", "a = 2^8\nb_(i, j)"},
		{`x<sup></sup><sup> </sup>y<img src=z><sup>2</sup>`, "x y![](z)2", "x y^2"},
		{`x<sup><p>2</p></sup>`, "x\n\n2", "x^\n2"},
		{`<math><msup><mi>c</mi> <mn>2</mn></msup><mo>=</mo><mfrac><mn>1</mn><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow></mfrac><msub><mi>d</mi><mi>i</mi></msub></math>`,
			"c^2=1/(a+b)d_i", "c^2=1/(a+b)d_i"},
	} {
		if diff := cmp.Diff(c.markdown, mustMarkdown(t, c.html)); diff != "" {
			t.Errorf("%s\n%s", c.html, diff)
		}
		if diff := cmp.Diff(c.text, textOf(t, parsed(t, c.html))); diff != "" {
			t.Errorf("text of %s\n%s", c.html, diff)
		}
	}
}

func TestFormulas(t *testing.T) {
	tex := `<annotation encoding="application/x-tex">\frac{a_1}{b}</annotation>`
	for _, c := range []struct{ html, markdown, text string }{
		{`x <math><semantics><mi>y</mi>` + tex + `</semantics></math> z`, `x $\frac{a_1}{b}$ z`, `x \frac{a_1}{b} z`},
		{`<math><semantics><mi>y</mi><annotation encoding="x">no</annotation><annotation-xml encoding="text/html"><b>no</b></annotation-xml></semantics></math>`, "y", "y"},
		{`<math><semantics><mi>y</mi><annotation encoding="application/x-tex"></annotation></semantics></math>`, "y", "y"},
		{`<span class=katex><span class=katex-mathml><math><semantics><mi>y</mi>` + tex + `</semantics></math></span><span class=katex-html aria-hidden=true>looks</span></span>`,
			`$\frac{a_1}{b}$`, `\frac{a_1}{b}`},
		{`<span><span style="display: none"><math><semantics><mi>y</mi>` + tex + `</semantics></math></span><img class="mwe-math-fallback-image-inline" src=x alt=y></span>`,
			`$\frac{a_1}{b}$`, `\frac{a_1}{b}`},
		{`<span class=katex><span class=katex-html>looks</span></span>`, "looks", "looks"},
		{`<code><math><semantics><mi>y</mi>` + tex + `</semantics></math></code>`, "`\\frac{a_1}{b}`", `\frac{a_1}{b}`},
	} {
		if diff := cmp.Diff(c.markdown, mustMarkdown(t, c.html)); diff != "" {
			t.Errorf("%s\n%s", c.html, diff)
		}
		if diff := cmp.Diff(c.text, textOf(t, parsed(t, c.html))); diff != "" {
			t.Errorf("text of %s\n%s", c.html, diff)
		}
	}
}

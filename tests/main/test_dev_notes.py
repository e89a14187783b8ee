"""Notes of apps on the page of `remit dev`, in a real browser (contract section 8)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest

from remit.values.visible import visible
from tests.main.shown_page import TRANSCRIPT, Shown, shown_page

DRAWN = {
    "div", "p", "h3", "ul", "ol", "li", "strong", "em", "code", "pre", "a", "span",
}  # fmt: skip


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    """The page, for all tests of this file."""
    with shown_page(tmp_path_factory.mktemp("notes")) as found:
        yield found


class Parts(HTMLParser):
    """The elements and attributes that a browser made of a note."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.names: set[str] = set()
        self.links: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note it."""
        self.tags.add(tag)
        self.names |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name == "href"]


@pytest.mark.promise("K-31", "K-32", "K-48")
def test_a_note_is_drawn_on_its_call_and_nothing_of_it_is_markup(shown: Shown) -> None:
    """From the app to the page: bold is bold, HTML is text, one link lives, nothing is loaded."""
    note = (
        "**Two** found, <b onclick=alert(1)>not bold</b>\n\n"
        "[one](https://acme.example/1) and [two](/2)\n\n![x](http://169.254.169.254/)"
    )
    before = len(shown.page.requests())
    shown.say({"content": "Two.", "markdown": note})
    shown.see("So it is.")
    html = shown.page.run(f"{TRANSCRIPT}.querySelector('.shown .prose').innerHTML")
    assert html == (
        "<p><strong>Two</strong> found, &lt;b onclick=alert(1)&gt;not bold&lt;/b&gt;</p>"
        '<p><span><a href="https://acme.example/1" target="_blank" rel="noopener noreferrer">one'
        '</a><span class="small"> (acme.example)</span></span> and <code>[two](/2)</code></p>'
        "<p><code>![x](http://169.254.169.254/)</code></p>"
    )
    assert all(one.startswith(shown.api.url) for one in shown.page.requests()[before:])


@pytest.mark.promise("K-31", "K-32", "K-48")
@pytest.mark.parametrize(
    "note",
    [
        "<script>alert(1)</script>",
        '<a href="javascript:alert(1)">x</a>',
        '<a href="https://evil.test" title=**x**>x</a>',
        "<style>*{display:none}</style>",
        "<form action=https://evil.test><input name=p></form>",
        "<svg onload=alert(1)><math><base href=//evil.test>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](java\tscript:alert(1))",
        "[x]( javascript:alert(1) )",
        "[x](<javascript:alert(1)>)",
        "[x](vbscript:msgbox(1))",
        "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
        "<javascript:alert(1)>",
        "<mailto:a@evil.test>",
        "[x](?token=1)",
        "[x](/here)",
        "[x](//evil.test)",
        "[x](#approve)",
        "[x](https:evil.test)",
        "[x](https:/\\evil.test)",
        "[x](https://bank.test@evil.test)",
        "[x](https://)",
        "[x][1]\n\n[1]: javascript:alert(1)",
        "![x](http://169.254.169.254/)",
        "![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)",
        '<a id="approve"></a>\n\n## approve',
        '[x](/a "onmouseover=alert(1)")',
        "`<b>`\n\n```html onload=x\n<script>alert(1)</script>\n```",
    ],
    ids=str,
)
def test_no_note_becomes_an_element_a_link_or_a_request(shown: Shown, note: str) -> None:
    """Raw HTML is text, and so is each link that is not absolute http(s) (threats, markdown)."""
    before = len(shown.page.requests())
    drawn = shown.drawn(note)
    found = Parts(drawn["html"])
    assert found.tags <= DRAWN
    assert found.names <= {"class", "tabindex"}
    assert found.links == []
    assert drawn["text"].strip()
    shown.page.run("new Promise((done) => setTimeout(done, 50))")
    assert all(one.startswith(shown.api.url) for one in shown.page.requests()[before:])


def test_a_link_that_is_not_absolute_is_shown_as_it_was_written(shown: Shown) -> None:
    """As preformatted text, so that nobody takes it for a link (section 8)."""
    for link in ("[x](?token=1)", "[the bill](javascript:alert(1))", "[y](//evil.test)"):
        assert shown.drawn(link)["html"] == f"<p><code>{link}</code></p>"


def test_a_link_says_which_host_it_leads_to(shown: Shown) -> None:
    """Words that name another host deceive nobody."""
    assert shown.drawn("[https://bank.test](https://evil.test)")["text"] == (
        "https://bank.test (evil.test)"
    )
    same = shown.drawn("https://acme.example/a")
    assert same["text"] == "https://acme.example/a"
    # A letter that only looks like another one.
    assert "xn--" in shown.drawn("https://b\u0430nk.test")["text"]


LINK = '<a href="https://a.test/" target="_blank" rel="noopener noreferrer">'


@pytest.mark.parametrize(
    ("note", "html"),
    [
        ("aaaaaaaaaa", "<p>aaaaaaaaaa</p>"),
        ("# aaaaaaaaaa", "<h3>aaaaaaaaaa</h3>"),
        ("###### a **b**", "<h3>a <strong>b</strong></h3>"),
        ("#no heading", "<p>#no heading</p>"),
        ("a\nb\n\nc", "<p>a\nb</p><p>c</p>"),
        ("*a* _b_ __c__ ***d***", "<p><em>a</em> <em>b</em> <strong>c</strong> "
         "<strong><em>d</em></strong></p>"),
        ("**a *b* c**", "<p><strong>a <em>b</em> c</strong></p>"),
        ("snake_case_name 2 * 3 * 4 **", "<p>snake_case_name 2 * 3 * 4 **</p>"),
        (r"\*a\* \[x](/y)", "<p>*a* [x](/y)</p>"),
        ("`a *b*` ``c ` d`` `e", "<p><code>a *b*</code> <code>c ` d</code> `e</p>"),
        ("```\n# a\n```\nb", '<pre tabindex="0"># a</pre><p>b</p>'),
        ("~~~\na", '<pre tabindex="0">a</pre>'),
        ("- a\n- b\n\n- c", "<ul><li>a</li><li>b</li><li>c</li></ul>"),
        ("3. a\n4) b", '<ol start="3"><li>a</li><li>b</li></ol>'),
        ("- a\n  more\n  - b\n    - c\n- d", "<ul><li>a\nmore<ul><li>b<ul><li>c</li></ul></li></ul>"
         "</li><li>d</li></ul>"),
        ("- a\n1. b", '<ul><li>a</li></ul><ol start="1"><li>b</li></ol>'),
        ("- a\n  - b\n  1. c", '<ul><li>a<ul><li>b</li></ul><ol start="1"><li>c</li></ol></li>'
         "</ul>"),
        ("- a\n\nb", "<ul><li>a</li></ul><p>b</p>"),
        ("a https://a.test/.", f"<p>a {LINK}https://a.test/</a>.</p>"),
        ("<https://a.test/>", f"<p>{LINK}https://a.test/</a></p>"),
        ("> a\n>> - b\nc", "<blockquote><p>a</p><blockquote><ul><li>b</li></ul></blockquote>"
         "</blockquote><p>c</p>"),
        ("a > b\n| b |\n---", "<p>a &gt; b\n| b |\n---</p>"),
        ("", ""),
    ],
    ids=range(23),
)  # fmt: skip
def test_what_of_markdown_is_drawn(shown: Shown, note: str, html: str) -> None:
    """Paragraphs, headings, lists, quotes, code, bold, italics, links; all else stays."""
    assert shown.drawn(note)["html"].replace(' dir="auto"', "") == html


def test_text_runs_as_its_own_letters_do(shown: Shown) -> None:
    """A Hebrew paragraph, list or heading begins at the right, in an English page, too."""
    shown.drawn("# \u05d0\n\n\u05d0\n\n- \u05d0\n\n```\n\u05d0\n```\n\nabc")
    right = "one => { const range = document.createRange(); range.selectNodeContents(one);"
    right += " const { left, right } = range.getBoundingClientRect();"
    right += (
        " const box = one.getBoundingClientRect(); return left - box.left > box.right - right }"
    )
    drawn = f"{TRANSCRIPT}.querySelectorAll('.prose :is(h3, p, li, pre)')"
    found = shown.page.run(f"[...{drawn}].map((one) => [one.localName, ({right})(one)])")
    assert found == [["h3", True], ["p", True], ["li", True], ["pre", False], ["p", False]]


@pytest.mark.parametrize(
    "note",
    [
        "> " * 5_000,
        "[" * 16_000,
        "[x](" * 4_000,
        "*a " * 5_000,
        "**a_" * 4_000,
        "`" * 8_000 + "a" + "``" * 3_000,
        "\n".join(f"{' ' * 2 * n}- {n}" for n in range(120)),
        "# " + "#" * 16_000 + "x",
        "https://a" + ")" * 16_000 + "a",
        "[x](" + "a(" * 8_000,
        "\n".join("- " * 200 for _ in range(40)),
    ],
    ids=range(11),
)
def test_a_note_that_is_made_to_be_heavy_is_drawn(shown: Shown, note: str) -> None:
    """The page lives on, and no element lies deeper than a few lists (threats, denial)."""
    shown.drawn(note)
    depth = shown.page.run(
        f"""Math.max(...[...{TRANSCRIPT}.querySelectorAll("*")].map((one) => {{
          let depth = 0;
          for (let up = one; up !== {TRANSCRIPT}; up = up.parentElement) depth += 1;
          return depth;
        }}))"""
    )
    assert depth <= 20


def test_a_note_beyond_the_limit_is_cut_and_says_so(shown: Shown) -> None:
    """16,384 characters, as the server takes them."""
    drawn = shown.drawn("x" * 16_384 + "yz")
    assert drawn["text"].split() == [
        "x" * 16_384, "The", "rest", "is", "left", "out:", "it", "is", "too", "long.",
    ]  # fmt: skip


def test_the_page_shows_the_same_hidden_characters_as_the_server(shown: Shown) -> None:
    """Each character alone, behind a letter, and styles of signs: one rule in two languages."""
    script = """import("/dev/sdk.js").then(({ visible }) => {
      const found = [];
      for (let code = 0; code < 0x110000; code += 1) {
        const text = `a${String.fromCodePoint(code)}`;
        if (visible(text) !== text) found.push(code);
      }
      return found;
    })"""
    assert shown.page.run(script) == [
        code for code in range(0x110000) if visible(f"a{chr(code)}") != f"a{chr(code)}"
    ]
    texts = [
        "a\r\nb\rc",
        "\ufe0f",
        "a \ufe0fb",
        "\u2764\ufe0f",
        "\u2764\ufe0f\ufe0f",
        "a\u200d\ufe0f",
    ]
    said = shown.page.run(
        f'import("/dev/sdk.js").then(({{ visible }}) => {json.dumps(texts)}.map(visible))'
    )
    assert said == [visible(text) for text in texts]
    assert shown.drawn("a\u202eb")["text"] == "a⟨U+202E⟩b"

// @vitest-environment jsdom
import { afterEach, describe, expect, test } from 'vitest'
import { embed } from '../../src/client/chat/embed.js'
import { markdown } from '../../src/client/chat/markdown.js'
import { textsOf } from '../../src/client/chat/texts.js'

const ACTIVE =
  'script, iframe, object, embed, style, form, svg, math, base, meta, link, input, button, img'

afterEach(() => {
  document.body.replaceChildren()
})

function drawn(text: string): HTMLElement {
  const made = markdown(text, { tooLong: 'too long', table: 'Table' })
  document.body.append(made)
  return made
}

function links(made: HTMLElement): (string | null)[] {
  return [...made.querySelectorAll('a')].map((one) => one.getAttribute('href'))
}

describe('HTML in a text', () => {
  test.each([
    '<script>alert(1)</script>',
    '<a href="javascript:alert(1)">x</a>',
    '<style>*{display:none}</style>',
    '<form action=https://evil.test><input name=p></form>',
    '<img src=x onerror=alert(1)>',
    '<svg/onload=alert(1)>',
    '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
    '<b onmouseover=alert(1)>x</b>',
    '- <button onclick=alert(1)>x</button>',
    '| <b>a</b> |\n|---|\n| <input autofocus onfocus=alert(1)> |',
    '**<math><mi xlink:href="javascript:alert(1)">x</mi></math>**',
  ])('is shown as text: %s', (text) => {
    const made = drawn(text)

    expect(made.querySelectorAll(ACTIVE)).toHaveLength(0)
    const names = [...made.querySelectorAll('*')].flatMap((one) => one.getAttributeNames())
    expect(names.filter((name) => name.startsWith('on') || name === 'href')).toEqual([])
    expect(made.textContent).toContain('<')
  })

  test('gives no element an id of its own', () => {
    const made = drawn('<a id="approve"></a>\n\n## approve')

    expect(made.querySelectorAll('[id], [name]')).toHaveLength(0)
    expect(document.getElementById('approve')).toBeNull()
  })
})

describe('a link', () => {
  test.each([
    '[x](javascript:alert(1))',
    '[x](JaVaScRiPt:alert(1))',
    '[x](java\tscript:alert(1))',
    '[x](vbscript:msgbox(1))',
    '[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)',
    '[x](file:///etc/passwd)',
    '[x](blob:https://a.example/1)',
    '<javascript:alert(1)>',
    '[x](?token=1)',
    '[x](/orders)',
    '[x](//evil.test)',
    '[x](#top)',
    '[x](https://bank.test@evil.test/)',
  ])('is dead text: %s', (text) => {
    const made = drawn(text)

    expect(links(made)).toEqual([])
    expect(made.textContent).not.toBe('')
  })

  test.each([
    ['[x](https://a.example/b?c=d#e)', 'https://a.example/b?c=d#e'],
    ['[x](<https://a.example/b>)', 'https://a.example/b'],
    ['[x](https://a.example/b_(c) "title")', 'https://a.example/b_(c)'],
    ['<http://a.example/>', 'http://a.example/'],
    ['See https://a.example/b.', 'https://a.example/b'],
    ['**[x](https://a.example/)**', 'https://a.example/'],
  ])('leads to an absolute address, in a tab that knows nothing of the page: %s', (text, href) => {
    const [found] = drawn(text).querySelectorAll('a')

    expect(found?.getAttribute('href')).toBe(href)
    expect(found?.target).toBe('_blank')
    expect(found?.rel).toBe('noopener noreferrer')
  })

  test('whose words name another host shows where it leads', () => {
    const made = drawn('[https://bank.test](https://evil.test)')

    expect(links(made)).toEqual(['https://evil.test/'])
    expect(made.textContent).toBe('https://bank.test (evil.test)')
  })

  test('that is its own words needs no more', () => {
    expect(drawn('https://a.example/').textContent).toBe('https://a.example/')
  })
})

describe('an image', () => {
  test.each([
    '![x](http://169.254.169.254/)',
    '![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)',
    '![x](https://evil.test/?secret=1)',
  ])('is not loaded: %s', (text) => {
    const made = drawn(text)

    expect(made.querySelectorAll('img, picture, source, [src], [style]')).toHaveLength(0)
    expect(links(made)).toEqual([])
    expect(made.textContent).toBe(text)
  })
})

describe('a text', () => {
  test.each([
    ['# Orders', '<h3>Orders</h3>'],
    ['###### Orders', '<h3>Orders</h3>'],
    ['one\ntwo\n\nthree', '<p>one\ntwo</p><p>three</p>'],
    [
      '**a** *b* ***c*** `d*e*`',
      '<p><strong>a</strong> <em>b</em> <strong><em>c</em></strong> <code>d*e*</code></p>',
    ],
    ['snake_case_name and 2 * 3 * 4', '<p>snake_case_name and 2 * 3 * 4</p>'],
    ['\\*a\\*', '<p>*a*</p>'],
    ['- a\n- b\n  - c\n- d', '<ul><li>a</li><li>b<ul><li>c</li></ul></li><li>d</li></ul>'],
    ['3. a\n4. b', '<ol start="3"><li>a</li><li>b</li></ol>'],
    ['```js\n<b>**x**</b>\n```', '<pre tabindex="0">&lt;b&gt;**x**&lt;/b&gt;</pre>'],
    ['~~~\nnever closed', '<pre tabindex="0">never closed</pre>'],
    [
      '| a | b |\n|---|:-:|\n| 1 |',
      '<div class="table" tabindex="0" role="region" aria-label="Table"><table><thead><tr><th scope="col">a</th><th scope="col">b</th></tr></thead><tbody><tr><td>1</td><td></td></tr></tbody></table></div>',
    ],
    [
      '> one\n> two\n>\n> > - three\nfour',
      '<blockquote><p>one\ntwo</p><blockquote><ul><li>three</li></ul></blockquote></blockquote><p>four</p>',
    ],
  ])('is drawn: %s', (text, html) => {
    expect(drawn(text).innerHTML.replaceAll(/ dir="\w+"/g, '')).toBe(html)
  })

  test.each(['ul', 'ol', 'blockquote'])('runs as its own letters do: %s', (tag) => {
    const made = drawn('- שלום\n\n1. שלום\n\n> שלום')

    expect(made.querySelector(tag)?.getAttribute('dir')).toBe('auto')
  })

  test('has what cannot be seen written out', () => {
    expect(drawn('pay\u200bpal \u202egnp.exe').textContent).toBe('pay⟨U+200B⟩pal ⟨U+202E⟩gnp.exe')
  })

  test('that is too long is cut, and says so', () => {
    const made = drawn('x '.repeat(20_000))

    expect(made.textContent?.length).toBeLessThan(17_000)
    expect(made.lastElementChild?.textContent).toBe('too long')
  })

  test.each([
    ['quotes', '> :'.repeat(5000)],
    ['quotes in each other', '> '.repeat(5000)],
    ['lists', Array.from({ length: 2000 }, (_, depth) => `${' '.repeat(depth)}- x`).join('\n')],
    ['brackets', '['.repeat(16_000)],
    ['links that do not close', '[a]('.repeat(4000)],
    ['marks', '*a_'.repeat(5000)],
    ['marks alone', '*'.repeat(16_000)],
    ['code marks', Array.from({ length: 170 }, (_, run) => '`'.repeat(run)).join(' ')],
    ['tags', '<a '.repeat(5000)],
    ['addresses', 'https://'.repeat(2000)],
    [
      'a table',
      `|${'a|'.repeat(100)}\n|${'-|'.repeat(100)}\n${`|${'b|'.repeat(50)}\n`.repeat(150)}`,
    ],
    ['spaces', `a${' '.repeat(16_000)}b`],
  ])('made to take long does not: %s', (_, text) => {
    const from = performance.now()

    drawn(text)

    expect(performance.now() - from).toBeLessThan(10_000)
  })
})

describe('a page of an app', () => {
  const framing = { texts: textsOf('en'), brand: 'remit' }
  const place = 'https://app.acme.test/c'

  function framed(address = place): HTMLIFrameElement {
    document.body.append(embed(address, framing))
    return document.querySelector('iframe') as HTMLIFrameElement
  }

  function tell(frame: HTMLIFrameElement, data: unknown, source = frame.contentWindow): void {
    window.dispatchEvent(new MessageEvent('message', { data, source }))
  }

  test.each([
    'data:text/html,x',
    'javascript:alert(1)',
    'http://app.acme.test/c',
    '/c',
    'https://bank.test@evil.test/',
    `${location.origin}/c`,
    'https://app.acme.test/c?***',
  ])('is not framed from %s, and says why', (address) => {
    const made = embed(address, framing)

    expect(made.querySelector('iframe')).toBeNull()
    expect(made.textContent).toMatch(/is not shown/)
  })

  test('is framed where it cannot lead this page away, with a link to it', () => {
    const frame = framed()

    expect(frame.getAttribute('src')).toBe(place)
    expect(frame.getAttribute('sandbox')).not.toMatch(/top-navigation|modals|downloads/)
    expect(frame.getAttribute('referrerpolicy')).toBe('no-referrer')
    expect(frame.title).toBe('A page of the app, on app.acme.test')
    expect(document.querySelector('figcaption a')?.getAttribute('href')).toBe(place)
  })

  test('is as high as it says, between bounds', () => {
    const frame = framed()

    tell(frame, { __remit_height: 200 })
    expect(frame.style.height).toBe('200px')
    tell(frame, { __remit_height: 99_999_999 })
    expect(frame.style.height).toBe(`${0.7 * innerHeight}px`)
    tell(frame, { __remit_height: -5 })
    expect(frame.style.height).toBe('40px')
  })

  test.each([
    { __remit_height: '100;background:url(x)' },
    { __remit_height: 'NaN' },
    { __remit_height: Number.NaN },
    { __remit_height: Number.POSITIVE_INFINITY },
    { __remit_height: null },
    { height: 100 },
    '__remit_height',
    null,
  ])('is not changed by %o', (data) => {
    const frame = framed()

    tell(frame, data)

    expect(frame.getAttribute('style')).toBeNull()
  })

  test('says its height under the name of the product', () => {
    document.body.append(embed(place, { ...framing, brand: 'Acme' }))
    const frame = document.querySelector('iframe') as HTMLIFrameElement

    tell(frame, { __remit_height: 200 })
    expect(frame.getAttribute('style')).toBeNull()
    tell(frame, { __acme_height: 200 })
    expect(frame.style.height).toBe('200px')
  })

  test('gives way to words where the page may not frame it', () => {
    framed()
    const refused = Object.assign(new Event('securitypolicyviolation'), {
      effectiveDirective: 'frame-src',
      blockedURI: 'https://app.acme.test',
    })

    document.dispatchEvent(refused)

    expect(document.querySelector('iframe')).toBeNull()
    expect(document.body.textContent).toContain('may not frame')
  })

  test('is not changed by another window', () => {
    const frame = framed()

    tell(frame, { __remit_height: 200 }, window)

    expect(frame.getAttribute('style')).toBeNull()
  })
})

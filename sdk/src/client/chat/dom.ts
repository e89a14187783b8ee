/** Elements, made without any HTML: whatever a text holds, it is shown as text. */

type Child = Node | null | undefined | readonly Child[]

interface Props {
  readonly class?: string | undefined
  readonly text?: string
  readonly on?: {
    readonly [Type in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[Type]) => void
  }
  readonly [attribute: string]: unknown
}

/** An element with attributes and children; null is left out, `true` is an attribute without a value. */
export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  props: Props = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(props)) {
    if (name === 'text') {
      made.textContent = visible(String(value))
    } else if (name === 'on') {
      for (const [type, work] of Object.entries(value as object)) {
        made.addEventListener(type, work as EventListener)
      }
    } else if (value === true) {
      made.setAttribute(name, '')
    } else if (value !== undefined && value !== false && value !== null) {
      made.setAttribute(name, String(value))
    }
  }
  made.append(...flat(children))
  return made
}

function flat(children: readonly Child[]): Node[] {
  return children.flatMap((child) =>
    Array.isArray(child) ? flat(child) : child ? [child as Node] : [],
  )
}

// What cannot be seen, the same characters as the server writes out: controls, halves, what ends a
// line, and what is ignored where it is not known. A selector of style stays behind a sign.
const UNSEEN = String.raw`\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{DI}\ufff9-\ufffb`
const SHOWN = new RegExp(
  `(?![\t\n\ufe0e\ufe0f])[${UNSEEN}]|(?<![^\\s${UNSEEN}])[\ufe0e\ufe0f]`,
  'gu',
)

/** A text with every character that cannot be seen written out. */
export function visible(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(SHOWN, (one) => {
    const code = (one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    return `⟨U+${code}⟩`
  })
}

/** A JSON value as text for people to read. */
export function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? ''
}

/** Names and values, one under the other. */
export function pairs(rows: readonly (readonly [string, unknown])[]): HTMLElement {
  return el(
    'dl',
    { class: 'pairs' },
    rows.flatMap(([name, value]) => [
      el('dt', { text: name }),
      el('dd', { text: typeof value === 'string' ? value : pretty(value) }),
    ]),
  )
}

/** Something folded away under a word. */
export function folded(word: string, ...inside: readonly Child[]): HTMLElement {
  return el('details', {}, el('summary', { text: word }), ...inside)
}

export function pre(text: string): HTMLElement {
  return el('pre', { text, tabindex: '0' })
}

/** A table that is scrolled where it is too wide. */
export function scrolled(table: HTMLTableElement, name: string): HTMLElement {
  return el('div', { class: 'table', tabindex: '0', role: 'region', 'aria-label': name }, table)
}

export function button(text: string, work: () => void, kind = ''): HTMLButtonElement {
  return el('button', { type: 'button', class: kind || undefined, text, on: { click: work } })
}

const MAX_ADDRESS = 8192

/** An address that may be a link; null where it is not absolute http(s), or misleads. */
export function absolute(address: unknown): URL | null {
  if (typeof address !== 'string' || address.length > MAX_ADDRESS) {
    return null
  }
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) {
    return null
  }
  const url = new URL(address)
  // What stands before an @ only looks like a host.
  return url.username || url.password || visible(address) !== address ? null : url
}

/** A link that learns nothing of this page. */
export function link(url: URL, label: string): HTMLAnchorElement {
  return el('a', { href: url.href, target: '_blank', rel: 'noopener noreferrer', text: label })
}

/** A length of time as people say it. */
export function took(ms: number): string {
  return ms < 10_000 ? `${(Math.max(0, ms) / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`
}

/** A time of day; in the browser's own language where none is named. */
export function clock(at: string, locale?: string): string {
  return new Date(at).toLocaleTimeString(locale, { hour: '2-digit', minute: '2-digit' })
}

/**
 * A page of an app, in a frame of its own. Nothing of it is read, and nothing is told to it; it can
 * say how high it is, and no more.
 */

import { absolute, el, link } from './dom.js'
import type { Texts } from './texts.js'

// The page keeps its origin, so that its cookies and its sign-in work; it cannot lead this page
// away, and with another origin than this page's it reads nothing here.
const SANDBOX =
  'allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox'
const MIN_PX = 40
const MAX_PART = 0.7
/** What a page does to the layout with its new height is no news of its own. */
const LEAST_CHANGE_PX = 4
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** The frames that are shown, each with the name under which its page says its height. */
const frames = new Map<HTMLIFrameElement, { readonly message: string; readonly blocked: string }>()

/** What frames are drawn with. */
export interface Framing {
  readonly texts: Texts
  /** What the product is called: pages of apps say their height as `__<brand>_height`. */
  readonly brand: string
}

/** A page of an app, framed; or the words why it is not. */
export function embed(address: string, { texts, brand }: Framing): HTMLElement {
  const url = absolute(address)
  if (!url || (url.protocol === 'http:' && !LOOPBACK.test(url.hostname))) {
    return left(texts.pageNotAbsolute)
  }
  if (url.origin === location.origin) {
    return left(texts.pageOwnOrigin)
  }
  // A record masks what the query said, and the page would not be the same.
  if (/[?#]\*\*\*$/.test(address)) {
    return left(texts.pageMasked)
  }
  const title = texts.page(url.host)
  const frame = el('iframe', {
    class: 'embed',
    title,
    sandbox: SANDBOX,
    referrerpolicy: 'no-referrer',
    src: url.href,
  })
  if (frames.size === 0) {
    addEventListener('message', resized)
    document.addEventListener('securitypolicyviolation', refused)
  }
  frames.set(frame, { message: `__${brand.toLowerCase()}_height`, blocked: texts.pageBlocked })
  const caption = el('figcaption', { class: 'small', text: `${title} · ` })
  caption.append(link(url, texts.openPage))
  return el('figure', { class: 'framed' }, caption, frame)
}

function left(words: string): HTMLElement {
  return el('p', { class: 'note', text: words })
}

function resized({ data, source }: MessageEvent): void {
  if (source === null || typeof data !== 'object' || data === null) {
    return
  }
  for (const [frame, { message }] of shownFrames()) {
    const height = (data as Record<string, unknown>)[message]
    if (frame.contentWindow === source && typeof height === 'number' && Number.isFinite(height)) {
      // The style sheet has the same bounds, for a window that becomes smaller later.
      const wanted = Math.max(MIN_PX, Math.min(height, MAX_PART * innerHeight))
      if (Math.abs(wanted - frame.clientHeight) >= LEAST_CHANGE_PX) {
        frame.style.height = `${wanted}px`
      }
    }
  }
}

/** Which origins may be framed is the host page's policy; an app may come after it was loaded. */
function refused({ effectiveDirective, blockedURI }: SecurityPolicyViolationEvent): void {
  if (effectiveDirective !== 'frame-src') {
    return
  }
  for (const [frame, { blocked }] of shownFrames()) {
    if (new URL(frame.src).origin === absolute(blockedURI)?.origin) {
      frame.replaceWith(left(blocked))
    }
  }
}

/** Those that still stand in the page; the others are forgotten. */
function shownFrames() {
  for (const frame of frames.keys()) {
    if (!frame.isConnected) {
      frames.delete(frame)
    }
  }
  if (frames.size === 0) {
    removeEventListener('message', resized)
    document.removeEventListener('securitypolicyviolation', refused)
  }
  return [...frames]
}

/**
 * One accent, two weights, two sizes, a grid of 4 px; light and dark from the same variables, which
 * a host sets on the element or around it. Which of the two is the page's own `color-scheme`.
 */
const STYLE = `
:host {
  --accent: var(--remit-accent, light-dark(#0b5c8f, #78bdea));
  --on-accent: var(--remit-on-accent, light-dark(#ffffff, #10212c));
  --ground: var(--remit-ground, light-dark(#ffffff, #16181b));
  --raised: var(--remit-raised, light-dark(#f5f6f7, #1f2226));
  --ink: var(--remit-ink, light-dark(#1c1e21, #e6e8ea));
  --soft: var(--remit-soft, light-dark(#5c6268, #a2a9b0));
  --rule: var(--remit-rule, light-dark(#d5d9dd, #363b41));
  --bad: var(--remit-bad, light-dark(#a3261b, #ff9c8f));
  --read: var(--remit-text-size, 16px);
  --small: var(--remit-small-size, 13px);
  display: block;
  height: 100%;
  min-height: 0;
}
:host([hidden]) { display: none; }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
.chat { background: var(--ground); color: var(--ink); display: flex; flex-direction: column; font: 400 var(--read)/1.5 var(--remit-font, system-ui, sans-serif); height: 100%; min-height: 0; overflow-wrap: anywhere; position: relative; text-align: start; }
h3 { font-size: var(--read); font-weight: 600; margin: 0; }
p { margin: 0; }
p, h3, li, td, th { unicode-bidi: plaintext; }
pre, code { font: 400 var(--small)/1.5 var(--remit-mono, ui-monospace, monospace); }
pre { direction: ltr; margin: 0; max-height: 320px; overflow: auto; white-space: pre-wrap; }
a { color: var(--accent); }
.small { color: var(--soft); font-size: var(--small); }
.bad { color: var(--bad); }
.unseen { clip-path: inset(50%); height: 1px; overflow: hidden; position: absolute; width: 1px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.scroll:focus { outline: none; }

button, .button, input, textarea { background: var(--ground); border: 1px solid var(--rule); border-radius: 4px; color: inherit; font: inherit; min-height: 44px; padding: 8px 12px; }
button, .button { cursor: pointer; flex: none; font-weight: 600; text-decoration: none; }
.button { display: inline-block; }
.buttons { align-items: center; display: flex; flex-wrap: wrap; gap: 8px; }
.buttons button { flex: 0 1 auto; }
button:hover, .button:hover { border-color: var(--soft); }
button:disabled, [aria-disabled="true"], textarea:disabled, input:disabled { color: var(--soft); cursor: default; }
.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
.primary:disabled { background: var(--raised); border-color: var(--rule); color: var(--soft); }
.danger { border: 2px solid var(--bad); color: var(--bad); }
.quiet { font-weight: 400; }
textarea { field-sizing: content; flex: 1 1 180px; line-height: 1.5; max-height: 160px; min-width: 0; resize: none; }
input[type="checkbox"] { accent-color: var(--accent); height: 20px; min-height: 0; width: 20px; }

.scroll { flex: 1; min-height: 0; overflow: auto; overscroll-behavior: contain; padding: 0 16px 16px; }
.column { margin-inline: auto; max-width: 620px; }
.line { margin-inline: auto; max-width: 652px; min-height: 28px; padding: 4px 16px; width: 100%; }
.composer { align-items: end; display: flex; flex-wrap: wrap; gap: 8px; margin-inline: auto; max-width: 652px; padding: 0 16px 16px; width: 100%; }
.to-end { align-self: center; margin: -52px 0 8px; z-index: 1; }
.earlier { display: flex; justify-content: center; padding-top: 16px; }
.empty { padding-top: 16px; }

.turn { margin-top: 16px; }
.said { white-space: pre-wrap; }
.turn.user { background: var(--raised); border: 1px solid var(--rule); border-radius: 4px; padding: 8px 12px; }
.turn.outgoing { border-style: dashed; }
.note { color: var(--soft); font-size: var(--small); margin-top: 8px; }
.note.bad { color: var(--bad); }
.transcript > .old { content-visibility: auto; contain-intrinsic-size: auto 48px; }

.act { font-size: var(--small); margin-top: 8px; }
.act > summary { align-items: baseline; color: var(--soft); cursor: pointer; display: block; min-height: 32px; padding: 6px 0; }
.act > summary::before { content: "▸ "; }
.act > summary:dir(rtl)::before { content: "◂ "; }
.act[open] > summary::before { content: "▾ "; }
.act > summary b { color: var(--ink); font-weight: 400; }
.act .inside { border-inline-start: 1px solid var(--rule); display: grid; gap: 8px; margin-inline-start: 4px; padding-block: 4px; padding-inline: 16px 0; }
.act h3 { font-size: var(--small); }
.shown { margin-block-start: 4px; margin-inline-start: 16px; }
.shown img { border: 1px solid var(--rule); border-radius: 4px; display: block; max-height: 320px; max-width: 100%; }
.shown:has(> .framed, > .prose) { margin-inline-start: 0; }
.diff span { display: block; }
.diff .added { background: color-mix(in srgb, var(--accent) 16%, transparent); }
.diff .removed { background: color-mix(in srgb, var(--bad) 16%, transparent); }

.prose { display: grid; gap: 8px; }
.prose > * { min-width: 0; }
.shown .prose, blockquote { border-inline-start: 1px solid var(--rule); padding-inline-start: 16px; }
blockquote { display: grid; gap: 8px; margin: 0; }
.prose p, .prose li { white-space: pre-line; }
.prose ul, .prose ol { display: grid; gap: 4px; margin: 0; padding-inline-start: 24px; }
.prose code { background: var(--raised); border-radius: 4px; padding: 0 4px; }
.prose pre { background: var(--raised); border: 1px solid var(--rule); border-radius: 4px; padding: 8px 12px; }
.framed { border: 1px solid var(--rule); border-radius: 4px; margin: 0; overflow: hidden; }
.framed figcaption { border-bottom: 1px solid var(--rule); padding: 8px 12px; }
iframe.embed { border: 0; display: block; height: 320px; max-height: 70vh; min-height: 40px; width: 100%; }
.table { max-height: 320px; overflow: auto; }
table { border-collapse: collapse; font-size: var(--small); }
th, td { border-bottom: 1px solid var(--rule); padding-block: 4px; padding-inline: 0 12px; text-align: start; vertical-align: top; }
th { font-weight: 600; }
.widget { margin-top: 16px; }
.widget .note { align-items: center; display: flex; gap: 8px; }

.card { border: 1px solid var(--rule); border-radius: 4px; display: grid; gap: 12px; margin-top: 16px; max-width: 480px; padding: 16px; }
.card > * { min-width: 0; }
.card.destructive { border: 3px double var(--bad); }
.card p:empty { display: none; }
.card .platform { border-bottom: 1px solid var(--rule); padding-bottom: 8px; }
strong, .title { font-weight: 600; }
.title q { background: var(--raised); border: 1px solid var(--rule); border-radius: 4px; font-weight: 400; padding: 0 4px; quotes: none; }
.card .app { border-inline-start: 1px solid var(--rule); display: grid; gap: 12px; padding-inline-start: 12px; }
.card .words { white-space: pre-wrap; }
.card .own { border-top: 1px solid var(--rule); padding-top: 12px; }
.card .own p { flex-basis: 100%; }
.pairs { display: grid; font-size: var(--small); gap: 4px 16px; grid-template-columns: max-content 1fr; margin: 0; }
.pairs dt { color: var(--soft); max-width: 160px; }
.pairs dd { margin: 0; white-space: pre-wrap; }
.card summary { color: var(--soft); cursor: pointer; font-size: var(--small); min-height: 32px; }
.card details[open] { display: grid; gap: 8px; }
.field { display: grid; font-size: var(--small); gap: 4px; }
.field > span { color: var(--soft); }
.check { align-items: center; display: flex; font-size: var(--small); gap: 8px; min-height: 44px; }

.short > .composer { flex-wrap: nowrap; padding: 0 8px 8px; }
.short > .composer > *, .short > .to-end { min-height: 36px; padding: 4px 8px; }
.short textarea { flex-basis: 0; max-height: 36px; overflow-x: hidden; }
.short textarea::placeholder { white-space: nowrap; }

@media (pointer: coarse) {
  .act > summary, .card summary { min-height: 44px; padding-top: 10px; }
}
@media (prefers-reduced-motion: no-preference) {
  .turn, .card, .act { animation: arrive 120ms ease-out; }
  @keyframes arrive { from { opacity: 0; } }
}
`

/**
 * Give the chat's looks to what stands below a root. A sheet that is made in script needs no
 * permission of the page's content policy.
 */
export function dress(root: Document | ShadowRoot): void {
  try {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(STYLE)
    root.adoptedStyleSheets = [sheet]
  } catch {
    const element = document.createElement('style')
    element.textContent = STYLE
    root.append(element)
  }
}

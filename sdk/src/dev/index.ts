/**
 * What the page of `remit dev` is made of: the chat itself, and the parts of it that the page's
 * playground draws with. It is bundled into the Python package by `npm run build`; nothing else
 * imports it.
 */

export { card, settled } from '../client/chat/cards.js'
export { Chat } from '../client/chat/chat.js'
export { shown } from '../client/chat/display.js'
export { button, clock, el, folded, pairs, pre, pretty, visible } from '../client/chat/dom.js'
export { embed } from '../client/chat/embed.js'
export { markdown } from '../client/chat/markdown.js'
export { dress } from '../client/chat/style.js'
export { textsOf } from '../client/chat/texts.js'
export { Connection } from '../client/connection.js'
export { Http, path, RemitError } from '../transport/http.js'

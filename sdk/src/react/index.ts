/** For React 18 and 19: a session in a provider, a chat wherever it is to stand. */

export { defineTool, type Tool, type ToolContext } from '../core/definitions.js'
export { Chat, type ChatProps } from './chat.js'
export { defineWidget, type ReactWidget, type ReactWidgets } from './definitions.js'
export { Remit, type RemitProps } from './provider.js'
export { type RemitHandle, useRemit } from './use-remit.js'

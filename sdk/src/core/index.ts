/** What needs neither a browser nor React: definitions, and a session as its events say it is. */

export type {
  Display,
  EventType,
  Input,
  Outcome,
  Resolution,
  SessionEvent,
  Status,
  TextDelta,
} from '../wire/event.js'
export type { JsonValue } from '../wire/json.js'
export type { InputSchema, ObjectSchema, OutputOf, StandardSchema } from '../wire/schema.js'
export { defineTool, type Tool, type ToolContext } from './definitions.js'
export {
  type CallEntry,
  type ClientCall,
  type EndEntry,
  type Entry,
  type InputEntry,
  type LackEntry,
  type MessageEntry,
  reduce,
  type SessionState,
  START,
  type WidgetEntry,
} from './state.js'

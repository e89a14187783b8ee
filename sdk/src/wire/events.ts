/**
 * What an event of a session tells, by its type.
 *
 * Made by `npm run events` from `remit schema event`; changes belong there.
 */

/**
 * How it is drawn; `{error}` where it came to no result.
 */
export type Display = Rendered | Note | Embed | Drawn | Failed

export interface Events {
  session_started: SessionStarted
  catalog: Catalog
  message: Message
  run_started: RunStarted
  tool_call: ToolCall
  human_input_needed: HumanInputNeeded
  human_input_resolved: HumanInputResolved
  client_tool_call: ClientToolCall
  widget: Widget
  tool_progress: ToolProgress
  tool_result: ToolResult
  status: StatusChanged
  run_finished: RunFinished
  text_delta: TextDelta
  reset: Reset
  end: End
}
/**
 * The session was made.
 */
export interface SessionStarted {
  /**
   * Those that its agent may use.
   */
  apps: AppRef[]
  /**
   * Id of whom it acts for.
   */
  user: string
  /**
   * Names of the arguments that are fixed for it, in order; values are kept sealed.
   */
  pins: string[]
  /**
   * Name of the language model; null where none is set.
   */
  model: string | null
}
/**
 * An app of the session.
 */
export interface AppRef {
  /**
   * Id of the app.
   */
  id: string
  /**
   * Number of the version that calls run under.
   */
  version: number
}
/**
 * The tools were looked up: at the start, and before a run where something changed.
 */
export interface Catalog {
  /**
   * Each app of the session.
   */
  apps: AppCatalog[]
  /**
   * Id of the run that this belongs to.
   */
  runId?: string
}
/**
 * Where the tools of one app come from.
 */
export interface AppCatalog {
  /**
   * Id of the app.
   */
  app: string
  /**
   * Fetched just now, confirmed by the app, an older copy, or the definition's own.
   */
  source: 'fresh' | 'stale' | 'static' | 'unchanged'
  /**
   * Since the app last confirmed them; 0 for `static`.
   */
  ageSeconds: number
  /**
   * How many are offered.
   */
  tools: number
  /**
   * Those that are not offered.
   */
  dropped: Dropped[]
  /**
   * Why the app cannot be used now, as a sentence; it offers no tools then.
   */
  unavailable?: string
}
/**
 * A tool of a catalog that is not offered.
 */
export interface Dropped {
  /**
   * Name of the tool.
   */
  name: string
  /**
   * Why it is left out, as a sentence.
   */
  reason: string
}
/**
 * Somebody said something.
 */
export interface Message {
  /**
   * Id of the message.
   */
  messageId: string
  /**
   * Who: the user, or the agent.
   */
  role: 'assistant' | 'user'
  /**
   * What; the agent's is Markdown, and as little to be trusted as any text.
   */
  text: string
  /**
   * Id of the run that this belongs to.
   */
  runId?: string
  /**
   * Whether it was stopped before its end.
   */
  partial?: boolean
}
/**
 * The agent begins to work.
 */
export interface RunStarted {
  /**
   * Id of the run that this belongs to.
   */
  runId: string
  /**
   * Name of the language model; null where none is set.
   */
  model: string | null
  /**
   * SHA-256, in hex, of all that the model is told beside the messages.
   */
  instructionsDigest: string
  /**
   * By app, as in the call records.
   */
  catalogDigests: {
    [k: string]: string
  }
}
/**
 * The model asks for a call; nothing of it is sent yet.
 */
export interface ToolCall {
  /**
   * Id of the call, as in the call records.
   */
  callId: string
  /**
   * Id of the app; null for a tool of the client or of the platform.
   */
  app: string | null
  /**
   * Catalog name of the tool; the offered one where there is no such tool.
   */
  tool: string
  /**
   * Name under which the model knows the tool.
   */
  offeredAs: string
  /**
   * Title of the tool, else its name.
   */
  title: string
  /**
   * Arguments as the model gave them, as text where that is no JSON; secrets are masked.
   */
  args: {
    [k: string]: unknown
  }
  /**
   * Id of the run that this belongs to.
   */
  runId: string
  /**
   * Whose tool it is; `app` where it is left out.
   */
  origin?: 'app' | 'client' | 'platform'
}
/**
 * A call waits for a person: the input as `GET /v1/inputs/{id}` gives it.
 */
export interface HumanInputNeeded {
  /**
   * Id of the input, with which it is answered.
   */
  id: string
  /**
   * The same once more, as the event that resolves it has it.
   */
  inputId: string
  /**
   * What is asked for.
   */
  kind: 'action' | 'approval' | 'connect'
  /**
   * Always `open`; how it stands later is in the event that resolves it.
   */
  status: 'open'
  /**
   * Id of the call, as in the call records.
   */
  callId: string
  /**
   * Id of the user whom the call concerns.
   */
  user: string
  /**
   * Id of the app; null for a tool of the client or of the platform.
   */
  app: string | null
  /**
   * Catalog name of the tool.
   */
  tool: string
  /**
   * What is about to happen, in the app's words, as plain text.
   */
  title: string
  /**
   * Final arguments, pins and repairs included; secrets are masked.
   */
  args: {
    [k: string]: unknown
  }
  /**
   * Of what is shown; an answer that carries it holds for nothing else.
   */
  digest: string
  /**
   * Who may answer.
   */
  by: 'operator' | 'other' | 'user'
  /**
   * RFC 3339.
   */
  createdAt: string
  /**
   * RFC 3339; nobody can answer after it.
   */
  expiresAt: string
  /**
   * Id of the run that this belongs to.
   */
  runId: string
  /**
   * Id of the session.
   */
  sessionId?: string
  /**
   * Whether a yes may hold for the session (`remember: "session"`).
   */
  rememberable?: boolean
  /**
   * The same, with the inserted values set apart.
   */
  titleParts?: TitlePart[]
  line?: Line
  /**
   * Label of the button that goes ahead.
   */
  verb?: string
  /**
   * The same as a person reads them.
   */
  arguments?: Argument[]
  /**
   * What the app says that it would act upon.
   */
  preview?: {
    [k: string]: unknown
  }
  /**
   * Why there is no preview although the app has one.
   */
  previewFailure?: string
  /**
   * The frozen request: method, url, headers, body, digest.
   */
  request?: Record<string, unknown>
  /**
   * Why a person is asked, as a sentence.
   */
  reason?: string
  /**
   * Whose credential is used, where it is known.
   */
  account?: string
  /**
   * The action card, where `kind` is `action`.
   */
  card?: Record<string, unknown>
}
/**
 * A piece of a title, which is the app's words.
 */
export interface TitlePart {
  /**
   * Plain text.
   */
  text: string
  /**
   * Whether it is a value that was put into the app's words, to be set apart.
   */
  inserted: boolean
}
/**
 * The platform's own words, to be shown above the app's.
 */
export interface Line {
  /**
   * What kind of act it is.
   */
  act: string
  /**
   * How bad it is if the agent is wrong.
   */
  danger: string
  /**
   * Where the request goes.
   */
  host: string
}
/**
 * An argument as a person reads it.
 */
export interface Argument {
  /**
   * Title of the parameter.
   */
  title: string
  /**
   * Value as text; secrets are masked.
   */
  text: string
}
/**
 * An input is closed.
 */
export interface HumanInputResolved {
  /**
   * Id of the input.
   */
  inputId: string
  /**
   * How it stands now.
   */
  status: 'answered' | 'approved' | 'cancelled' | 'denied' | 'expired' | 'skipped'
  /**
   * What was decided; null where its time was over.
   */
  decision: ('answer' | 'approve' | 'cancel' | 'deny' | 'skip') | null
  /**
   * Who did; null where its time was over.
   */
  by: string | null
  /**
   * Id of the device that the answer came from.
   */
  device?: string
  /**
   * What the person said with it.
   */
  note?: string
  /**
   * Id of the button that was pressed, of an action card.
   */
  press?: string
  /**
   * Id of the run that this belongs to.
   */
  runId?: string
}
/**
 * A call waits for a client of the session, which has to claim and to execute it.
 */
export interface ClientToolCall {
  /**
   * Id of the call, as in the call records.
   */
  callId: string
  /**
   * Catalog name of the tool.
   */
  tool: string
  /**
   * Final arguments, pins and repairs included; secrets are masked.
   */
  args: {
    [k: string]: unknown
  }
  /**
   * Id of the run that this belongs to.
   */
  runId: string
  /**
   * Id of the app; left out for a tool that a client announced.
   */
  app?: string
  /**
   * Name of the client's own handler that an app's tool goes to.
   */
  handler?: string
}
/**
 * A widget is to be drawn by the clients that announced it.
 */
export interface Widget {
  /**
   * Id of the call, as in the call records.
   */
  callId: string
  /**
   * Name under which it was announced.
   */
  widget: string
  /**
   * What it is drawn with.
   */
  props: {
    [k: string]: unknown
  }
  /**
   * Id of the run that this belongs to.
   */
  runId: string
}
/**
 * The app was asked how far a job is.
 */
export interface ToolProgress {
  /**
   * Id of the call, as in the call records.
   */
  callId: string
  /**
   * How often by now.
   */
  polls: number
  /**
   * What the app said, as text.
   */
  status: string
  /**
   * Id of the run that this belongs to.
   */
  runId?: string
}
/**
 * A call is over.
 */
export interface ToolResult {
  /**
   * Id of the call, as in the call records.
   */
  callId: string
  /**
   * How it ended.
   */
  outcome: 'cancelled' | 'denied' | 'error' | 'expired' | 'ok' | 'outcome_unknown' | 'skipped'
  /**
   * What the model reads.
   */
  content: string
  display?: Display
  /**
   * Id of the run that this belongs to.
   */
  runId?: string
}
/**
 * A result that one of the renderers draws.
 */
export interface Rendered {
  /**
   * Image, diff, link, table or json.
   */
  renderer: 'diff' | 'image' | 'json' | 'link' | 'table'
  /**
   * What that renderer reads.
   */
  data: {
    [k: string]: unknown
  }
}
/**
 * A short note of the app.
 */
export interface Note {
  /**
   * To be drawn with raw HTML escaped; links are absolute http(s) or no links.
   */
  markdown: string
}
/**
 * A page of the app, to be drawn in a sandboxed frame.
 */
export interface Embed {
  /**
   * Absolute address.
   */
  embedUrl: string
}
/**
 * A widget of a client.
 */
export interface Drawn {
  /**
   * Name under which the client announced it.
   */
  widget: string
  /**
   * What it is drawn with.
   */
  props: {
    [k: string]: unknown
  }
}
/**
 * A call that came to no result.
 */
export interface Failed {
  error: Fault
}
/**
 * Why.
 */
export interface Fault {
  /**
   * Stable, one of those that `remit explain` knows.
   */
  code: string
  /**
   * What went wrong, where and what to do, for a person.
   */
  message: string
  /**
   * Catalog name of the tool.
   */
  tool?: string
  /**
   * Further facts, such as pointers of faulty arguments or the status of an answer.
   */
  details?: {
    [k: string]: unknown
  }
  /**
   * Whether the action may have happened although there is no answer.
   */
  mayHaveHappened?: boolean
}
/**
 * The session has another status.
 */
export interface StatusChanged {
  /**
   * The new one.
   */
  status: 'closed' | 'idle' | 'running' | 'waiting_client' | 'waiting_human'
  /**
   * Id of the run that goes on.
   */
  runId?: string
}
/**
 * The agent rests.
 */
export interface RunFinished {
  /**
   * Id of the run that this belongs to.
   */
  runId: string
  /**
   * Why: it is done, it waits, it was cancelled, it failed, or a limit was reached.
   */
  reason: 'cancelled' | 'done' | 'failed' | 'limit' | 'waiting'
  usage: Usage
  error?: Fault1
}
/**
 * What it used.
 */
export interface Usage {
  /**
   * As the model's server counts them; 0 where it does not.
   */
  inputTokens: number
  /**
   * Likewise.
   */
  outputTokens: number
  /**
   * Those of the input that the server had from before.
   */
  cachedTokens: number
  /**
   * How many calls the model asked for.
   */
  calls: number
  /**
   * From the start of the run to its end, in milliseconds.
   */
  ms: number
}
/**
 * What went wrong, where it failed or came to a limit.
 */
export interface Fault1 {
  /**
   * Stable, one of those that `remit explain` knows.
   */
  code: string
  /**
   * What went wrong, where and what to do, for a person.
   */
  message: string
  /**
   * Catalog name of the tool.
   */
  tool?: string
  /**
   * Further facts, such as pointers of faulty arguments or the status of an answer.
   */
  details?: {
    [k: string]: unknown
  }
  /**
   * Whether the action may have happened although there is no answer.
   */
  mayHaveHappened?: boolean
}
/**
 * A piece of a message that is being written.
 */
export interface TextDelta {
  /**
   * Id of the run that this belongs to.
   */
  runId: string
  /**
   * Id of the message.
   */
  messageId: string
  /**
   * Where it belongs in the message, in Unicode code points.
   */
  offset: number
  /**
   * The piece.
   */
  text: string
}
/**
 * The reader knows events that there are not: all of them follow, from the first.
 */
export interface Reset {
  /**
   * Number of the last event there is.
   */
  headSeq: number
}
/**
 * The stream ends here.
 */
export interface End {
  /**
   * Why; after all but `session_closed` a reader may come again.
   */
  reason: 'session_closed' | 'shutdown' | 'slow_reader' | 'token_expired'
}

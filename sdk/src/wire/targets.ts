/** Where a call goes (the `target` of a tool or a button), and what a tool declares. */

import type { JsonValue } from './json.js'
import type { InputSchema } from './schema.js'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * What is sent. There are no defaults: what is not written is not sent, beyond the headers that
 * Remit owns. `${input}`, `${input.<path>}` and `${env.<NAME>}` in `query`, `headers` and `body`
 * are filled before the request goes out; `body: '${input}'` sends the whole input as JSON.
 */
export interface RequestSpec {
  readonly method: Method
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  /** An error with GET. */
  readonly body?: NonNullable<JsonValue>
}

/** A route of one of the app's own components; Remit adds a signed identity token. */
export interface AppTarget extends RequestSpec {
  readonly type: 'app'
  readonly component: string
  /** Begins with one `/`; holds no references. */
  readonly path: `/${string}`
}

/** An endpoint outside; its origin and its method are literals. */
export interface UrlTarget extends RequestSpec {
  readonly type: 'url'
  /** Absolute; references may stand after its origin. */
  readonly url: string
}

/** A handler in the user's client; a brand's name in lower case means `client` too. */
export interface ClientTarget<Brand extends string = never> {
  readonly type: 'client' | Brand
  readonly name: string
}

export type Target<Brand extends string = never> = AppTarget | UrlTarget | ClientTarget<Brand>

/** A part of a mapping: a dotted path, or one object for each item of a list. */
export type Mapping = Readonly<
  Record<
    string,
    | string
    | {
        readonly each: string
        readonly map: Readonly<Record<string, string>>
        readonly limit?: number
      }
  >
>

type RendererKey = 'url' | 'alt' | 'label' | 'before' | 'after' | 'patch' | 'rows' | 'columns'

/**
 * One tool of an app folder's `tools.ts`:
 *
 * ```ts
 * export const tools = [{ … }] as const satisfies readonly AppTool[]
 * ```
 *
 * Under a brand of another name, `AppTool<'acme'>` takes that name as a client target's type.
 */
export interface AppTool<Brand extends string = never> {
  /** A letter or `_`, then letters, digits, `_` or `-`; at most 52 characters. */
  readonly name: string
  readonly displayName?: string
  /** What the tool does, when to use it, and when not. */
  readonly description: string
  readonly input: InputSchema
  readonly target: Target<Brand>
  readonly category?: 'read' | 'write' | 'action'
  readonly dangerLevel?: 'safe' | 'moderate' | 'destructive'
  readonly requiresApproval?: boolean
  /** The app honours the `Idempotency-Key` header for this tool. */
  readonly idempotent?: boolean
  readonly responseMapping?: Mapping
  readonly resultRenderer?: 'image' | 'diff' | 'link' | 'table' | 'json'
  /** By a key that the renderer reads, the key of the result that stands for it. */
  readonly render?: { readonly [Key in RendererKey]?: string }
  readonly confirm?: {
    readonly title: string
    readonly preview?: {
      readonly tool: string
      readonly args?: Readonly<Record<string, JsonValue>>
    }
  }
  readonly polling?: {
    readonly statusUrl: string
    readonly statusField: string
    readonly completeValue: JsonValue
    readonly failedValue?: JsonValue
    readonly resultMapping?: Mapping
    /** At least 100. */
    readonly pollIntervalMs: number
    readonly maxPolls: number
  }
  /** 100 to 120,000. */
  readonly timeoutMs?: number
}

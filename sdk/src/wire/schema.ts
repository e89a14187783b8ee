/**
 * What describes the input of a tool: a validator of any library that follows Standard Schema
 * (Zod, Valibot, ArkType and others), or plain JSON Schema. Both are written down here as types,
 * so that this package depends on no library.
 */

/** A validator, after version 1 of the Standard Schema specification. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

/** What a validator says: the value as it is to be used, or what is wrong with it. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

/** One thing that is wrong; `path` leads to it from the top of the value. */
export interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** The names that lead to what is wrong. */
export function namesOf({ path = [] }: StandardIssue): string[] {
  return path.map((part) => String(typeof part === 'object' ? part.key : part))
}

/** JSON Schema 2020-12 of an object, as a tool's parameters must be. */
export interface ObjectSchema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, unknown>>
  readonly required?: readonly string[]
  readonly [keyword: string]: unknown
}

/**
 * What may stand as a tool's `input`. Arguments are an object, so a validator takes one in; where
 * its input side is open (a preprocessing step), it gives one out.
 */
export type InputSchema =
  | StandardSchema<object, unknown>
  | StandardSchema<unknown, object>
  | ObjectSchema

/** What a handler gets: the output side of a validator; of plain JSON Schema an open record. */
export type OutputOf<Schema> =
  Schema extends StandardSchema<unknown, unknown>
    ? NonNullable<Schema['~standard']['types']>['output']
    : Record<string, unknown>

/** Widgets whose render gives JSX. */

import type { ReactNode } from 'react'
import type { WidgetFacts } from '../core/definitions.js'
import type { InputSchema, OutputOf } from '../wire/schema.js'

/** A part of the host app's UI; it is drawn in the host's own tree, where the chat stands. */
export interface ReactWidget<Schema extends InputSchema = InputSchema> extends WidgetFacts<Schema> {
  readonly render: (input: OutputOf<Schema>) => ReactNode
}

/** Any widget, whatever its schema. */
export interface AnyReactWidget extends WidgetFacts {
  readonly render: (input: never) => ReactNode
}

export type ReactWidgets = Readonly<Record<string, AnyReactWidget>>

/** Gives back its argument; it is there for the types that it infers. */
export function defineWidget<const Schema extends InputSchema>(
  widget: ReactWidget<Schema>,
): ReactWidget<Schema> {
  return widget
}

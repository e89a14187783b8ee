'use client'

/** The chat of a session, with the host app's widgets in the host app's own tree. */

import {
  Component,
  type CSSProperties,
  createElement,
  Fragment,
  type ReactNode,
  useContext,
  useEffect,
  useRef,
  useState,
} from 'react'
import { createPortal } from 'react-dom'
import { type ChatOptions, Chat as ChatView } from '../client/chat/chat.js'
import { localeOf, textsOf } from '../client/chat/texts.js'
import { type AnyWidget, entry } from '../core/definitions.js'
import { wordsOf } from '../core/plain.js'
import type { AnyReactWidget, ReactWidgets } from './definitions.js'
import { RemitContext } from './provider.js'

export interface ChatProps {
  readonly className?: string
  readonly style?: CSSProperties
}

/** A render of a widget: what it is drawn with, and where. */
interface Portal {
  readonly key: string
  readonly widget: string
  readonly input: unknown
  readonly container: HTMLElement
}

/** A chat that fills its height; it may come and go, the conversation stays in the provider. */
export function Chat({ className, style }: ChatProps): ReactNode {
  const provided = useContext(RemitContext)
  if (!provided) {
    throw new Error('<Chat> has to stand inside of <Remit>.')
  }
  const { connection, widgets, options } = provided
  const place = useRef<HTMLDivElement>(null)
  const [view, setView] = useState<ChatView | null>(null)
  const [portals, setPortals] = useState<readonly Portal[]>([])
  const newest = useRef(options)

  useEffect(() => {
    newest.current = options
  })

  // Another language is another chat.
  const { locale } = options
  useEffect(() => {
    if (!connection || !place.current) {
      return undefined
    }
    const made = new ChatView(place.current, connection, {
      ...newest.current,
      ...(locale !== undefined && { locale }),
    })
    setView(made)
    return () => {
      setView(null)
      made.close()
    }
  }, [connection, locale])

  useEffect(() => {
    view?.define(containers(widgets, setPortals))
  }, [view, widgets])

  const failed: Failed = (widget, why) =>
    textsOf(localeOf(options.locale), options.texts).widgetFailed(widget, why)

  return createElement(
    Fragment,
    null,
    createElement(
      'div',
      { ref: place, className, style: { height: '100%', ...style } },
      connection ? null : opening(options),
    ),
    portals.map((portal) => drawn(portal, widgets, failed)),
  )
}

/** What stands there while there is no session yet, and in what a server renders. */
function opening({ locale = 'en', texts }: ChatOptions): ReactNode {
  return createElement('p', { role: 'status' }, textsOf(locale, texts).opening)
}

/** By the newest definition, so that state of the host and closures are fresh. */
function drawn(portal: Portal, widgets: ReactWidgets, failed: Failed): ReactNode {
  const { key, widget, input, container } = portal
  const definition = entry(widgets, widget)
  if (!definition) {
    return null
  }
  const render = createElement(Render, { definition, input })
  const kept = createElement(Boundary, { definition, failed: (why) => failed(widget, why) }, render)
  return createPortal(kept, container, key)
}

interface RenderProps {
  readonly definition: AnyReactWidget
  readonly input: unknown
}

/** A component of its own, so that a render may use hooks like any other. */
function Render({ definition, input }: RenderProps): ReactNode {
  return definition.render(input as never)
}

/** As the chat's own words of what failed: its variables reach what stands in its slots. */
const FAULT: CSSProperties = { color: 'var(--bad)', fontSize: 'var(--small)', margin: 0 }

type Failed = (widget: string, why: string) => string

interface BoundaryProps {
  readonly definition: AnyReactWidget
  readonly failed: (why: string) => string
  readonly children?: ReactNode
}

/** A render that throws says so in its place, and takes nothing else of the host away. */
class Boundary extends Component<BoundaryProps, { readonly fault: unknown }> {
  override state: { readonly fault: unknown } = { fault: null }

  static getDerivedStateFromError(fault: unknown): { readonly fault: unknown } {
    return { fault }
  }

  /** Another definition may draw what this one could not. */
  override componentDidUpdate({ definition }: BoundaryProps): void {
    if (definition !== this.props.definition && this.state.fault !== null) {
      this.setState({ fault: null })
    }
  }

  override render(): ReactNode {
    const { fault } = this.state
    const { failed, children } = this.props
    return fault === null ? children : createElement('p', { style: FAULT }, failed(wordsOf(fault)))
  }
}

let made = 0

type SetPortals = (change: (portals: readonly Portal[]) => readonly Portal[]) => void

/** As widgets that draw into a container: each render is a portal into it. */
function containers(
  widgets: ReactWidgets,
  setPortals: SetPortals,
): Readonly<Record<string, AnyWidget>> {
  return Object.fromEntries(
    Object.entries(widgets).map(([widget, { description, parameters }]) => [
      widget,
      { description, parameters, render: renderer(widget, setPortals) },
    ]),
  )
}

/** The same for a widget as long as the chat lives: what it draws comes from the newest definition. */
const renderers = new WeakMap<SetPortals, Map<string, AnyWidget['render']>>()

function renderer(widget: string, setPortals: SetPortals): AnyWidget['render'] {
  const known = renderers.get(setPortals) ?? new Map<string, AnyWidget['render']>()
  renderers.set(setPortals, known)
  const found = known.get(widget)
  if (found) {
    return found
  }
  const render = (input: unknown, container: HTMLElement) => {
    made += 1
    const key = `${widget} ${made}`
    setPortals((portals) => [...portals, { key, widget, input, container }])
    return () => setPortals((portals) => portals.filter((one) => one.key !== key))
  }
  known.set(widget, render)
  return render
}

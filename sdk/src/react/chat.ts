'use client'

/** The chat of a session, with the host app's widgets in the host app's own tree. */

import {
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
import { Chat as ChatView } from '../client/chat/chat.js'
import type { AnyWidget } from '../core/definitions.js'
import type { ReactWidgets } from './definitions.js'
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

  return createElement(
    Fragment,
    null,
    createElement('div', { ref: place, className, style: { height: '100%', ...style } }),
    portals.map((portal) => drawn(portal, widgets)),
  )
}

/** By the newest definition, so that state of the host and closures are fresh. */
function drawn({ key, widget, input, container }: Portal, widgets: ReactWidgets): ReactNode {
  const definition = Object.hasOwn(widgets, widget) ? widgets[widget] : undefined
  return definition ? createPortal(definition.render(input as never), container, key) : null
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

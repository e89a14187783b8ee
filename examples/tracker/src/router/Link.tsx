/** A link to a page of the app. With a modifier key, or another button, it is the browser's own. */

import type { AnchorHTMLAttributes, MouseEvent, ReactNode } from 'react'
import { useApp } from '../app/app.js'
import { type Route, urlOf } from './routes.js'

interface LinkProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'> {
  readonly to: Route
  readonly children: ReactNode
}

export function Link({ to, children, ...rest }: LinkProps) {
  const { router } = useApp()
  const url = urlOf(to)

  function follow(event: MouseEvent): void {
    if (
      event.button === 0 &&
      !event.metaKey &&
      !event.ctrlKey &&
      !event.shiftKey &&
      !event.altKey
    ) {
      event.preventDefault()
      router.go(url)
    }
  }

  return (
    <a {...rest} href={url} onClick={follow}>
      {children}
    </a>
  )
}

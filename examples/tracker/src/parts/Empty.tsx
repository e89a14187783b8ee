/** What stands where there is nothing: why, and what one can do. */

import type { ReactNode } from 'react'

interface EmptyProps {
  readonly title: string
  readonly words: string
  /** `h1` where this is all of the page. */
  readonly heading?: 'h1' | 'h2'
  readonly children?: ReactNode
}

export function Empty({ title, words, heading: Heading = 'h2', children }: EmptyProps) {
  return (
    <section className="empty">
      <svg viewBox="0 0 96 48" aria-hidden="true">
        <rect x="0.5" y="0.5" width="95" height="15" rx="4" />
        <rect x="0.5" y="16.5" width="95" height="15" rx="4" />
        <rect x="0.5" y="32.5" width="95" height="15" rx="4" />
        <path d="M24 8h40M24 24h56M24 40h28" />
        <circle cx="12" cy="8" r="3" />
        <circle cx="12" cy="24" r="3" />
        <circle cx="12" cy="40" r="3" />
      </svg>
      <Heading>{title}</Heading>
      <p>{words}</p>
      {children}
    </section>
  )
}

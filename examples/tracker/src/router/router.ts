/** Where the person is, over the browser's history. A change of it draws pages anew, no more. */

import { type Route, routeOf } from './routes.js'

/** Who went there: a person follows with their eyes and focus, the agent leaves both alone. */
export type By = 'person' | 'agent' | 'history'

export interface Place {
  readonly url: string
  readonly route: Route
  readonly by: By
}

export interface Router {
  getPlace: () => Place
  subscribe: (listener: () => void) => () => void
  go: (url: string, options?: { readonly by?: By; readonly replace?: boolean }) => void
}

/** A router over a window's history; it lives as long as the page. */
export function createRouter(
  page: Pick<Window, 'history' | 'location' | 'addEventListener'>,
): Router {
  const listeners = new Set<() => void>()
  let place = here('history')

  function here(by: By): Place {
    const url = page.location.pathname + page.location.search
    return { url, route: routeOf(url), by }
  }

  function arrive(by: By): void {
    place = here(by)
    for (const listener of [...listeners]) {
      listener()
    }
  }

  page.addEventListener('popstate', () => arrive('history'))
  return {
    getPlace: () => place,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    go(url, { by = 'person', replace = false } = {}) {
      if (url === place.url || replace) {
        page.history.replaceState(null, '', url)
      } else {
        page.history.pushState(null, '', url)
      }
      arrive(by)
    },
  }
}

/** The addresses of the app, both ways: what a URL shows, and the URL that shows something. */

import { PRIORITIES, STATUSES } from '../store/model.js'
import type { Filters } from '../store/queries.js'

export type Route =
  | { readonly view: 'issues'; readonly filters: Filters }
  | { readonly view: 'board'; readonly filters: Filters }
  | { readonly view: 'projects' }
  | { readonly view: 'project'; readonly projectId: string }
  | { readonly view: 'issue'; readonly issueId: string }
  | { readonly view: 'edit'; readonly issueId: string }
  | { readonly view: 'new'; readonly projectId?: string }
  | { readonly view: 'unknown' }

/** A URL within the app, beginning with its one slash; never one that leads elsewhere. */
const OWN = /^\/(?![/\\])[^\\\s]*$/
const BASE = 'http://tracker.invalid'

export function urlOf(route: Route): string {
  switch (route.view) {
    case 'issues':
      return `/issues${queryOf(route.filters)}`
    case 'board':
      return `/board${queryOf(route.filters)}`
    case 'projects':
      return '/projects'
    case 'project':
      return `/projects/${encodeURIComponent(route.projectId)}`
    case 'issue':
      return `/issues/${encodeURIComponent(route.issueId)}`
    case 'edit':
      return `/issues/${encodeURIComponent(route.issueId)}/edit`
    case 'new':
      return route.projectId
        ? `/issues/new?project=${encodeURIComponent(route.projectId)}`
        : '/issues/new'
    case 'unknown':
      return '/'
  }
}

const UNKNOWN: Route = { view: 'unknown' }

/** What a URL of the app shows; `unknown` where it is none, or leads out of the app. */
export function routeOf(url: string): Route {
  const parsed = OWN.test(url) && URL.canParse(url, BASE) ? new URL(url, BASE) : null
  const places = parsed?.origin === BASE ? placesOf(parsed.pathname) : null
  if (!parsed || !places) {
    return UNKNOWN
  }
  const [first = 'issues', ...rest] = places
  switch (first) {
    case 'issues':
      return issuesRoute(rest, parsed.searchParams)
    case 'board':
      return rest.length === 0
        ? { view: 'board', filters: filtersOf(parsed.searchParams) }
        : UNKNOWN
    case 'projects':
      return projectsRoute(rest)
    default:
      return UNKNOWN
  }
}

function issuesRoute([id, act, ...more]: readonly string[], query: URLSearchParams): Route {
  if (id === undefined) {
    return { view: 'issues', filters: filtersOf(query) }
  }
  if (more.length > 0 || (act !== undefined && act !== 'edit')) {
    return UNKNOWN
  }
  if (id !== 'new') {
    return { view: act ?? 'issue', issueId: id }
  }
  const projectId = query.get('project')
  return act ? UNKNOWN : { view: 'new', ...(projectId ? { projectId } : {}) }
}

function projectsRoute([id, ...more]: readonly string[]): Route {
  if (id === undefined) {
    return { view: 'projects' }
  }
  return more.length === 0 ? { view: 'project', projectId: id } : UNKNOWN
}

function placesOf(pathname: string): string[] | null {
  try {
    return pathname.split('/').filter(Boolean).map(decodeURIComponent)
  } catch {
    return null
  }
}

function filtersOf(query: URLSearchParams): Filters {
  const status = STATUSES.find((one) => one === query.get('status'))
  const priority = PRIORITIES.find((one) => one === query.get('priority'))
  const assignee = query.get('assignee')
  const project = query.get('project')
  const text = query.get('text')
  return {
    ...(status ? { status } : {}),
    ...(priority ? { priority } : {}),
    ...(assignee ? { assignee } : {}),
    ...(project ? { project } : {}),
    ...(text ? { text } : {}),
  }
}

function queryOf(filters: Filters): string {
  const query = new URLSearchParams(
    Object.entries(filters).filter((pair): pair is [string, string] => Boolean(pair[1])),
  ).toString()
  return query && `?${query}`
}

/** All tools of one component, as one function from Web `Request` to Web `Response`. */

import type { AppTarget, AppTool } from '../wire/targets.js'
import { domainError } from './answers.js'
import {
  allowed,
  methodNotAllowed,
  type Route,
  type RouteOptions,
  type Run,
  route,
} from './route.js'

type Tools = readonly AppTool<string>[]

/** The components that the tools name. */
export type ComponentOf<List extends Tools> = Extract<
  List[number]['target'],
  { readonly type: 'app' }
>['component']

/** The names of a component's tools. */
type NameOf<List extends Tools, Component> = Extract<
  List[number],
  { readonly target: { readonly type: 'app'; readonly component: Component } }
>['name']

type InputOf<List extends Tools, Name> = Extract<List[number], { readonly name: Name }>['input']

/** By a tool's name, the function that does its work. */
export type Handlers<List extends Tools, Component> = {
  readonly [Name in NameOf<List, Component>]: Run<InputOf<List, Name>>
}

export interface HandlerOptions<List extends Tools, Component extends string> extends RouteOptions {
  /** The tools of the app, `as const`. */
  readonly tools: List
  /** The component that this is; left out, all of them. */
  readonly component?: Component
  readonly handlers: Handlers<List, Component>
  /** Further routes: the targets of buttons that are no tool's. */
  readonly routes?: readonly Route[]
  /** What stands before a target's path where this is mounted below the component's address. */
  readonly basePath?: string
  /** What answers a request for no route; 404 by default. */
  readonly otherwise?: (request: Request) => Response | Promise<Response>
}

/**
 * Serves the tools of a component.
 *
 * @throws TypeError where a tool has no handler, a handler no tool, or two share method and path.
 */
export function handler<
  const List extends Tools,
  const Component extends ComponentOf<List> = ComponentOf<List>,
>(options: HandlerOptions<List, Component>): (request: Request) => Promise<Response> {
  const { basePath = '', otherwise = notFound } = options
  const table = tableOf([...toolRoutes(options), ...(options.routes ?? [])], basePath)
  return async (request) => {
    const routes = table.get(new URL(request.url).pathname)
    if (routes === undefined) {
      return otherwise(request)
    }
    if (request.method === 'OPTIONS') {
      return allowed([...routes.keys()])
    }
    return routes.get(request.method)?.(request) ?? methodNotAllowed([...routes.keys()])
  }
}

function toolRoutes<List extends Tools, Component extends string>(
  options: HandlerOptions<List, Component>,
): Route[] {
  const { tools, component, ...settings } = options
  const handlers = new Map<string, Run<AppTool['input']>>(Object.entries(options.handlers))
  const routes = tools.flatMap(({ name, input, target }) => {
    if (!isOfApp(target) || (component !== undefined && target.component !== component)) {
      return []
    }
    const run = handlers.get(name)
    if (run === undefined) {
      throw new TypeError(`The tool "${name}" has no handler. Add it to handlers.`)
    }
    handlers.delete(name)
    return [route({ input, target }, run, settings)]
  })
  const [other] = handlers.keys()
  if (other !== undefined) {
    throw new TypeError(`The handler "${other}" is that of no tool of this component. Remove it.`)
  }
  return routes
}

function isOfApp(target: AppTool<string>['target']): target is AppTarget {
  return target.type === 'app'
}

/** By path as a URL writes it, then by method. */
function tableOf(routes: readonly Route[], basePath: string): Map<string, Map<string, Route>> {
  const table = new Map<string, Map<string, Route>>()
  for (const one of routes) {
    const { method, path } = one.target
    const written = new URL(`http://localhost${basePath}${path}`).pathname
    const methods = table.get(written) ?? new Map<string, Route>()
    if (methods.has(method)) {
      throw new TypeError(`Two routes share ${method} ${path}. Give each a path of its own.`)
    }
    table.set(written, methods.set(method, one))
  }
  return table
}

function notFound(): Response {
  return domainError('not_found', 'There is no such route.', { status: 404 })
}

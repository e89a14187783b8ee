/** What the user is looking at, as small as it can be: the agent reads the rest by its tools. */

import type { Route } from '../router/routes.js'
import type { Viewer } from '../store/access.js'

export function contextOf({ member, tenant }: Viewer, route: Route): Record<string, unknown> {
  return {
    workspace: { id: tenant.id, name: tenant.name },
    user: { id: member.id, name: member.name, role: member.role },
    ...route,
  }
}

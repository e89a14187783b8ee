/**
 * Who is looking, and what they may see and do.
 *
 * Every read and every change begins here, whoever asks: a page, a form, or a tool of the agent.
 */

import type { State } from './model.js'
import { Refused } from './refused.js'
import { type Member, type Project, TENANTS, type Tenant } from './workspaces.js'

/** The signed-in person within the active tenant. */
export interface Viewer {
  readonly member: Member
  readonly tenant: Tenant
}

export function viewerOf(state: State): Viewer {
  const tenant = TENANTS.find((one) => one.id === state.tenantId)
  const member = tenant?.members.find((one) => one.id === state.userId)
  if (!tenant || !member) {
    throw new Refused('You are not signed in to this workspace.')
  }
  return { member, tenant }
}

export function mayChange({ member }: Viewer): boolean {
  return member.role !== 'viewer'
}

export function mayDelete({ member }: Viewer): boolean {
  return member.role === 'admin'
}

export function maySee(member: Member, project: Project): boolean {
  return !project.adminsOnly || member.role === 'admin'
}

export function requireChange(viewer: Viewer): void {
  if (!mayChange(viewer)) {
    throw new Refused(
      `You may read issues of ${viewer.tenant.name}, not change them. An admin can change that.`,
    )
  }
}

export function requireDelete(viewer: Viewer): void {
  requireChange(viewer)
  if (!mayDelete(viewer)) {
    throw new Refused(`Only an admin of ${viewer.tenant.name} may delete an issue.`)
  }
}

/** Tenants, their people and projects: the facts of workspaces.json, which the server reads too. */

import facts from '../../workspaces.json'

export type Role = 'admin' | 'member' | 'viewer'

export interface Person {
  readonly id: string
  readonly name: string
}

export interface Member extends Person {
  readonly role: Role
}

export interface Project {
  readonly id: string
  readonly name: string
  readonly summary: string
  readonly adminsOnly: boolean
}

export interface Tenant {
  readonly id: string
  readonly name: string
  readonly projects: readonly Project[]
  readonly members: readonly Member[]
}

export const PEOPLE: readonly Person[] = facts.people

export const TENANTS: readonly Tenant[] = facts.tenants.map((tenant) => ({
  id: tenant.id,
  name: tenant.name,
  projects: tenant.projects,
  members: Object.entries(tenant.members).map(([id, role]) => ({
    id,
    name: personName(id),
    role: role as Role,
  })),
}))

/** The tenants that somebody belongs to. */
export function tenantsOf(userId: string): readonly Tenant[] {
  return TENANTS.filter((tenant) => tenant.members.some((member) => member.id === userId))
}

export function personName(id: string): string {
  return PEOPLE.find((person) => person.id === id)?.name ?? 'Somebody who left'
}

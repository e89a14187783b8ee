/**
 * What the agent may do here. Each tool reads the state at the moment of its call and changes it by
 * the functions of the form, so that it can neither see nor do more than the person in front of it.
 */

import { defineTool } from '@remit/sdk/react'
import * as z from 'zod'
import type { App } from '../app/app.js'
import { destination } from '../router/destination.js'
import { urlOf } from '../router/routes.js'
import { mayChange, maySee, viewerOf } from '../store/access.js'
import { PRIORITIES, STATUSES } from '../store/model.js'
import { assignIssue, createIssue, deleteIssue, updateIssue } from '../store/mutations.js'
import { findIssue, listIssues, listMembers, listProjects } from '../store/queries.js'
import { wordsOf } from '../store/refused.js'
import { issueLine, issueRecord, projectRecord } from './records.js'

const issueId = z.string().describe('Id of the issue, such as WEB-12, as another tool answered it.')
const projectId = z.string().describe('Id of the project, as list_projects answers it.')
const memberId = z.string().describe('Id of the member, as list_members answers it.')
const status = z.enum(STATUSES)
const priority = z.enum(PRIORITIES)

export function makeTools({ store, router, estimates }: Omit<App, 'ask'>) {
  return {
    list_issues: defineTool({
      metadata: { title: 'Look through issues' },
      description:
        'Lists issues of the workspace that the user may see, the most urgent first. Use it to ' +
        'find an issue or to answer how many there are. Not for the text of one issue: that is ' +
        'get_issue.',
      category: 'read',
      dangerLevel: 'safe',
      idempotent: true,
      parameters: z.object({
        status: status.optional(),
        priority: priority.optional(),
        assigneeId: z
          .string()
          .optional()
          .describe('Id of a member, or "none" for issues that nobody has.'),
        projectId: projectId.optional(),
        text: z.string().optional().describe('Words that all stand in the id, title or text.'),
        limit: z.coerce.number().int().min(1).max(100).default(25),
      }),
      execute: ({ limit, assigneeId, projectId, text, status, priority }) => {
        const found = listIssues(store.getState(), {
          ...(status ? { status } : {}),
          ...(priority ? { priority } : {}),
          ...(assigneeId ? { assignee: assigneeId } : {}),
          ...(projectId ? { project: projectId } : {}),
          ...(text ? { text } : {}),
        })
        return { total: found.length, issues: found.slice(0, limit).map(issueLine) }
      },
    }),

    get_issue: defineTool({
      metadata: { title: 'Read an issue' },
      description:
        'Reads one issue as it is now: text, status, assignee, estimate and last changes. Use it ' +
        'before changing an issue, because the user may have changed it since.',
      category: 'read',
      dangerLevel: 'safe',
      idempotent: true,
      parameters: z.object({ id: issueId }),
      execute: async ({ id }) => {
        const record = issueRecord(store.getState(), findIssue(store.getState(), id))
        try {
          return { ...record, estimate: (await estimates.read(id)).points }
        } catch (error) {
          // The issue itself is here, whether or not the server answers.
          return { ...record, estimate: null, estimateUnknownBecause: wordsOf(error) }
        }
      },
    }),

    create_issue: defineTool({
      metadata: { title: 'Create an issue' },
      description:
        'Creates an issue in a project. Use it when the user wants something written down, after ' +
        'list_issues showed that it is not there yet. Not for changing one that exists.',
      category: 'write',
      dangerLevel: 'safe',
      parameters: z.object({
        projectId,
        title: z.string().min(1).max(120).describe('One line that says what is to be done.'),
        description: z.string().max(4000).optional().describe('Plain text; no Markdown is drawn.'),
        status: status.optional().describe('To do where it is left out.'),
        priority: priority.optional(),
        assigneeId: memberId.optional(),
      }),
      execute: ({ projectId, title, description, status, priority, assigneeId }) => {
        const issue = createIssue(
          store,
          {
            projectId,
            title,
            ...(description === undefined ? {} : { description }),
            ...(status ? { status } : {}),
            ...(priority ? { priority } : {}),
            ...(assigneeId ? { assigneeId } : {}),
          },
          'agent',
        )
        return issueRecord(store.getState(), issue)
      },
    }),

    update_issue: defineTool({
      metadata: { title: 'Change an issue' },
      description:
        'Changes the title, text, status or priority of an issue; what is left out stays. Read it ' +
        'with get_issue first. Not for who it is assigned to: that is assign_issue.',
      category: 'write',
      dangerLevel: 'moderate',
      idempotent: true,
      parameters: z.object({
        id: issueId,
        title: z.string().min(1).max(120).optional(),
        description: z.string().max(4000).optional().describe('The whole new text.'),
        status: status.optional(),
        priority: priority.optional(),
      }),
      execute: ({ id, title, description, status, priority }) => {
        const issue = updateIssue(
          store,
          id,
          {
            ...(title === undefined ? {} : { title }),
            ...(description === undefined ? {} : { description }),
            ...(status ? { status } : {}),
            ...(priority ? { priority } : {}),
          },
          'agent',
        )
        return issueRecord(store.getState(), issue)
      },
    }),

    assign_issue: defineTool({
      metadata: { title: 'Assign an issue' },
      description:
        'Gives an issue to a member of the workspace, or with null to nobody. Use list_members ' +
        'for the ids. Where it is open who shall have it, show the widget assigneePicker instead.',
      category: 'write',
      dangerLevel: 'safe',
      idempotent: true,
      parameters: z.object({ id: issueId, assigneeId: memberId.nullable() }),
      execute: ({ id, assigneeId }) => {
        const issue = assignIssue(store, id, assigneeId, 'agent')
        return issueRecord(store.getState(), issue)
      },
    }),

    delete_issue: defineTool({
      metadata: { title: 'Delete an issue' },
      description:
        'Deletes an issue for good; the user is asked first. Only when they want it gone. For ' +
        'something that is finished set the status to done instead.',
      category: 'write',
      dangerLevel: 'destructive',
      requiresApproval: true,
      parameters: z.object({ id: issueId }),
      execute: ({ id }) => ({ deleted: issueLine(deleteIssue(store, id)) }),
    }),

    list_projects: defineTool({
      metadata: { title: 'Look at the projects' },
      description:
        'Lists the projects that the user may see, with how many issues are open in each. Use it ' +
        'for the id of a project, or for an overview.',
      category: 'read',
      dangerLevel: 'safe',
      idempotent: true,
      parameters: z.object({}),
      execute: () => {
        const state = store.getState()
        return {
          projects: listProjects(state).map((project) => ({
            ...projectRecord(project),
            openIssues: listIssues(state, { project: project.id }).filter(
              (issue) => issue.status !== 'done',
            ).length,
          })),
        }
      },
    }),

    list_members: defineTool({
      metadata: { title: 'Look at the members' },
      description:
        'Lists who belongs to the workspace, with their role and which projects they may be given ' +
        'issues of. Use it for the id of somebody whom the user names.',
      category: 'read',
      dangerLevel: 'safe',
      idempotent: true,
      parameters: z.object({}),
      execute: () => {
        const state = store.getState()
        const { member: me, tenant } = viewerOf(state)
        return {
          members: listMembers(state).map((member) => ({
            ...member,
            isTheUser: member.id === me.id,
            mayBeGivenIssuesOf: listProjects(state)
              .filter((project) => mayChange({ member, tenant }) && maySee(member, project))
              .map((project) => project.id),
          })),
        }
      },
    }),

    navigate: defineTool({
      metadata: { title: 'Open a page' },
      description:
        'Opens a page of the tracker for the user: a url of a record as another tool answered it, ' +
        'or /issues, /board, /projects, /issues/new. /issues and /board take the filters status, ' +
        'priority, assignee, project and text, as in /issues?status=todo&assignee=none. Not for ' +
        'reading: the page is for the user’s eyes. It opens no other site.',
      category: 'read',
      dangerLevel: 'safe',
      idempotent: true,
      parameters: z.object({ url: z.string().max(500).describe('Begins with a slash.') }),
      execute: ({ url }) => {
        const opened = urlOf(destination(store.getState(), url))
        router.go(opened, { by: 'agent' })
        return { opened }
      },
    }),

    save_estimate: defineTool({
      metadata: { title: 'Save an estimate' },
      description:
        'Saves how much work an issue is, in points: 1, 2, 3, 5, 8, 13 or 21; null takes the ' +
        'estimate back. Answers with what the server has saved and the points of the project. Use ' +
        'it when the user gives or agrees to a number; do not make one up.',
      category: 'write',
      dangerLevel: 'safe',
      idempotent: true,
      parameters: z.object({
        id: issueId,
        points: z.coerce.number().int().min(1).max(21).nullable(),
      }),
      execute: ({ id, points }) => estimates.save(id, points),
    }),
  }
}

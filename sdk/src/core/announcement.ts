/** What a page tells the agent of its tools and widgets. */

import type { Tools, WidgetFacts } from './definitions.js'
import { parametersOf } from './parameters.js'

/** As it is sent (`PUT …/clients/{clientId}`), without what changes from moment to moment. */
export function announcement(tools: Tools, widgets: Readonly<Record<string, WidgetFacts>>) {
  return {
    tools: Object.entries(tools).map(([name, tool]) => ({
      name,
      ...(tool.metadata?.title && { title: tool.metadata.title }),
      description: tool.description,
      parameters: parametersOf(tool.parameters),
      category: tool.category,
      dangerLevel: tool.dangerLevel,
      requiresApproval: tool.requiresApproval,
      idempotent: tool.idempotent,
      timeoutMs: tool.timeoutMs,
    })),
    widgets: Object.entries(widgets).map(([name, { description, parameters }]) => ({
      name,
      description,
      parameters: parametersOf(parameters),
    })),
  }
}

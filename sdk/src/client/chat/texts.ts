/** Every text that the chat shows, in English and in Spanish; a host may replace each of them. */

import { SIGNED_OUT } from '../../transport/http.js'
import { en } from './texts-en.js'
import { es } from './texts-es.js'

export interface Texts {
  readonly chat: string
  readonly transcript: string
  readonly message: string
  readonly write: string
  readonly writeNext: string
  readonly writeInstead: string
  readonly over: string
  readonly send: string
  readonly stop: string
  readonly empty: string
  readonly opening: string
  readonly earlier: string
  readonly toNewest: string
  readonly you: string
  readonly agent: string

  readonly thinks: (time: string) => string
  readonly waitsForYou: string
  readonly waitsForPage: string
  readonly stopping: string
  readonly next: string
  readonly dropped: string
  readonly lost: string
  readonly back: string
  readonly offline: string
  readonly closed: string
  readonly stopped: string
  readonly failed: string
  readonly noModel: string
  readonly why: string
  readonly cutOff: string
  readonly notSent: (reason: string) => string
  readonly again: string
  readonly edit: string
  readonly discard: string
  readonly lendingFault: string
  readonly noApp: (app: string, reason: string) => string
  readonly noTool: (app: string, tool: string, reason: string) => string

  readonly atWork: string
  readonly progress: (status: string, polls: number) => string
  readonly outcomes: Readonly<Record<string, string>>
  readonly unknown: string
  readonly args: string
  readonly told: string

  readonly needed: (title: string) => string
  readonly waits: (title: string) => string
  readonly signedOut: string
  readonly inPage: string
  readonly on: (host: string, account: string) => string
  /** The platform's own words about a call, which come in English. */
  readonly platform: (words: string) => string
  readonly because: (reason: string) => string
  readonly askedBy: (app: string, host: string) => string
  readonly request: string
  readonly preview: string
  readonly noPreview: (reason: string) => string
  readonly notNow: string
  readonly whyNot: string
  readonly remember: string
  readonly forOperator: string
  readonly forOther: string
  readonly changed: string
  readonly appsWords: string
  readonly continueOn: (device: string) => string
  readonly marksDangerous: (labels: string) => string
  readonly whatButtonsDo: string
  readonly tellsAgent: (input: string) => string
  readonly runs: (what: string, input: string) => string
  readonly calls: (where: string, input: string) => string
  readonly ofComponent: (path: string, component: string) => string
  readonly skip: string
  readonly cancel: string
  readonly skipCancel: string
  readonly connect: (app: string) => string
  readonly goesOn: string
  readonly goOnWithout: string
  readonly decided: Readonly<Record<string, string>>
  readonly cancelled: string
  readonly pressed: (label: string, device: string) => string
  readonly nobody: string

  readonly openLink: (host: string) => string
  readonly copy: string
  readonly wantsOpen: string
  readonly wantsCopy: string

  readonly table: string
  readonly moreRows: (count: number) => string
  readonly before: string
  readonly after: string
  readonly tooLong: string
  readonly noImage: string
  readonly page: (host: string) => string
  readonly openPage: string
  readonly pageNotAbsolute: string
  readonly pageOwnOrigin: string
  readonly pageMasked: string
  readonly pageBlocked: string
  readonly widgetFolded: (name: string) => string
  readonly widgetGone: (name: string) => string
  readonly widgetFailed: (name: string, reason: string) => string
  readonly show: string
}

const SHIPPED: Readonly<Record<string, Texts>> = { en, es }

/** The language that was asked for, else the page's own. */
export function localeOf(asked: string | undefined): string {
  return asked ?? (document.documentElement.lang || navigator.language || 'en')
}

/** The texts of a language, `es-MX` being Spanish; English where it is not shipped. */
export function textsOf(locale: string, replaced: Partial<Texts> = {}): Texts {
  const language = locale.toLowerCase().split(/[-_]/)[0] ?? ''
  return { ...(SHIPPED[language] ?? en), ...replaced }
}

/** Why something did not work, in the chat's language where the words are the SDK's own. */
export function faultText(fault: string, texts: Texts): string {
  return fault === SIGNED_OUT ? texts.signedOut : fault
}

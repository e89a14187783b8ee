/** Every text that the chat shows, in English and in Spanish; a host may replace each of them. */

import { SIGNED_OUT } from '../../transport/http.js'

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
  readonly lost: string
  readonly offline: string
  readonly closed: string
  readonly stopped: string
  readonly failed: string
  readonly cutOff: string
  readonly notSent: (reason: string) => string
  readonly again: string
  readonly discard: string
  readonly lendingFault: (reason: string) => string
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
  readonly answerAs: string
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

/** The platform's word for where a call of a page's own tool runs. */
const CLIENT = "the user's client"

const en: Texts = {
  chat: 'Chat',
  transcript: 'Transcript',
  message: 'Message',
  write: 'Write a message',
  writeNext: 'Say what comes next',
  writeInstead: 'Say something else: this takes the request back',
  over: 'This conversation is over',
  send: 'Send',
  stop: 'Stop',
  empty: 'Say what you want done.',
  opening: 'The conversation is being opened.',
  earlier: 'Show earlier messages',
  toNewest: 'To the newest',
  you: 'You',
  agent: 'Agent',

  thinks: (time) => `The agent thinks${time && ` · ${time}`}. Esc stops it.`,
  waitsForYou: 'Waits for an answer.',
  waitsForPage: 'Waits for a page of the app.',
  lost: 'The connection is lost. Trying again.',
  offline: 'You are offline. It goes on when you are back.',
  closed: 'The conversation is closed.',
  stopped: 'Stopped.',
  failed: 'It has failed.',
  cutOff: 'Cut off here.',
  notSent: (reason) => `Not sent. ${reason}`,
  again: 'Try again',
  discard: 'Discard',
  lendingFault: (reason) => `The agent cannot use this page’s tools. ${reason}`,
  noApp: (app, reason) => `${app} cannot be used now: ${reason}`,
  noTool: (app, tool, reason) => `${app} offers no ${tool}: ${reason}`,

  atWork: 'at work',
  progress: (status, polls) => `${status} · look ${polls}`,
  outcomes: {
    error: 'failed',
    denied: 'not done: it was refused',
    skipped: 'skipped',
    expired: 'not done: nobody answered in time',
    cancelled: 'stopped',
    outcome_unknown: 'not known',
  },
  unknown: 'This may have happened. Check before trying again.',
  args: 'Arguments',
  told: 'What the agent was told',

  needed: (title) => `An answer is needed. ${title}`,
  waits: (title) => `Waits for an answer: ${title}`,
  signedOut: SIGNED_OUT,
  on: (host, account) =>
    host === CLIENT ? 'in your page of the app' : `on ${host}${account && ` as ${account}`}`,
  platform: (words) => words,
  because: (reason) => `Asked because ${reason}.`,
  askedBy: (app, host) => `asked by ${app} on ${host}`,
  request: 'The exact request',
  preview: 'What it is about, read just now',
  noPreview: (reason) => `There is no preview: ${reason}`,
  notNow: 'Not now',
  whyNot: 'Why not (optional; the agent reads it)',
  answerAs: 'It is for somebody else than the user. Answer as',
  remember: 'Yes for the rest of this conversation',
  forOperator: 'Waits for an operator of the workspace.',
  forOther: 'Waits for somebody else.',
  changed: 'It has changed. Look at it again before you answer.',
  appsWords: 'The app’s words',
  continueOn: (device) => `Continue on ${device}.`,
  marksDangerous: (labels) => `The app marks ${labels} as dangerous.`,
  whatButtonsDo: 'What each button does',
  tellsAgent: (input) => `tells the agent ${input}`,
  runs: (what, input) => `runs ${what} with ${input}`,
  calls: (where, input) => `calls ${where} with ${input}`,
  ofComponent: (path, component) => `${path} of the app's component ${component}`,
  skip: 'Skip',
  cancel: 'Cancel',
  skipCancel: 'Skip: the agent goes on without it. Cancel: the agent stops.',
  connect: (app) => `${app} waits until you are connected to it.`,
  goesOn: 'It goes on by itself then.',
  goOnWithout: 'Go on without it',
  decided: {
    approved: 'approved',
    denied: 'said no',
    answered: 'answered',
    skipped: 'skipped',
    cancelled: 'taken back',
    expired: 'nobody answered in time',
  },
  cancelled: 'cancelled',
  pressed: (label, device) => `pressed “${label}”${device && ` on ${device}`}`,
  nobody: 'Nobody answered in time',

  openLink: (host) => `Open ${host}`,
  copy: 'Copy',
  wantsOpen: 'The agent wants to open a page for you.',
  wantsCopy: 'The agent wants to copy a text for you.',

  table: 'Table',
  moreRows: (count) => `And ${count} more rows.`,
  before: 'Before',
  after: 'After',
  tooLong: 'The rest is left out: it is too long.',
  noImage: 'picture',
  page: (host) => `A page of the app, on ${host}`,
  openPage: 'Open it in a tab',
  pageNotAbsolute: 'The app’s page is not shown: its address is no absolute https one.',
  pageOwnOrigin: 'The app’s page is not shown: it is on this page’s own origin.',
  pageMasked: 'The app’s page is not shown again: its address was kept without its query.',
  pageBlocked: 'The app’s page is not shown: this page may not frame its host.',
  widgetFolded: (name) => `${name}, folded`,
  widgetGone: (name) => `${name} is not on this page.`,
  widgetFailed: (name, reason) => `${name} cannot be drawn: ${reason}`,
  show: 'Show',
}

const es: Texts = {
  chat: 'Chat',
  transcript: 'Conversación',
  message: 'Mensaje',
  write: 'Escribe un mensaje',
  writeNext: 'Di qué viene después',
  writeInstead: 'Di otra cosa: así se retira la solicitud',
  over: 'Esta conversación ha terminado',
  send: 'Enviar',
  stop: 'Parar',
  empty: 'Di qué quieres que se haga.',
  opening: 'Se está abriendo la conversación.',
  earlier: 'Mostrar mensajes anteriores',
  toNewest: 'Ir a lo último',
  you: 'Tú',
  agent: 'Agente',

  thinks: (time) => `El agente piensa${time && ` · ${time}`}. Esc lo para.`,
  waitsForYou: 'Espera una respuesta.',
  waitsForPage: 'Espera una página de la aplicación.',
  lost: 'Se ha perdido la conexión. Se intenta de nuevo.',
  offline: 'No tienes conexión. Seguirá cuando vuelvas.',
  closed: 'La conversación está cerrada.',
  stopped: 'Parado.',
  failed: 'Ha fallado.',
  cutOff: 'Cortado aquí.',
  notSent: (reason) => `No enviado. ${reason}`,
  again: 'Intentar de nuevo',
  discard: 'Descartar',
  lendingFault: (reason) => `El agente no puede usar las herramientas de esta página. ${reason}`,
  noApp: (app, reason) => `${app} no se puede usar ahora: ${reason}`,
  noTool: (app, tool, reason) => `${app} no ofrece ${tool}: ${reason}`,

  atWork: 'en curso',
  progress: (status, polls) => `${status} · consulta ${polls}`,
  outcomes: {
    error: 'ha fallado',
    denied: 'no hecho: se ha rechazado',
    skipped: 'omitido',
    expired: 'no hecho: nadie respondió a tiempo',
    cancelled: 'parado',
    outcome_unknown: 'no se sabe',
  },
  unknown: 'Puede que haya ocurrido. Compruébalo antes de intentarlo de nuevo.',
  args: 'Argumentos',
  told: 'Lo que se dijo al agente',

  needed: (title) => `Se necesita una respuesta. ${title}`,
  waits: (title) => `Espera una respuesta: ${title}`,
  signedOut: 'Ya no has iniciado sesión aquí. Inicia sesión otra vez o recarga la página.',
  on: (host, account) =>
    host === CLIENT
      ? 'en tu página de la aplicación'
      : `en ${host}${account && ` como ${account}`}`,
  platform: (words) => PLATFORM_ES[words] ?? words,
  because: (reason) => `Se pregunta porque: ${reason}.`,
  askedBy: (app, host) => `lo pide ${app} en ${host}`,
  request: 'La solicitud exacta',
  preview: 'De qué se trata, leído ahora mismo',
  noPreview: (reason) => `No hay vista previa: ${reason}`,
  notNow: 'Ahora no',
  whyNot: 'Por qué no (opcional; el agente lo lee)',
  answerAs: 'Es para otra persona. Responder como',
  remember: 'Sí para el resto de esta conversación',
  forOperator: 'Espera a un operador del espacio de trabajo.',
  forOther: 'Espera a otra persona.',
  changed: 'Ha cambiado. Míralo otra vez antes de responder.',
  appsWords: 'Las palabras de la aplicación',
  continueOn: (device) => `Continúa en ${device}.`,
  marksDangerous: (labels) => `La aplicación marca ${labels} como peligroso.`,
  whatButtonsDo: 'Qué hace cada botón',
  tellsAgent: (input) => `dice al agente ${input}`,
  runs: (what, input) => `ejecuta ${what} con ${input}`,
  calls: (where, input) => `llama a ${where} con ${input}`,
  ofComponent: (path, component) => `${path} del componente ${component} de la aplicación`,
  skip: 'Omitir',
  cancel: 'Cancelar',
  skipCancel: 'Omitir: el agente sigue sin ello. Cancelar: el agente se para.',
  connect: (app) => `${app} espera hasta que estés conectado.`,
  goesOn: 'Después sigue por sí solo.',
  goOnWithout: 'Seguir sin ello',
  decided: {
    approved: 'aprobó',
    denied: 'dijo que no',
    answered: 'respondió',
    skipped: 'omitió',
    cancelled: 'retirado',
    expired: 'nadie respondió a tiempo',
  },
  cancelled: 'canceló',
  pressed: (label, device) => `pulsó «${label}»${device && ` en ${device}`}`,
  nobody: 'Nadie respondió a tiempo',

  openLink: (host) => `Abrir ${host}`,
  copy: 'Copiar',
  wantsOpen: 'El agente quiere abrirte una página.',
  wantsCopy: 'El agente quiere copiarte un texto.',

  table: 'Tabla',
  moreRows: (count) => `Y ${count} filas más.`,
  before: 'Antes',
  after: 'Después',
  tooLong: 'El resto se omite: es demasiado largo.',
  noImage: 'imagen',
  page: (host) => `Una página de la aplicación, en ${host}`,
  openPage: 'Abrir en una pestaña',
  pageNotAbsolute: 'La página no se muestra: su dirección no es https absoluta.',
  pageOwnOrigin: 'La página no se muestra: está en el mismo origen que esta.',
  pageMasked: 'La página no se vuelve a mostrar: su dirección se guardó sin su consulta.',
  pageBlocked: 'La página no se muestra: aquí no se permite enmarcar su servidor.',
  widgetFolded: (name) => `${name}, plegado`,
  widgetGone: (name) => `${name} no está en esta página.`,
  widgetFailed: (name, reason) => `${name} no se puede dibujar: ${reason}`,
  show: 'Mostrar',
}

/** The few words that the server sets above every approval. */
const PLATFORM_ES: Readonly<Record<string, string>> = {
  DELETES: 'BORRA',
  'SETS SOMETHING OFF': 'DESENCADENA ALGO',
  'ADDS OR CHANGES DATA': 'AÑADE O CAMBIA DATOS',
  'CHANGES DATA': 'CAMBIA DATOS',
  READS: 'LEE',
  'NEEDS YOU': 'TE NECESITA',
  'can be put right': 'se puede corregir',
  'changes what is there': 'cambia lo que hay',
  'cannot be undone': 'no se puede deshacer',
  'the app asks you to choose': 'la aplicación te pide que elijas',
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

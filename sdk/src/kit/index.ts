/** For authors of apps: declare tools, verify identity, answer calls. */

export type {
  ActionRequired,
  ApiContext,
  Button,
  Card,
  Channels,
  ThreadContext,
  ToolContext,
} from '../wire/answers.js'
export type { JsonValue } from '../wire/json.js'
export type { InputSchema, ObjectSchema, OutputOf, StandardSchema } from '../wire/schema.js'
export type {
  AppTarget,
  AppTool,
  ClientTarget,
  Mapping,
  Method,
  RequestSpec,
  Target,
  UrlTarget,
} from '../wire/targets.js'
export {
  AnswerError,
  actionRequired,
  type CardOptions,
  type DomainErrorOptions,
  domainError,
  result,
} from './answers.js'
export { isThreadToolInvocation, ToolContextError, toolContext } from './context.js'
export { componentUrl, SettingError } from './environment.js'
export { type ComponentOf, type HandlerOptions, type Handlers, handler } from './handler.js'
export { type IdentityOptions, identity, type WithHeaders } from './identity.js'
export { Keys, KeysUnavailable } from './keys.js'
export { type NodeRequest, type NodeResponse, nodeListener } from './node.js'
export {
  type Answer,
  type Call,
  type Route,
  type Routed,
  type RouteOptions,
  type Run,
  route,
} from './route.js'
export { type Identity, type Reason, type Refusal, type VerifyOptions, verify } from './verify.js'

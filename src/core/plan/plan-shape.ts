/** The parts of a saved plan that `apply FILE` reads. */

import { about } from '../json/json-schema.ts'
import { count, flag, list, object, oneOf, optional, record, text } from '../json/shape.ts'
import { kind, operation, path, said } from './operation-shape.ts'
import type { IdentityContradiction, PlanInputs, PlanOptions, Refusal, ReviewedPlan } from './plan.ts'

/** Options of either plan: what is chosen of it, and by which volctl. */
export const CHOICE = {
  pods: optional(list(text)),
  namespaces: optional(list(text)),
  volumes: optional(list(text)),
  max: optional(count),
  volctlVersion: text,
} as const

export const options = object<PlanOptions>({
  orphans: flag,
  remount: flag,
  expand: flag,
  settleMs: count,
  driverGone: list(text),
  handles: record(text),
  devices: optional(record(text)),
  acceptOutage: optional(count),
  acceptIdentity: optional(list(text)),
  acceptInsecureApi: optional(flag),
  foreignPods: optional(list(text)),
  forceUnmount: list(path),
  lazy: list(path),
  only: optional(list(kind)),
  skip: optional(list(kind)),
  ...CHOICE,
})

const contradiction = object<IdentityContradiction>({
  field: oneOf('machineID', 'systemUUID', 'bootID'),
  node: text,
  host: text,
  accepted: optional(about('By --accept-identity.', flag)),
})

export const machine = about(
  'Whether the Node object describes this host.',
  object<PlanInputs['machine']>({
    matches: flag,
    contradictions: optional(about("Ids of the Node object that are not this host's.", list(contradiction))),
    machineID: optional(text),
    systemUUID: optional(text),
    bootID: optional(text),
  }),
)

export const insecure = oneOf<'TlsNotVerified' | 'PlainHttp'>('TlsNotVerified', 'PlainHttp')

export const refused = object<Refusal>({ rule: text, ...said('refusal') })

/** Fields that stand in more than one plan. */
export const until = optional(about('RFC 3339: when it is over at the latest, where that is known.', text))
export const unjudged = about(
  'Safety rules that this plan could not judge.',
  list(object<PlanInputs['unjudged'][number]>({ rule: text, message: text })),
)
export const complete = about('false: something that may matter could not be known; `problems` says what.', flag)

/** Fields of a plan that a review needs. */
export const REVIEWED = {
  scope: oneOf<'node' | 'cluster'>('node', 'cluster'),
  node: text,
  rootDir: path,
  bootID: optional(text),
  createdAt: about('RFC 3339: when the node was read.', text),
  volctlVersion: text,
  operations: about('In the order in which they would run.', list(operation)),
  refused: optional(
    about('Set when a safety rule refuses the plan as a whole (exit status 4); its operations are blocked.', refused),
  ),
} as const

/** A saved plan as `apply` takes it: what to choose from a fresh plan, and the options to make that plan with. */
export interface SavedPlan extends ReviewedPlan {
  readonly options: PlanOptions
}

/** The file's apiVersion and kind have been checked before. */
export const savedPlan = object<SavedPlan>({
  ...REVIEWED,
  inputs: object<ReviewedPlan['inputs']>({ machine }),
  options,
})

/** The parts of a saved plan that `apply FILE` reads. */

import { about } from '../trust/json-schema.ts'
import {
  count,
  flag,
  list,
  type ObjectOf,
  object,
  oneOf,
  optional,
  record,
  type ShapeOf,
  text,
} from '../trust/shape.ts'
import { kind, type Operation, operation, path, said } from './operation-shape.ts'

/** Options of either plan: what is chosen of it, and by which volctl. */
export const CHOICE = {
  /** UID or its unique beginning, namespace/name, name; a plan's context has UIDs in their place. */
  pods: optional(list(text)),
  namespaces: optional(list(text)),
  volumes: optional(list(text)),
  volctlVersion: text,
}

export const options = object({
  orphans: flag,
  remount: flag,
  expand: flag,
  /** Milliseconds (S11). */
  settleMs: count,
  driverGone: list(text),
  /** Volume (spec name) to handle (S17). */
  handles: record(text),
  /** Volume to its device file, or to "none" if it has none on this node (S21). */
  devices: optional(record(text)),
  acceptOutage: optional(count),
  /** S1: ids of the Node object that are not this host's. */
  acceptIdentity: optional(list(text)),
  /** S34: act on the answers of a server that could not be verified. */
  acceptInsecureApi: optional(flag),
  forceUnmount: list(path),
  lazy: list(path),
  only: optional(list(kind)),
  skip: optional(list(kind)),
  ...CHOICE,
})

export interface PlanOptions extends ShapeOf<typeof options> {}

const identityField = oneOf('machineID', 'systemUUID', 'bootID')

export type IdentityField = ShapeOf<typeof identityField>

const contradiction = object({
  field: identityField,
  node: text,
  host: text,
  accepted: optional(about('By --accept-identity.', flag)),
})

/** An id of the Node object that differs from this host's (S1). */
export interface IdentityContradiction extends ShapeOf<typeof contradiction> {}

export const machine = about(
  'Whether the Node object describes this host.',
  object({
    /** An id agrees, and what contradicts was accepted. */
    matches: flag,
    contradictions: optional(
      about("Ids of the Node object that are not this host's.", list<IdentityContradiction>(contradiction)),
    ),
    machineID: optional(text),
    systemUUID: optional(text),
    bootID: optional(text),
  }),
)

export const refused = object({ rule: text, ...said('refusal') })

/** Why the pass as a whole must not be carried out. */
export interface Refusal extends ShapeOf<typeof refused> {}

/** Fields that stand in more than one plan. */
export const until = optional(about('RFC 3339: when it is over at the latest, where that is known.', text))
export const unjudged = about(
  'Safety rules that this plan could not judge.',
  list(object({ rule: text, message: text })),
)
export const complete = about('false: something that may matter could not be known; `problems` says what.', flag)

/** Fields of a plan that a review needs. */
export const REVIEWED = {
  scope: oneOf('node', 'cluster'),
  node: text,
  rootDir: path,
  bootID: optional(text),
  createdAt: about('RFC 3339: when the node was read.', text),
  volctlVersion: text,
  operations: about('In the order in which they would run.', list<Operation>(operation)),
  refused: optional(
    about('Set when a safety rule refuses the plan as a whole (exit status 4); its operations are blocked.', refused),
  ),
}

const reviewed = { ...REVIEWED, inputs: object({ machine }) }

/** What apply needs from the plan that was reviewed: only the choice of operations. */
export interface ReviewedPlan extends ObjectOf<typeof reviewed> {}

/** The file's apiVersion and kind have been checked before. */
export const savedPlan = object({ ...reviewed, options })

/** A saved plan as `apply` takes it: what to choose from a fresh plan, and the options to make that plan with. */
export interface SavedPlan extends ShapeOf<typeof savedPlan> {}

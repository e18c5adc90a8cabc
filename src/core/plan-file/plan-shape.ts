/** The parts of a saved plan that `apply FILE` reads. The types see to it that no field of an operation is forgotten. */

import { codesIn } from '../codes/codes.ts'
import type { Ownership } from '../files/ownership-bits.ts'
import { shownField } from '../json/parse-document.ts'
import {
  code,
  count,
  fail,
  flag,
  integer,
  list,
  object,
  oneOf,
  optional,
  path,
  record,
  type Shape,
  ShapeError,
  text,
} from '../json/shape.ts'
import {
  type Basis,
  type Blocked,
  type ExpectedMount,
  type FileIdentity,
  type IdentityContradiction,
  OPERATION_KINDS,
  type Operation,
  type PlanOptions,
  type PodRef,
  type ReviewedPlan,
  STEP_FIELDS,
  type Step,
  type StepFields,
  type StepOp,
  type VolumeRef,
} from '../plan/plan.ts'

const kind = oneOf(...OPERATION_KINDS)

const pod = object<PodRef>({ namespace: optional(text), name: optional(text), uid: text })

const volume = object<VolumeRef>({
  name: text,
  podVolumeName: optional(text),
  uniqueName: optional(text),
  plugin: text,
  driver: optional(text),
  handle: optional(text),
  mode: oneOf('Filesystem', 'Block'),
  handleFrom: optional(text),
  claim: optional(text),
  persistentVolume: optional(text),
  accessModes: optional(list(text)),
  attachedElsewhere: optional(list(text)),
  attached: optional(flag),
  inUse: optional(flag),
  device: optional(text),
  givenDevice: optional(text),
})

/** Earlier builds had other ops, and what nobody knows is not compared with a fresh step. */
const op: Shape<StepOp> = (value, at) => {
  if (typeof value === 'string' && Object.hasOwn(STEP_FIELDS, value)) return value as StepOp
  if (typeof value !== 'string') return fail(at, 'text', value)
  throw new ShapeError(
    `${at} is ${shownField(value)}, which this volctl does not know: another build of volctl made the plan`,
  )
}

const fieldsOfStep = object<{ readonly op: StepOp; readonly target: string } & Partial<StepFields>>({
  op,
  target: text,
  detail: optional(text),
  source: optional(text),
  fsType: optional(text),
  options: optional(list(text)),
  mode: optional(text),
  ownership: optional(
    object<Ownership>({ gid: count, policy: oneOf('Always', 'OnRootMismatch'), readOnly: flag, ignoreErrors: flag }),
  ),
  label: optional(text),
})

/** Of the fields of steps those alone that its op has. */
const step: Shape<Step> = (value, at) => {
  const { op, target, ...fields } = fieldsOfStep(value, at)
  const has: readonly string[] = STEP_FIELDS[op]
  const odd = Object.keys(fields).find((field) => !has.includes(field))
  if (odd !== undefined) throw new ShapeError(`${at}.${odd} is given, and a step ${op} has none`)
  return { op, target, ...fields } as Step
}

const blocked = object<Blocked>({ code: code(codesIn('blocked')), message: text, hint: optional(text) })

const expects = object<ExpectedMount>({
  path,
  layers: list(
    object<ExpectedMount['layers'][number]>({
      id: integer,
      dev: text,
      root: text,
      fsType: text,
      source: optional(text),
    }),
  ),
})

const basis = object<Basis>({
  pod: optional(
    object<NonNullable<Basis['pod']>>({ listed: flag, uid: optional(text), resourceVersion: optional(text) }),
  ),
  files: optional(
    list(object<FileIdentity>({ path, dev: integer, ino: integer, size: optional(count), mtime: optional(integer) })),
  ),
})

const operation = object<Operation>({
  id: text,
  kind,
  reason: code(codesIn('reason')),
  message: text,
  pod: optional(pod),
  volume: optional(volume),
  paths: list(path),
  steps: list(step),
  after: list(text),
  blocked: optional(blocked),
  deletes: optional(
    object<NonNullable<Operation['deletes']>>({ files: count, bytes: count, counted: optional(oneOf(false as const)) }),
  ),
  rule: text,
  kubeletWould: optional(text),
  expects: optional(list(expects)),
  basis: optional(basis),
  attachment: optional(
    object<NonNullable<Operation['attachment']>>({ name: text, uid: text, resourceVersion: optional(text) }),
  ),
})

const options = object<PlanOptions>({
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
  pods: optional(list(text)),
  namespaces: optional(list(text)),
  volumes: optional(list(text)),
  max: optional(count),
  volctlVersion: text,
})

/** A saved plan as `apply` takes it: what to choose from a fresh plan, and the options to make that plan with. */
export interface SavedPlan extends ReviewedPlan {
  readonly options: PlanOptions
}

/** The file's apiVersion and kind have been looked at before. */
export const savedPlan = object<SavedPlan>({
  scope: oneOf('node', 'cluster'),
  node: text,
  rootDir: path,
  bootID: optional(text),
  createdAt: text,
  volctlVersion: text,
  inputs: object<ReviewedPlan['inputs']>({
    machine: object<ReviewedPlan['inputs']['machine']>({
      matches: flag,
      contradictions: optional(
        list(
          object<IdentityContradiction>({
            field: oneOf('machineID', 'systemUUID', 'bootID'),
            node: text,
            host: text,
            accepted: optional(flag),
          }),
        ),
      ),
      machineID: optional(text),
      systemUUID: optional(text),
      bootID: optional(text),
    }),
  }),
  operations: list(operation),
  refused: optional(
    object<NonNullable<ReviewedPlan['refused']>>({
      rule: text,
      code: code(codesIn('refusal')),
      message: text,
      hint: optional(text),
    }),
  ),
  options,
})

/** The answer of `volctl wait`, as data. */
import { about, named } from '../json/json-schema.ts'
import { count, list, object, oneOf, optional, type ShapeOf, text } from '../json/shape.ts'
import { pod } from '../plan/operation-shape.ts'

export const WAIT_CONDITIONS = ['mounted', 'unmounted', 'detached', 'in-sync'] as const
export type WaitCondition = (typeof WAIT_CONDITIONS)[number]

const names = named('names', list(text))

const target = object({
  name: about('pod/NAMESPACE/NAME, pvc/NAMESPACE/NAME, node/NAME and the like.', text),
  pod: optional(pod),
  volume: optional(about('Unique name, if it is known.', text)),
  /** `impossible`: the condition cannot be reached any more. */
  state: oneOf('reached', 'pending', 'impossible'),
  /** What holds, or what is missing, in the kubelet's words where it has some. */
  message: text,
  why: optional(about('Of what is missing, the first reason that is known.', text)),
  unmounted: optional(about('Volumes that containers use and that are not mounted.', names)),
  unattached: optional(about('Of these, those that are not attached to this node.', names)),
  failedToProcess: optional(about('Of these, those whose claim or PersistentVolume cannot be used.', names)),
  mounted: optional(about('Volumes, or places of a volume, that are mounted or set up.', names)),
  attached: optional(about('Volumes that are attached, or for which that is not known.', names)),
})

/** One pod, volume or node that is waited for, at one look. Volumes go by the names that the pod gives them. */
export interface WaitedTarget extends ShapeOf<typeof target> {}

const outcome = oneOf('reached', 'timedOut', 'impossible', 'interrupted')

export type WaitOutcome = ShapeOf<typeof outcome>

export const waitShape = object({
  apiVersion: oneOf('volctl.io/v1'),
  kind: oneOf('Wait'),
  node: text,
  for: oneOf(...WAIT_CONDITIONS),
  outcome: about(
    'impossible: a pod has ended or was deleted, and its volumes will not be mounted. Exit status 0, 5, 5, 130.',
    outcome,
  ),
  waitedMs: count,
  timeoutMs: count,
  looks: object({
    api: about('How often the API server was asked.', count),
    node: about('How often the mount table and the directories were read.', count),
  }),
  targets: list<WaitedTarget>(named('target', target)),
  problem: optional(about('Why the last look failed; absent: it did not.', text)),
})

export interface WaitResult extends ShapeOf<typeof waitShape> {}

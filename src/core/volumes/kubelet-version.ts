/** Which kubelets volctl was tested with, and what a kubelet does by its version and feature gates. */
import type { Node } from '../kube/api/objects.ts'
import type { NodeSnapshot } from './snapshot.ts'

/**
 * Minor versions of Kubernetes 1. The rules were read from 1.36.2, and what changed until 1.37 from its release notes; whole nodes were
 * set up and torn down beside kubelets of 1.36.2 (O39). Older ones keep directories and state elsewhere (C11, R480); newer ones were
 * never tested.
 */
export const TESTED_MINORS = { first: 34, last: 37 } as const

/** What the rules were read from: a kubelet whose version is not known counts as one. */
const RULES_FROM = 36

/** The kubelet's version in the Node's status; undefined if there is none, or the text is not a version. */
export function kubeletVersion(node: Node | null | undefined) {
  const text = node?.status?.nodeInfo?.kubeletVersion
  const found = /^v?(\d+)\.(\d+)/.exec(text ?? '')
  if (text === undefined || found === null) return undefined
  return { text, major: Number(found[1]), minor: Number(found[2]) }
}

/**
 * Feature gates by version (N69): from which minor version, in which stage, and whether it is on. Before its first period a gate does not
 * exist, and what it is about is off.
 */
const GATES = {
  ImageVolume: [
    [0, 'beta', false],
    [35, 'beta', true],
    [36, 'locked', true],
  ],
  SELinuxMount: [
    [0, 'beta', false],
    [37, 'GA', true],
  ],
  PreventStaticPodAPIReferences: [
    [34, 'beta', true],
    [37, 'locked', true],
  ],
  EmptyDirVolumeMode: [[37, 'alpha', false]],
  AtomicWriteVolumeUserFields: [[37, 'alpha', false]],
  CSIGlobalMountReconstruction: [[38, 'alpha', false]],
} as const

/**
 * Whether this node's kubelet has the feature: by an entry of its own configuration, else by the one for all gates that are beta (or
 * alpha) in its version, else by that version's default (N69).
 */
export function isGateOn({ api, kubelet }: NodeSnapshot, gate: keyof typeof GATES): boolean {
  const { major, minor } = kubeletVersion(api?.node) ?? { major: 1, minor: RULES_FROM }
  const periods: readonly (typeof GATES)[keyof typeof GATES][number][] = GATES[gate]
  const [, stage, byDefault] = periods.findLast(([from]) => major > 1 || from <= minor) ?? [0, 'locked', false]
  if (stage === 'locked') return byDefault
  const set = (kubelet?.config?.featureGates ?? {}) as Readonly<Record<string, boolean>>
  const ofStage = { alpha: set.AllAlpha, beta: set.AllBeta, GA: undefined }[stage]
  return set[gate] ?? ofStage ?? byDefault
}

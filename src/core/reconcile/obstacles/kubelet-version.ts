/** Which versions of the kubelet volctl was tested with. */
import type { Node } from '../../model/objects.ts'

/**
 * Minor versions of Kubernetes 1. The rules were read from 1.36.2; whole nodes were set up and torn down beside kubelets of
 * 1.33.13 and 1.36.2 (O39), and nothing that volctl relies on changed between these. Older ones keep directories and state
 * elsewhere (C11, R480); newer ones were never tested.
 */
export const TESTED_MINORS = { first: 33, last: 36 } as const

export interface KubeletVersion {
  readonly text: string
  readonly major: number
  readonly minor: number
}

/** The kubelet's version in the Node's status; undefined if there is none, or the text is not a version. */
export function kubeletVersion(node: Node | null | undefined): KubeletVersion | undefined {
  const text = node?.status?.nodeInfo?.kubeletVersion
  const found = /^v?(\d+)\.(\d+)/.exec(text ?? '')
  if (text === undefined || found === null) return undefined
  return { text, major: Number(found[1]), minor: Number(found[2]) }
}

export function isTested({ major, minor }: KubeletVersion): boolean {
  return major === 1 && minor >= TESTED_MINORS.first && minor <= TESTED_MINORS.last
}

import type { Code } from '../../codes/codes.ts'

/** Who logs it, or sends it as an event. */
export const SPEAKERS = {
  kubelet: 'the kubelet',
  controller: 'the attach/detach controller',
  scheduler: 'the scheduler',
  driver: 'a CSI driver',
  kernel: 'the kernel',
  mount: 'a mount program',
} as const

export type Speaker = keyof typeof SPEAKERS

/** One trouble in the words of its line. */
export interface Sentence {
  /** Each a way to say it: parts that stand in the line in this order, in lower case. */
  readonly says: readonly (readonly string[])[]
  readonly by: readonly Speaker[]
  /** In one plain sentence: what is the case. */
  readonly means: string
  readonly why: string
  /** On this node; `{unit}` is the unit that runs the kubelet here, `{node}` the node. */
  readonly next: string
  /** What volctl does about it. */
  readonly volctl: string
  /** In place of these, where the line is asked of a whole cluster. */
  readonly inCluster?: { readonly next?: string; readonly volctl?: string }
  readonly codes: readonly Code[]
  readonly rules: readonly string[]
  /** What the answer is about where the line names several things; absent: the volume. */
  readonly about?: 'pod' | 'driver'
  /** What volctl does not look at, though the trouble is there: that it finds nothing wrong means nothing. A sentence without its dot. */
  readonly unchecked?: string
  /** No trouble: the kubelet says what it does. */
  readonly harmless?: true
}

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

/** One thing that a line says: an operation that failed, a cause, or news. */
export interface Sentence {
  /** Each a way to say it: words in lower case and without quotes, " … " for what stands between them, " * " for one word. */
  readonly says: readonly string[]
  /** In one plain sentence: what is the case. */
  readonly means: string
  /**
   * What to do; `{unit}` is the unit that runs the kubelet here, `{node}` the node. `{server|the server}` is what the line
   * or the node names as that, else the words behind the bar: the kinds stand in fill.ts.
   */
  readonly next: string
  readonly by?: readonly Speaker[]
  readonly why?: string
  /** What volctl does about it. */
  readonly volctl?: string
  /** In place of these, where the line is asked of a whole cluster. */
  readonly inCluster?: { readonly next?: string; readonly volctl?: string }
  readonly codes?: readonly Code[]
  readonly rules?: readonly string[]
  /** What the answer is about where the line names several things; absent: the volume. */
  readonly about?: 'pod' | 'driver'
  /** What volctl does not look at, though the trouble is there: that it finds nothing wrong means nothing. A sentence without its dot. */
  readonly unchecked?: string
  /** No trouble: somebody says what they do, or that it is done. */
  readonly harmless?: true
  /** What was being done when it failed: what stands further in is the cause. */
  readonly frame?: true
  /** It stands for many things of one kind; which one, the words of the line say, and they are quoted. */
  readonly open?: true
  /** A frame that says little of what failed: others around or in it say more. */
  readonly envelope?: true
  /** A frame that says who speaks, or of what, and nothing of what failed: any other comes before it. */
  readonly speaker?: true
}

/** A sentence in one row: @param says ways to say it, with " | " between them */
export function row(says: string, means: string, next: string, more: Partial<Sentence> = {}): Sentence {
  return { says: says.split(' | '), means, next, ...more }
}

/** MySQL, Python, Rust, the kernel and what is written in C. */
const NUMBERED = 'errno |errno: |errno:|errno=|errcode: |os error |error number |error -|err -|err=-|ret=-|rc=-'.split(
  '|',
)

/** @param numbers of errors @returns the ways in which programs print them instead of words, as row() takes them */
export function byNumber(...numbers: readonly number[]): string {
  const ways = numbers.flatMap((number) => NUMBERED.map((how) => `${how}${number}`))
  return ways.join(' | ')
}

/** What was being done when something failed. */
export function frame(says: string, means: string, next: string, more: Partial<Sentence> = {}): Sentence {
  return row(says, means, next, { ...more, frame: true })
}

/** News, after which nothing has to be done: @param means what was done, or why it is there */
export function news(says: string, means: string, next = NOTHING_TO_DO): Sentence {
  return row(says, means, next, { harmless: true })
}

const NOTHING_TO_DO = 'Nothing: the trouble, if there is one, is in another line.'

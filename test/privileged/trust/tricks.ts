/** What volctl looks at, what somebody else may have done to it, and which commands look: as a list of trials. */
import { randomFrom } from '../../helpers/random-from.ts'

export type Command = 'plan' | 'apply' | 'snapshot' | 'explain' | 'journal'

const LOOKING = ['plan', 'apply', 'snapshot', 'explain'] as const

/** By what they are called here: the commands that look at them. */
export const SUBJECTS = {
  'admin.conf, found': LOOKING,
  "root's ~/.kube/config, found": LOOKING,
  'kubeconfig, given': LOOKING,
  'CA file of a kubeconfig': LOOKING,
  'token file of a kubeconfig': LOOKING,
  'kubelet --config': LOOKING,
  'kubelet --config-dir': LOOKING,
  'kubelet --config of one that runs': LOOKING,
  'unit file': LOOKING,
  'unit drop-in': LOOKING,
  'environment file of the unit': LOOKING,
  'static pod manifest': LOOKING,
  'flexVolume driver': LOOKING,
  'journal.jsonl': ['apply', 'journal'],
  'lazy.jsonl': LOOKING,
  'lock file': ['apply'],
  'plan file': ['apply'],
  'snapshot file': ['plan', 'explain'],
  'CSI socket': LOOKING,
  'CSI registration socket': LOOKING,
  'runtime socket': LOOKING,
} as const satisfies Readonly<Record<string, readonly Command[]>>

export type Subject = keyof typeof SUBJECTS

export const TRICKS = [
  "another user's",
  'for a group to write',
  'in a directory for all to write',
  "another user's link",
  "another user's, by a hard link",
  'a FIFO',
  'a device',
  'swapped all the time',
  'of 10 GB',
  'endless',
  'slow',
] as const

export type Trick = (typeof TRICKS)[number]

export interface Trial {
  readonly subject: Subject
  readonly trick: Trick
  readonly command: Command
}

export interface Verdict extends Trial {
  /** What must not be, in words. */
  readonly wrong: readonly string[]
  readonly status: number | undefined
  readonly seconds: number
  readonly peakMiB: number
}

export function allTrials(): readonly Trial[] {
  return (Object.entries(SUBJECTS) as [Subject, readonly Command[]][]).flatMap(([subject, commands]) =>
    TRICKS.flatMap((trick) => commands.map((command) => ({ subject, trick, command }))),
  )
}

/** So many of them, each subject and each trick among them; the same for the same seed. */
export function chosenTrials(count: number, seed: number): readonly Trial[] {
  const random = randomFrom(seed)
  const shuffled = allTrials()
    .map((trial) => ({ trial, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ trial }) => trial)
  const first = [...Object.keys(SUBJECTS), ...TRICKS].map((name) =>
    shuffled.find(({ subject, trick }) => subject === name || trick === name),
  )
  return [...new Set([...first.filter((trial) => trial !== undefined), ...shuffled])].slice(0, count)
}

/** Subjects down, tricks across: the slowest run of each, and what was wrong. */
export function tableOf(verdicts: readonly Verdict[]): string {
  const rows = Object.keys(SUBJECTS).map((subject) => {
    const cells = TRICKS.map((trick) => {
      const runs = verdicts.filter((verdict) => verdict.subject === subject && verdict.trick === trick)
      if (runs.length === 0) return ''
      const seconds = Math.max(...runs.map((run) => run.seconds))
      const statuses = [...new Set(runs.map(({ status }) => status ?? '-'))].sort().join('')
      return `${runs.some(({ wrong }) => wrong.length > 0) ? 'WRONG ' : ''}${statuses} ${seconds.toFixed(1)} s`
    })
    return [subject, ...cells]
  })
  const header = ['exit statuses, slowest run', ...TRICKS.map((_, index) => `(${index + 1})`)]
  const widths = header.map((_, column) => Math.max(...[header, ...rows].map((row) => (row[column] ?? '').length)))
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  const peak = Math.max(0, ...verdicts.map(({ peakMiB }) => peakMiB))
  return [
    ...TRICKS.map((trick, index) => `(${index + 1}) ${trick}`),
    line(header),
    ...rows.map(line),
    `${verdicts.length} runs, at most ${peak} MiB`,
  ].join('\n')
}

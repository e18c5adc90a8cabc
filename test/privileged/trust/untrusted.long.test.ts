/**
 * S33, S34: each thing that volctl looks at, with each trick that somebody else could play on it, on whole runs of its
 * commands: nothing is run for him, nothing hangs, nothing is written for him, and nothing grows.
 *
 * A seeded choice of trials; VOLCTL_TRICKS=500 tries as many with another seed, VOLCTL_TRICKS=all every one, and
 * VOLCTL_TRICKS_TABLE=1 prints what came of each.
 */
import { afterAll, describe, expect, it, vi } from 'vitest'
import { inNamespace } from '../../helpers/in-namespace.ts'
import { noRoot } from '../../helpers/namespace.ts'
import { allTrials, chosenTrials, SUBJECTS, type Subject, TRICKS, type Trial, tableOf, type Verdict } from './tricks.ts'

const WORKER = new URL('./untrusted.worker.ts', import.meta.url)

const { VOLCTL_TRICKS: asked, VOLCTL_TRICKS_TABLE: table } = process.env
vi.setConfig({ testTimeout: 1_200_000 })

const SAMPLE = 100
const seed = asked === undefined ? 1207 : Math.floor(Math.random() * 2 ** 31)
const trials = asked === 'all' ? allTrials() : chosenTrials(Number(asked ?? SAMPLE), seed)

/** On one node: whatever hangs is ended with all of it. */
const AT_ONCE = 60

/** Each on nodes of its own. */
const GROUPS: Readonly<Record<string, readonly Subject[]>> = {
  credentials: [
    'admin.conf, found',
    "root's ~/.kube/config, found",
    'kubeconfig, given',
    'CA file of a kubeconfig',
    'token file of a kubeconfig',
  ],
  'configuration of the kubelet': ['kubelet --config', 'kubelet --config-dir', 'kubelet --config of one that runs'],
  'how the kubelet is started': ['unit file', 'unit drop-in', 'environment file of the unit', 'static pod manifest'],
  "volctl's own files": ['journal.jsonl', 'lazy.jsonl', 'lock file', 'plan file', 'snapshot file'],
  'drivers and sockets': ['flexVolume driver', 'CSI socket', 'CSI registration socket', 'runtime socket'],
}

const verdicts: Verdict[] = []
afterAll(() => {
  if (table !== undefined) process.stdout.write(`${tableOf(verdicts)}\n`)
})

it('has every subject in a group, and every trick and subject among the trials', () => {
  expect(Object.values(GROUPS).flat().sort()).toEqual(Object.keys(SUBJECTS).sort())
  expect(new Set(chosenTrials(SAMPLE, 1207).map(({ trick }) => trick))).toEqual(new Set(TRICKS))
  expect(new Set(chosenTrials(SAMPLE, 1207).map(({ subject }) => subject))).toEqual(new Set(Object.keys(SUBJECTS)))
})

describe.skipIf(noRoot !== undefined)(`what others had a hand in${noRoot === undefined ? '' : ` (${noRoot})`}`, () => {
  it('control: without, all of it is used', async () => {
    const { found, ...rest } = await inNamespace<{ found: object }>(WORKER, 'control')
    expect(found).toEqual(Object.fromEntries(Object.keys(SUBJECTS).map((subject) => [subject, 0])))
    expect(rest).toEqual({ apply: 0, ran: '', outside: true })
  })

  it('S34: does not hold up a Ctrl-C', async () => {
    const tricks = ['slow', 'endless', 'of 10 GB'] as const
    const looked = (Object.keys(SUBJECTS) as Subject[]).map((subject, index): Trial => {
      const trick = tricks[index % tricks.length] ?? 'slow'
      return { subject, trick, command: subject === 'snapshot file' ? 'plan' : 'apply' }
    })
    const found = await inNamespace<Verdict[]>(WORKER, 'interrupted', [JSON.stringify(looked)])
    const wrong = found.flatMap(({ subject, trick, wrong }) => wrong.map((what) => `${subject}, ${trick}: ${what}`))
    expect(wrong).toEqual([])
    expect(found).toHaveLength(looked.length)
  })

  it.each(Object.entries(GROUPS))('S33, S34: has no effect: %s', async (_, subjects) => {
    const chosen = trials.filter(({ subject }) => subjects.includes(subject))
    const found: Verdict[] = []
    for (let at = 0; at < chosen.length; at += AT_ONCE) {
      const some = JSON.stringify(chosen.slice(at, at + AT_ONCE))
      found.push(...(await inNamespace<Verdict[]>(WORKER, 'trials', [some])))
    }
    verdicts.push(...found)
    const wrong = found.flatMap(({ subject, trick, command, wrong }) =>
      wrong.map((what) => `${command}, ${subject}, ${trick}: ${what}`),
    )
    expect(wrong, `seed ${seed}`).toEqual([])
    expect(found).toHaveLength(chosen.length)
  })
})

/** Whole runs of volctl beside processes of another user that have too much of something. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import type { ApplyDocument } from '../../../src/core/plan/events.ts'
import { runScenario } from '../../helpers/scenario.ts'
import { podUid } from '../workers/real-node.ts'
import { besideHostile, type Hostile } from './hostile.ts'
import { age, makeVolume, type TrustNode, withNode } from './node.ts'
import { codeOf, type WatchedRun } from './watched-run.ts'

export interface Beside {
  readonly status: number | undefined
  readonly ended: WatchedRun['ended']
  readonly code: string | undefined
  readonly seconds: number
  readonly peakMiB: number
}

export interface HostileReport {
  readonly runs: Readonly<Record<string, Beside>>
  /** By command and when: how long it took until a Ctrl-C was answered, in milliseconds. */
  readonly interrupted: Readonly<Record<string, number | undefined>>
  /** Whether the apply has left the data of the pod that is gone. */
  readonly kept: boolean
  /** Does the apply say that it has deleted it? */
  readonly deleted: boolean
  /** Of what the apply did not do: code and message. */
  readonly left: readonly string[]
}

/** Data of a pod that is gone, and a volume in memory. @returns a file of it */
function makeOrphan(root: string): string {
  const data = `${root}/pods/${podUid(2)}/volumes/kubernetes.io~empty-dir/data`
  mkdirSync(data, { recursive: true })
  writeFileSync(`${data}/file`, 'x')
  makeVolume(root, 1)
  age(`${root}/pods`)
  return `${data}/file`
}

/** What was to come after these is left as well. */
const LEFT: ReadonlySet<string> = new Set(['blocked', 'refused', 'failed'])

/** While it reads, while it looks for users, and later. */
const MOMENTS_MS = [400, 1000, 2000]

/** status and check look as plan does. */
const INTERRUPTED: ReadonlySet<string> = new Set(['plan', 'apply'])

async function runsBeside(node: TrustNode): Promise<HostileReport> {
  const given = ['--kubeconfig', node.api.kubeconfig('admin')]
  const commands: Readonly<Record<string, readonly string[]>> = {
    plan: ['plan', '-o', 'json', '--orphans', ...given],
    status: ['status', '-o', 'json', ...given],
    check: ['check', '-o', 'json', '--confirm', '0', ...given],
    apply: ['apply', '--yes', '-o', 'json', '--orphans', ...given],
  }
  const runs: Record<string, Beside> = {}
  const interrupted: Record<string, number | undefined> = {}
  let file = ''
  let stdout = ''
  for (const [name, args] of Object.entries(commands)) {
    for (const interruptAtMs of INTERRUPTED.has(name) ? MOMENTS_MS : []) {
      file = makeOrphan(node.root)
      const run = await node.volctl(args, { interruptAtMs })
      interrupted[`${name}, ${interruptAtMs} ms`] = run.answeredMs
    }
    file = makeOrphan(node.root)
    const run = await node.volctl(args)
    const { status, ended, seconds, peakMiB } = run
    runs[name] = { status, ended, code: codeOf(run), seconds, peakMiB }
    stdout = run.stdout
  }
  const { outcomes } = JSON.parse(stdout) as ApplyDocument
  const left = outcomes.flatMap(({ state, code, message }) => (LEFT.has(state) ? [`${code}: ${message}`] : []))
  const deleted = outcomes.some((each) => (each.deleted?.files ?? 0) > 0)
  return { runs, interrupted, kept: existsSync(file), deleted, left }
}

await runScenario({
  /** @param args what there is too much of */
  beside: (directory, [hostile = 'nothing']) =>
    withNode(directory, {}, (node) => besideHostile(hostile as Hostile, () => runsBeside(node))),
})

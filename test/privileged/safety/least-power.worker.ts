/** volctl with some of root's capabilities, and with nothing that it could write to. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Explanation } from '../../../src/core/explain/explanation.ts'
import type { Plan } from '../../../src/core/plan/plan.ts'
import { NEEDED_CAPABILITIES } from '../../../src/core/processes/capabilities.ts'
import { fingerprint } from '../../e2e/scenarios/fingerprint.ts'
import { runScenario } from '../../helpers/scenario.ts'
import type { Scene } from '../../helpers/scene/scene.ts'
import type { Run } from '../../helpers/scene/volctl.ts'
import { VOLCTL } from '../../helpers/volctl-program.ts'
import { onBroken } from './broken-scene.ts'

const APPLY = ['apply', '--orphans', '--yes']
const names = NEEDED_CAPABILITIES.map(({ name }) => name)
/** As setpriv(1) has it. */
const short = (name: string): string => name.slice('CAP_'.length).toLowerCase()

/** Root's programs have what the bounding set lets through. */
function withCapabilities(set: string, args: readonly string[]): readonly string[] {
  return ['setpriv', '--inh-caps=-all', `--bounding-set=${set}`, VOLCTL, ...args]
}

const READ_ONLY = `
  cut -d ' ' -f 5 /proc/self/mountinfo | while read -r at; do mount -o remount,bind,ro "$(printf "$at")" 2>/dev/null || :; done
  touch "$1" 2>/dev/null && echo "the root file system can be written to" >&2 && exit 99
  shift; exec "$@"`

/** In a mount namespace of its own, in which everything is mounted read-only. */
function readOnly({ directory }: Scene, args: readonly string[]): readonly string[] {
  return ['unshare', '-m', '--propagation', 'private', 'sh', '-c', READ_ONLY, 'sh', `${directory}/x`, VOLCTL, ...args]
}

async function run(scene: Scene, [command = '', ...args]: readonly string[]): Promise<Run> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...scene.env } })
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text
    })
  }
  const [status] = (await once(child, 'close')) as [number | null]
  return { status: status ?? undefined, ...said }
}

function operationsOf({ stdout, stderr }: Run): readonly string[] {
  if (stdout === '') throw new Error(stderr)
  return (JSON.parse(stdout) as Plan).operations.map(({ id }) => id)
}

function verdictOf({ stdout, stderr }: Run): { readonly state: string; readonly notes: readonly string[] } {
  if (stdout === '') throw new Error(stderr)
  const { verdict, holders } = JSON.parse(stdout) as Explanation
  return { state: verdict.state, notes: holders.notes }
}

/** What it takes to see all, and to change nothing. */
const READING = '-all,+dac_read_search,+sys_ptrace'
const PLAN = ['plan', '--orphans', '-o', 'json']
const UNASKED = ['plan', '-o', 'json']

await runScenario({
  /** Each of what is needed taken away, then everything else. */
  capabilities: (directory) =>
    onBroken(directory, async (scene) => {
      const before = JSON.stringify(await fingerprint(scene))
      const refused: Record<string, unknown> = {}
      for (const name of names) {
        const { status, stderr } = await run(scene, withCapabilities(`-${short(name)}`, APPLY))
        refused[name] = { status, names: names.filter((each) => stderr.split('\n')[0]?.includes(each)) }
      }
      const none = await run(scene, withCapabilities('-all', APPLY))
      const unchanged = JSON.stringify(await fingerprint(scene)) === before
      const only = ['-all', ...names.map((name) => `+${short(name)}`)].join(',')
      const { status } = await run(scene, withCapabilities(only, APPLY))
      const left = operationsOf(await run(scene, [VOLCTL, ...PLAN])).length
      return { refused, none: none.stderr, unchanged, enough: { status, left } }
    }),

  /** Plans with all of root's power, with that of reading alone, and where nothing can be written. */
  reading: (directory) =>
    onBroken(directory, async (scene) => {
      const full = operationsOf(await run(scene, [VOLCTL, ...PLAN]))
      const reader = operationsOf(await run(scene, withCapabilities(READING, PLAN)))
      // There the mounts of the node's own namespace are another's, and hold the pods' directories.
      const planned = operationsOf(await run(scene, readOnly(scene, UNASKED)))
      const unasked = operationsOf(await run(scene, [VOLCTL, ...UNASKED]))
      const snapshot = await run(scene, readOnly(scene, ['snapshot', '-o', '-']))
      const explain = ['explain', scene.pods.db.uid, '-o', 'json']
      const answers = [[VOLCTL, ...explain], withCapabilities(READING, explain), readOnly(scene, explain)]
      const explained = []
      for (const command of answers) explained.push(verdictOf(await run(scene, command)))
      return {
        explained: {
          states: explained.map(({ state }) => state),
          alike: new Set(explained.map(({ notes }) => JSON.stringify(notes))).size,
        },
        operations: full.length,
        reader: JSON.stringify(reader) === JSON.stringify(full),
        readOnly: JSON.stringify(planned) === JSON.stringify(unasked),
        snapshot: { status: snapshot.status, stderr: snapshot.stderr, bytes: snapshot.stdout.length > 1000 },
      }
    }),
})

/** volctl with some of root's capabilities, and with nothing that it could write to. */
import { expect } from 'vitest'
import type { Explanation } from '../../../src/core/explain/explanation.ts'
import { NEEDED_CAPABILITIES } from '../../../src/core/linux/capabilities.ts'
import type { Plan } from '../../../src/core/plan/plan.ts'
import { fingerprint } from '../../e2e/scenarios/fingerprint.ts'
import { it } from '../../helpers/machine.ts'
import { noMounts, noProgram } from '../../helpers/namespace.ts'
import type { Scene } from '../../helpers/scene/scene.ts'
import { answerOf, type Run, runUnjudged } from '../../helpers/scene/volctl.ts'
import { VOLCTL } from '../../helpers/volctl-program.ts'
import { describeUnless } from '../describe-unless.ts'
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

const run = ({ env }: Scene, [program = '', ...args]: readonly string[]): Promise<Run> =>
  runUnjudged({ env, program }, args)

function operationsOf(run: Run): readonly string[] {
  return answerOf<Plan>(run).operations.map(({ id }) => id)
}

function verdictOf(run: Run): { readonly state: string; readonly notes: readonly string[] } {
  const { verdict, holders } = answerOf<Explanation>(run)
  return { state: verdict.state, notes: holders.notes }
}

/** What it takes to see all, and to change nothing. */
const READING = '-all,+dac_read_search,+sys_ptrace'
const PLAN = ['plan', '--orphans', '-o', 'json']
const UNASKED = ['plan', '-o', 'json']

describeUnless(noMounts ?? noProgram('setpriv'), 'least power', () => {
  it('apply refuses without any one of its capabilities, names it, changes nothing, and needs no other', ({
    directory,
  }) =>
    onBroken(directory, async (scene) => {
      const before = fingerprint(scene)
      for (const name of names) {
        const { status, stderr } = await run(scene, withCapabilities(`-${short(name)}`, APPLY))
        const named = names.filter((each) => stderr.split('\n')[0]?.includes(each))
        expect({ status, named }).toEqual({ status: 1, named: [name] })
      }
      const none = await run(scene, withCapabilities('-all', APPLY))
      expect(none.stderr).toMatch(
        /^volctl: apply runs as root but lacks CAP_CHOWN, .*CAP_SYS_ADMIN\n {8}Run it with sudo, or with the capabilities that the message names\.\n$/,
      )
      expect(fingerprint(scene)).toEqual(before)
      const only = ['-all', ...names.map((name) => `+${short(name)}`)].join(',')
      expect(await run(scene, withCapabilities(only, APPLY))).toMatchObject({ status: 0 })
      expect(operationsOf(await run(scene, [VOLCTL, ...PLAN]))).toEqual([])
    }))

  it('plan, explain and snapshot need nothing but the right to read, and nothing to write to', ({ directory }) =>
    onBroken(directory, async (scene) => {
      const full = operationsOf(await run(scene, [VOLCTL, ...PLAN]))
      expect(full).toHaveLength(14)
      expect(operationsOf(await run(scene, withCapabilities(READING, PLAN)))).toEqual(full)
      // There the mounts of the node's own namespace are another's, and hold the pods' directories.
      const unasked = operationsOf(await run(scene, [VOLCTL, ...UNASKED]))
      expect(operationsOf(await run(scene, readOnly(scene, UNASKED)))).toEqual(unasked)
      const snapshot = await run(scene, readOnly(scene, ['snapshot', '-o', '-']))
      expect(snapshot).toMatchObject({ status: 0, stderr: '' })
      expect(snapshot.stdout.length).toBeGreaterThan(1000)
      const explain = ['explain', scene.pods.db.uid, '-o', 'json']
      const [all, reading, nothing] = [
        verdictOf(await run(scene, [VOLCTL, ...explain])),
        verdictOf(await run(scene, withCapabilities(READING, explain))),
        verdictOf(await run(scene, readOnly(scene, explain))),
      ]
      expect([all.state, reading.state, nothing.state]).toEqual(['operation', 'operation', 'blocked'])
      // What cannot be seen then cannot be seen by root either: some machines guard their first process.
      expect([reading.notes, nothing.notes]).toEqual([all.notes, all.notes])
    }))
})

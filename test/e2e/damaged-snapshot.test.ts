/** What a snapshot holds is checked when it is read: a damaged one gives no plan, or one that is the more careful. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { NodeSnapshot } from '../../src/core/model/snapshot.ts'
import type { Plan } from '../../src/core/plan/plan.ts'
import { type Run, runVolctl } from '../helpers/scene/volctl.ts'

const CAPTURE = new URL('../fixtures/captures/forcedel-killed/before.json', import.meta.url)
const directory = mkdtempSync(join(tmpdir(), 'volctl-damaged-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

type Damage = (snapshot: NodeSnapshot) => object

async function plan(damage: Damage, ...flags: string[]): Promise<Run> {
  const file = join(directory, 'node.json')
  writeFileSync(file, JSON.stringify(damage(JSON.parse(readFileSync(CAPTURE, 'utf8')) as NodeSnapshot)))
  return await runVolctl({ env: {} }, ['plan', '--orphans', '--snapshot', file, ...flags])
}

describe('no plan, one clear line', () => {
  it.each<{ name: string; damage: Damage; says: string }>([
    {
      name: 'a line of mountinfo that is none',
      damage: (snapshot) => ({ ...snapshot, mountinfo: `${snapshot.mountinfo}foo bar\n` }),
      says: 'mount table, line 119: the line ends before its major:minor',
    },
    {
      name: 'mountinfo cut off',
      damage: (snapshot) => ({ ...snapshot, mountinfo: snapshot.mountinfo?.slice(0, -100) }),
      says: 'mount table, line 118: the line ends before its mount options',
    },
    { name: 'a tree that is none', damage: (snapshot) => ({ ...snapshot, tree: 'x' }), says: 'tree is not a list' },
    {
      name: 'no list of pods',
      damage: (snapshot) => ({ ...snapshot, api: { ...snapshot.api, pods: null } }),
      says: 'api.pods is not a list',
    },
    {
      name: 'a pod without a name',
      damage: (snapshot) => ({ ...snapshot, api: { ...snapshot.api, pods: [{ metadata: {} }] } }),
      says: 'api.pods[0].metadata.name is missing',
    },
  ])('$name', async ({ damage, says }) => {
    const run = await plan(damage)
    expect(run).toMatchObject({ status: 1, stdout: '' })
    expect(run.stderr).toContain(says)
    expect(run.stderr).toMatch(/^volctl: .+\n {8}.+\n$/)
  })
})

describe('a plan that is the more careful', () => {
  const operationsOf = (run: Run): Plan['operations'] => (JSON.parse(run.stdout) as Plan).operations
  const undoing = /^(Unm|Clean|Detach|Remove)/

  it.each(['mountinfo', 'tree', 'runtime', 'processes', 'api'])('without %s nothing is undone', async (section) => {
    const run = await plan(({ [section as keyof NodeSnapshot]: _, ...rest }) => rest, '-o', 'json')
    expect(run.status, run.stderr).toBe(0)
    const undone = operationsOf(run).filter(({ kind, blocked }) => undoing.test(kind) && blocked === undefined)
    expect(undone).toEqual([])
    expect((JSON.parse(run.stdout) as Plan).complete).toBe(false)
  })

  it('state files that are damaged: only what another source confirms is undone (S17)', async () => {
    const damaged = ({ tree, ...rest }: NodeSnapshot): object => ({
      ...rest,
      tree: tree?.map((entry) => (entry.path.endsWith('/vol_data.json') ? { ...entry, content: '{"driver' } : entry)),
    })
    const [whole, careful] = [await plan((snapshot) => snapshot, '-o', 'json'), await plan(damaged, '-o', 'json')]
    expect(operationsOf(whole).filter(({ blocked }) => blocked !== undefined)).toEqual([])
    const blocked = operationsOf(careful).filter((operation) => operation.blocked !== undefined)
    expect(blocked.map((operation) => [operation.kind, operation.blocked?.code])).toEqual([
      ['UnmapVolume', 'IdentityUnconfirmed'],
      // Of pods that live: written anew only where the device is shown to be the volume's, which nothing here does.
      ['MapVolume', 'IdentityUnconfirmed'],
      ['MapVolume', 'IdentityUnconfirmed'],
      ['MountVolume', 'IdentityUnconfirmed'],
      ['UnmapDevice', 'IdentityUnconfirmed'],
      // S21: it is still mapped.
      ['DetachVolume', 'Predecessor'],
    ])
    const handles = (run: Run): (string | undefined)[] =>
      operationsOf(run).flatMap(({ kind, volume }) => (kind === 'UnmountDevice' ? [volume?.handle] : []))
    expect(handles(careful)).toEqual(handles(whole))
  })
})

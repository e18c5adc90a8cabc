/** What real nodes hold, against what the API says they should: every file of every living pod, nothing more. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { ApiSnapshot, NodeSnapshot, TreeEntry } from '../../src/core/facts/actual/snapshot.ts'
import { escapeQualifiedName } from '../../src/core/facts/actual/volume-names.ts'
import { expectedContent } from '../../src/core/volumes/atomic-content.ts'
import type { VolumeToMount } from '../../src/core/volumes/desired-state.ts'
import { type ExpectedFile, isNoContent } from '../../src/core/volumes/payload-entries.ts'
import { isTerminalPhase, isTerminating } from '../../src/core/volumes/pods.ts'
import { desiredStateOfPods } from '../../src/core/volumes/populate.ts'

const CAPTURES = new URL('../fixtures/captures/', import.meta.url)
const ATOMIC = ['configmap', 'secret', 'projected', 'downward-api'].map((name) => `kubernetes.io/${name}`)

/** Snapshots of nodes at rest; the others were broken on purpose. */
const atRest = readdirSync(CAPTURES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .flatMap(({ name }) => [`${name}/node.json`, `${name}/after.json`])
  .filter((path) => existsSync(new URL(path, CAPTURES)))

it('there are captures to look at', () => {
  expect(atRest).toContain('healthy/node.json')
  expect(atRest.length).toBeGreaterThan(1)
})

describe.each(atRest)('%s', (path) => {
  const snapshot = JSON.parse(readFileSync(new URL(path, CAPTURES), 'utf8')) as NodeSnapshot & { api: ApiSnapshot }
  const living = snapshot.api.pods.filter((pod) => !isTerminalPhase(pod) && !isTerminating(pod))
  const { volumes, unresolved } = desiredStateOfPods(living, snapshot.api)
  const tree = new Map((snapshot.tree ?? []).map((entry) => [entry.path, entry]))

  it('S4: what cannot be resolved is a claim shown not to exist', () => {
    expect(unresolved.map((each) => each.cause)).toEqual(unresolved.map(() => 'Absent'))
  })

  it('R019, R330: every attachable volume that is desired is reported in use, by the same name', () => {
    const attachable = volumes.filter((volume) => volume.attachability === 'attachable')
    expect(attachable.length).toBeGreaterThan(0)
    const inUse = snapshot.api.node?.status?.volumesInUse ?? []
    for (const { uniqueName } of attachable) expect(inUse).toContain(uniqueName)
  })

  it('P27, P46-P53: atomic writers wrote exactly what is expected', () => {
    const filled = volumes.filter((volume) => ATOMIC.includes(volume.plugin))
    // A pod that waits for a claim that does not exist has its other volumes too.
    expect(filled.length).toBeGreaterThan(10)
    for (const volume of filled) {
      const found = filesOf(volume, tree)
      const expected = volume.source && expectedContent(volume.source, volume.pod, snapshot.api)
      if (expected === undefined || isNoContent(expected))
        throw new Error(`${volume.uniqueName}: ${JSON.stringify(expected)}`)
      const shown = [...expected].map(([name, want]) => [name, as(want, found.get(name))])
      expect(Object.fromEntries(shown), volume.uniqueName).toEqual(Object.fromEntries(expected))
      expect([...found.keys()].sort(), volume.uniqueName).toEqual([...expected.keys()].sort())
    }
  })
})

function filesOf({ podUid, plugin, specName }: VolumeToMount, tree: ReadonlyMap<string, TreeEntry>) {
  const dir = `pods/${podUid}/volumes/${escapeQualifiedName(plugin)}/${specName}`
  const generation = `${dir}/${tree.get(`${dir}/..data`)?.target ?? '(no ..data)'}`
  expect(tree.get(generation)?.type, generation).toBe('dir')
  const below = [...tree.values()].filter(({ path, type }) => type === 'file' && path.startsWith(`${generation}/`))
  return new Map(below.map((entry) => [entry.path.slice(generation.length + 1), entry]))
}

/** The file as found, told in the terms of what was expected of it. */
function as(want: ExpectedFile, found: TreeEntry | undefined): unknown {
  if (found === undefined) return 'missing'
  if ('digest' in want) return { digest: found.digest }
  return 'size' in want ? { size: found.size } : { any: true }
}

/** What is read for a plan decides the same as what is read for a snapshot (contract, "Plan"). */
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { PodVolumeSource } from '../../src/core/kube/api/objects.ts'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { livingVolumes } from '../../src/core/node/collect-node.ts'
import { scanTree } from '../../src/core/node/tree/read-tree.ts'
import { type NodeBuilder, node, ROOT, uid } from '../helpers/node-builder.ts'
import { plan } from '../reconcile/planned.ts'
import { fixture } from './helpers/fixture.ts'

const POD = uid(2)
const volumeDir = (plugin: string): string => `pods/${POD}/volumes/kubernetes.io~${plugin}/v`
const marker = (name: string): string => `pods/${POD}/plugins/kubernetes.io~empty-dir/${name}/ready`
const GENERATION = '..2026_11_21_02_04_30.1'

interface Case {
  readonly there: string
  readonly source: Omit<PodVolumeSource, 'name'>
  readonly files: readonly string[]
  readonly links?: Readonly<Record<string, string>>
  readonly mounted?: { readonly path: string; readonly fsType: string }
  readonly planned: readonly string[]
}

const SECRET = { secret: { secretName: 's' } }
const CASES: readonly Case[] = [
  {
    there: 'a link that a write left in a configMap',
    source: { configMap: { name: 'c' } },
    files: [`${volumeDir('configmap')}/${GENERATION}/key`, marker('wrapped_v')],
    links: {
      [`${volumeDir('configmap')}/..data`]: GENERATION,
      [`${volumeDir('configmap')}/key`]: '..data/key',
      [`${volumeDir('configmap')}/old`]: '..data/old',
    },
    planned: ['RemountVolume NotAsked writeContent'],
  },
  {
    there: 'a tmpfs that was never filled, and the marker of an earlier boot',
    source: SECRET,
    files: [`${volumeDir('secret')}/stray`, marker('wrapped_v')],
    mounted: { path: volumeDir('secret'), fsType: 'tmpfs' },
    planned: ['MountVolume - unlink writeContent writeMarker'],
  },
  {
    there: 'data where a tmpfs is to be mounted',
    source: { emptyDir: { medium: 'Memory' } },
    files: [`${volumeDir('empty-dir')}/data`, marker('v')],
    planned: ['MountVolume DataUnderMountPoint unlink mkdir mount writeMarker'],
  },
]

describe.each(['all', 'plan'] as const)('with the attributes of a living pod that "%s" reads', (attributes) => {
  it.each(CASES)('$there', async ({ source, files, links, mounted, planned }) => {
    using root = fixture(Object.fromEntries(files.map((file) => [file, ''])))
    for (const [path, target] of Object.entries(links ?? {})) symlinkSync(target, join(root.path, path))
    const built = node()
      .livingPod(POD, 'app', [{ name: 'v', ...source }])
      .withApi({
        configMaps: [{ metadata: { name: 'c', namespace: 'default', uid: 'c' }, data: { key: '' } }],
        secrets: [{ metadata: { name: 's', namespace: 'default', uid: 's' }, digests: {} }],
      })
    if (mounted !== undefined) built.mount(mounted.path, { fsType: mounted.fsType })
    built.with({ tree: await treeOf(built, root.path, attributes) })
    const { operations } = plan(built)
    expect(
      operations.map(
        ({ kind, blocked, steps }) => `${kind} ${blocked?.code ?? '-'} ${steps.map(({ op }) => op).join(' ')}`,
      ),
    ).toEqual(planned)
  })
})

async function treeOf(built: NodeBuilder, rootDir: string, attributes: 'all' | 'plan') {
  const { snapshot } = built.build()
  if (snapshot.api === undefined) throw new Error('a node without its API')
  const mounts = parseMountinfo((snapshot.mountinfo ?? '').replaceAll(ROOT, rootDir))
  const scan = await scanTree({ rootDir, mounts, attributes })
  return scan.complete(livingVolumes(snapshot.api))
}

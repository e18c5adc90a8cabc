/** Has the directory of a pod that is gone volumes that are mounted, and what becomes of it (R610-R613, T80; upstream's tables). */
import { describe, expect, it } from 'vitest'
import { type NodeBuilder, node, ROOT } from '../helpers/node-builder.ts'
import { blocked, codes, GONE, kinds, plan } from './planned.ts'

const POD = `pods/${GONE}`
const NFS = `${POD}/volumes/kubernetes.io~nfs/name`
const CSI = `${POD}/volumes/kubernetes.io~csi/name`
const nfs = { fsType: 'nfs4', source: 'server:/share' }

describe('with --orphans', () => {
  it.each<[string, (built: NodeBuilder) => NodeBuilder, string[]]>([
    ['a volume that is mounted', (built) => built.mount(NFS, nfs), ['UnmountVolume', 'RemoveOrphanPodDir']],
    ['a CSI volume without a target', (built) => built.dir(CSI), ['RemoveOrphanPodDir']],
    ['a CSI volume whose target is not mounted', (built) => built.dir(`${CSI}/mount`), ['RemoveOrphanPodDir']],
    [
      'a CSI volume that is mounted',
      (built) => built.published(GONE, 'name', '7:1').persistentVolume('name', { attached: false }),
      ['UnmountVolume', 'RemoveOrphanPodDir'],
    ],
  ])('%s', (_name, build, want) => {
    const made = plan(build(node()), { orphans: true })
    expect(kinds(made)).toEqual(want)
    expect(made.operations.at(-1)?.after ?? []).toHaveLength(Math.max(0, want.length - 1))
  })

  it('something mounted below a volume that is not: nothing is removed, and the mount is named (O14)', () => {
    const made = plan(node().dir(NFS).mount(`${NFS}/mount`), { orphans: true })
    expect(kinds(made)).toEqual([])
    expect(codes(made)).toContain('OrphanDirKept')
    expect(made.problems.map(({ message }) => message).join()).toContain(`${ROOT}/${NFS}/mount`)
  })

  it('a CSI volume that is mounted, of which nothing tells what it is: blocked, and the directory stays', () => {
    const made = plan(node().published(GONE, 'name', '7:1', { stateFile: false }), { orphans: true })
    expect(kinds(made)).toEqual([])
    expect(blocked(made)).toContain('CleanOrphanVolume IdentityUnconfirmed')
  })
})

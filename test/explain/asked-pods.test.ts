/** Of a question about pods, a look reads less than a snapshot does, and the answer is the same. */
import { describe, expect, it } from 'vitest'
import { podsAskedFor } from '../../src/core/explain/asked-pods.ts'
import type { NodeState } from '../../src/core/facts/actual/snapshot.ts'
import type { Pod, PodVolumeSource } from '../../src/core/kube/api/objects.ts'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { livingVolumes } from '../../src/core/node/collect-node.ts'
import { scanTree } from '../../src/core/node/tree/read-tree.ts'
import { onDiskUid } from '../../src/core/volumes/pods.ts'
import { captureFiles, recorded } from '../helpers/captures.ts'
import { explainer } from '../helpers/explaining.ts'
import { uid } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { OnDisk } from '../helpers/pod-files.ts'
import { fixture } from '../node/helpers/fixture.ts'

describe('the pods whose directories are read whole', () => {
  const pod = (number: number, name: string, ...volumes: Omit<PodVolumeSource, 'name'>[]): Pod => ({
    metadata: { name, namespace: 'shop', uid: uid(number) },
    spec: { volumes: volumes.map((volume, index) => ({ name: `v${index}`, ...volume })) },
  })
  const claim = (claimName: string) => ({ persistentVolumeClaim: { claimName } })
  const PODS = [
    pod(1, 'web', claim('data'), { emptyDir: {} }),
    pod(2, 'backup', claim('data')),
    pod(3, 'other', claim('logs'), { csi: { driver: 'inline.example.com' } }),
    pod(4, 'share', { nfs: { server: 'nas', path: '/' } }),
    pod(5, 'logs'),
  ]
  const table: readonly (readonly [asked: string, pods: readonly number[] | undefined])[] = [
    [uid(1), [1, 2, 4]],
    ['pod/web', [1, 2, 4]],
    ['pod/shop/web', [1, 2, 4]],
    ['shop/web', [1, 2, 4]],
    [`pod/${uid(3)}`, [3, 4]],
    ['shop/other', [3, 4]],
    // A claim has this name too.
    ['shop/logs', undefined],
    ['pod/logs', [5, 4]],
    // It may be a volume, or the beginning of a UID.
    ['web', undefined],
    [uid(9), undefined],
    [uid(1).slice(0, 8), undefined],
    ['pvc/data', undefined],
    ['/var/lib/kubelet/pods', undefined],
  ]
  it.each(table)('%s: %j', (asked, pods) => {
    const found = podsAskedFor(asked, PODS)
    expect(found && [...found].toSorted()).toEqual(pods?.map((number) => uid(number)).toSorted())
  })
})

describe.each(captureFiles(['node.json', 'before.json']))('%s', (file) => {
  it('every pod is explained as from a snapshot of everything', async () => {
    const { snapshot } = await recorded(file)
    using disk = fixture()
    const tree = new OnDisk(disk.path)
    for (const { mode: _, ...entry } of snapshot.tree ?? []) tree.entry(entry)
    const { api } = snapshot
    if (api === undefined) throw new Error(`${file} has no API`)
    const mounts = parseMountinfo((snapshot.mountinfo ?? '').replaceAll(snapshot.rootDir, disk.path))
    const look = async (asked?: string): Promise<NodeState> => {
      const scan = await scanTree({ rootDir: disk.path, mounts, attributes: 'all' })
      const whole = asked === undefined ? undefined : podsAskedFor(asked, api.pods)
      const tree = scan.complete(livingVolumes(api), whole)
      return { snapshot: { ...snapshot, rootDir: disk.path, tree }, mounts }
    }
    const all = await look()
    const known = explainer(all, planOptions())
    const entries = (state: NodeState): number => state.snapshot.tree?.length ?? 0
    let fewer = 0
    for (const pod of api.pods) {
      const name = onDiskUid(pod)
      const state = await look(name)
      if (entries(state) < entries(all)) fewer++
      expect(explainer(state, planOptions())(name), name).toEqual(known(name))
    }
    expect(fewer > 0 || api.pods.length < 2).toBe(true)
  })
})

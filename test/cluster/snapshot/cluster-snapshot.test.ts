import { describe, expect, it } from 'vitest'
import { type ClusterState, clusterObjects } from '../../../src/core/cluster/model/cluster-state.ts'
import {
  clusterSnapshotLines,
  parseClusterSnapshot,
  readClusterSnapshot,
  writeClusterSnapshot,
} from '../../../src/core/cluster/read/cluster-snapshot.ts'
import { VolctlError } from '../../../src/core/messages/findings.ts'
import { ago, attachment, bound, cluster, DEAD, node, pod, uniqueName } from '../../helpers/cluster-builder.ts'
import { temporaryDirectory } from '../../kube/connect.ts'

const state: ClusterState = cluster({
  ...bound('x'),
  errors: [{ resource: 'csidrivers', status: 403, reason: 'Forbidden', message: 'no' }],
  rights: { deleteAttachments: false },
  controller: {
    lease: { ...DEAD, writtenAt: ago(3) },
    otherLeases: [{ name: 'kube-system/hosted-kube-controller-manager' }],
    writes: [{ manager: 'kube-controller-manager', object: 'nodes/a', time: ago(5) }],
  },
  nodes: [node('a', { volumesInUse: [uniqueName('x')], csi: { state: 'known', drivers: [{ name: 'd', limit: 3 }] } })],
  pods: [
    pod('web-0', 'a', [], {
      volumes: [
        { name: 'data', claim: 'x' },
        { name: 'lun', source: { name: 'lun', fc: { lun: 1, targetWWNs: ['5'] } } },
      ],
    }),
  ],
  attachments: [attachment('x', 'a')],
  attachers: [{ name: 'storage/external-attacher-leader-d' }],
})

const text = [...clusterSnapshotLines(state)].join('')

describe('a cluster snapshot', () => {
  it.each(['cluster.json', 'cluster.json.gz'])('comes back from %s as it was written', async (file) => {
    const directory = temporaryDirectory()
    const path = `${directory.path}/${file}`
    writeClusterSnapshot(state, path)
    expect(await readClusterSnapshot(path)).toEqual(state)
  })

  const lines = text.trimEnd().split('\n')
  it.each([
    ['empty', '', 'the file is empty'],
    ['without its last line', lines.slice(0, -1).join('\n'), 'the file is cut off'],
    ['without one of its records', lines.toSpliced(2, 1).join('\n'), 'the file is cut off'],
    [
      'of a later version',
      text.replace('volctl.io/v1', 'volctl.io/v9'),
      'apiVersion is "volctl.io/v9", not volctl.io/v1',
    ],
    ['not JSON', 'kind: ClusterSnapshot\n', 'line 1 is not JSON: '],
    [
      'with a record of another type',
      text.replace('"managed":true', '"managed":"yes"'),
      'line 2: nodes.managed is not true or false',
    ],
  ])('that is %s is one clear line', (_, damagedText, says) => {
    const parse = (): unknown => parseClusterSnapshot(Buffer.from(damagedText), 'cluster.json')
    expect(parse).toThrow(VolctlError)
    expect(parse).toThrow(expect.objectContaining({ code: 'FileDamaged', message: expect.stringContaining(says) }))
    expect(parse).toThrow(/^cluster snapshot cluster\.json: [^\n]+$/)
  })

  it('with a name twice in one list has that list not whole (S3)', () => {
    const twice = { ...state, pods: [...state.pods, ...state.pods] }
    const read = parseClusterSnapshot(Buffer.from([...clusterSnapshotLines(twice)].join('')), 'x')
    expect(clusterObjects(read).isWhole('pods')).toBe(false)
    expect(read.errors).toMatchObject([
      { resource: 'csidrivers' },
      { resource: 'pods', message: 'the list has default/web-0 twice' },
    ])
  })

  it('leaves out lines that a later version has added', () => {
    const later = [...lines.slice(0, -1), '{"quotas":{"name":"x"}}', `{"end":${lines.length - 1}}`].join('\n')
    expect(parseClusterSnapshot(Buffer.from(later), 'x')).toEqual(state)
  })
})

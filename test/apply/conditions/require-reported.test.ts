/** S22 in the very second, of what is attached and is no CSI volume. */
import { expect, it } from 'vitest'
import type { Node } from '../../../src/core/model/objects.ts'
import { UNASKED_CLUSTER } from '../../helpers/unasked.ts'
import { Fixture, operation, POD, planOf, ROOT } from '../apply-fixture.ts'

const NAME = 'kubernetes.io/iscsi/portal:iqn:1'
const volume = { name: 'lun', plugin: 'kubernetes.io/iscsi', uniqueName: NAME, mode: 'Filesystem' as const }
const attached = { volumesAttached: [{ name: NAME, devicePath: '' }], volumesInUse: [NAME] }
const taints = [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }]

it.each<{ name: string; given: Pick<Node, 'spec' | 'status'> | undefined | Error; state: string }>([
  { name: 'all is well', given: { status: attached }, state: 'done' },
  { name: 'detached meanwhile', given: { status: { ...attached, volumesAttached: [] } }, state: 'refused NotAttached' },
  { name: 'no longer in use', given: { status: { ...attached, volumesInUse: [] } }, state: 'refused NotReportedInUse' },
  { name: 'out of service', given: { status: attached, spec: { taints } }, state: 'refused NodeNotReady' },
  { name: 'the Node is gone', given: undefined, state: 'refused NodeMissing' },
  { name: 'not to be read', given: new Error('403'), state: 'refused NotAttached' },
])('$name: $state', async ({ given, state }) => {
  const fixture = new Fixture()
  const metadata = { name: 'p', namespace: 'n', uid: POD }
  fixture.witness = { listed: new Set([POD]), alive: new Set(), apiPods: [{ metadata, spec: {} }] }
  fixture.volumes = [{ ...volume, podUid: POD, attachability: 'attachable' } as never]
  fixture.given = {
    cluster: {
      ...UNASKED_CLUSTER,
      getNode: async () => {
        if (given instanceof Error) throw given
        return given && { metadata: { name: 'node-1', uid: 'n' }, ...given }
      },
    },
  }
  fixture.host.dir(`${ROOT}/plugins`)
  const steps = [{ op: 'mkdir' as const, target: `${ROOT}/plugins/new` }]
  const { outcomes } = await fixture.apply(planOf([operation('a', { kind: 'MountVolume', volume, steps })]))
  expect(outcomes.map(({ state, code }) => (code === undefined ? state : `${state} ${code}`))).toEqual([state])
  expect(fixture.host.files.has(`${ROOT}/plugins/new`)).toBe(state === 'done')
})

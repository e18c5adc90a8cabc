/** A PersistentVolume that is to be a device, of each volume plugin (R010). */
import { describe, expect, it } from 'vitest'
import type { PersistentVolume } from '../../src/core/kube/api/objects.ts'
import { type NodeBuilder, node, uid } from '../helpers/node-builder.ts'
import { blocked, mappedBlock, plan, WANTS_PV_1 } from './planned.ts'

const wanting = (source: PersistentVolume['spec']): NodeBuilder =>
  node()
    .persistentVolume('pv-1', { mode: 'Block', source })
    .pod(uid(2), 'app', WANTS_PV_1, { devices: ['v'] })

describe('volumeMode Block', () => {
  it.each([
    { plugin: 'nfs', source: { nfs: { server: '10.0.0.9', path: '/export' } } },
    { plugin: 'host-path', source: { hostPath: { path: '/dev/sdb' } } },
    { plugin: 'flexVolume', source: { flexVolume: { driver: 'v/d' } } },
  ])('is blocked for $plugin, which has no devices', ({ source }) => {
    const made = plan(wanting(source))
    expect(blocked(made)).toEqual(['MapVolume PluginUnsupported'])
    expect(made.operations[0]?.steps).toEqual([])
  })

  it('a map without a record is kept by whoever still runs with one of its name (R815)', () =>
    expect(plan(mappedBlock(node(), uid(8)).running(uid(8))).operations).toEqual([]))
})

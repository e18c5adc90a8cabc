/** A PersistentVolume that is to be a device, of each volume plugin (R010). */
import { describe, expect, it } from 'vitest'
import type { PersistentVolume } from '../../src/core/model/objects.ts'
import { type NodeBuilder, node, uid } from '../helpers/node-builder.ts'
import { blocked, plan, withPod, withSource } from './planned.ts'

function wanting(source: Partial<PersistentVolume['spec']>): NodeBuilder {
  const built = withSource(node().persistentVolume('v', { mode: 'Block', attached: false }), source)
  built.pod(uid(2), 'app', [{ name: 'data', persistentVolumeClaim: { claimName: 'claim-v' } }])
  const containers = [{ name: 'c', volumeDevices: [{ name: 'data', devicePath: '/dev/data' }] }]
  return withPod(built, ({ spec }) => ({ spec: { ...spec, containers } }))
}

describe('volumeMode Block', () => {
  it.each([
    { plugin: 'nfs', source: { nfs: { server: '10.0.0.9', path: '/export' } } },
    { plugin: 'host-path', source: { hostPath: { path: '/dev/sdb' } } },
    { plugin: 'flexVolume', source: { flexVolume: { driver: 'v/d' } } },
  ])('is blocked for $plugin, which has no devices', ({ source }) => {
    const made = plan(wanting(source as never))
    expect(blocked(made)).toEqual(['MapVolume PluginUnsupported'])
    expect(made.operations[0]?.steps).toEqual([])
  })
})

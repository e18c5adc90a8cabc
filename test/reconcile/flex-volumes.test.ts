/** flexVolumes that a pod wants: the steps, and what blocks them (P14, P85-P88; S22). */
import { describe, expect, it } from 'vitest'
import type { PodVolumeSource } from '../../src/core/model/objects.ts'
import { type NodeBuilder, node, ROOT, uid } from '../helpers/node-builder.ts'
import { blocked, plan, waits } from './planned.ts'

const PROGRAM = '/exec/v~d/d'

const steps = (built: NodeBuilder) =>
  plan(built).operations.map(({ steps }) =>
    steps.map(({ op, target, source, fsType, options, detail }) =>
      [op, target.replace(`${ROOT}/`, ''), source?.replace(`${ROOT}/`, ''), fsType, options?.join(','), detail]
        .filter((each) => each !== undefined)
        .join(' '),
    ),
  )

describe('flexVolume', () => {
  const driver = { driver: 'v/d', fsType: 'xfs' }
  const dir = `pods/${uid(2)}/volumes/v~d/v`
  const global = 'plugins/kubernetes.io/flexvolume/v/d/mounts/v'
  const mount = [`mkdir ${dir}`, `flexMount ${dir} ${global} ${PROGRAM}`]
  const withDriver = (built = node()): NodeBuilder => {
    built.flexDrivers = [{ name: 'v/d', executable: PROGRAM }]
    return built
  }
  const listed = (built: NodeBuilder): NodeBuilder => {
    built.inUse.push('v/d/v')
    built.attached.push('v/d/v')
    return built
  }
  const wants = (built: NodeBuilder, flexVolume: PodVolumeSource['flexVolume'] = driver): NodeBuilder =>
    built.pod(uid(2), 'app', [{ name: 'v', ...(flexVolume && { flexVolume }) }])

  it('whether the driver attaches is asked at apply: a plan runs no programs', () => {
    expect(steps(wants(withDriver()))).toEqual([mount])
    expect(waits(plan(wants(withDriver())))).toEqual([])
  })

  it('a volume that the Node lists has a device first, where it is not mounted', () => {
    const device = [`mkdir ${global}`, `flexMountDevice ${global} xfs rw ${PROGRAM}`]
    expect(steps(listed(wants(withDriver())))).toEqual([[...device, ...mount]])
    expect(steps(listed(wants(withDriver().mount(global, { dev: '8:16' }))))).toEqual([mount])
  })

  it('a volume that is attached and not reported in use waits (S22)', () => {
    const built = wants(withDriver())
    built.attached.push('v/d/v')
    expect(waits(plan(built))).toEqual(['MountVolume NotReportedInUse'])
  })

  it.each([
    { name: 'not installed', drivers: [], says: 'is not installed on this node' },
    { name: 'not looked for', drivers: undefined, says: 'was not searched for' },
    {
      name: 'not executable',
      drivers: [{ name: 'v/d', executable: PROGRAM, error: 'EACCES' }],
      says: `cannot be run: ${PROGRAM}: EACCES`,
    },
  ])('a driver that is $name blocks it', ({ drivers, says }) => {
    const built = wants(node())
    built.override = { flexDrivers: drivers as never }
    const made = plan(built)
    expect(blocked(made)).toEqual(['MountVolume DriverUnavailable'])
    expect(made.operations[0]?.blocked?.message).toContain(says)
  })

  it('a secret blocks it: it would stand on a command line', () => {
    const made = plan(wants(withDriver(), { driver: 'v/d', secretRef: { name: 's' } }))
    expect(blocked(made)).toEqual(['MountVolume LeftToKubelet'])
  })

  it('mount options are refused (P14)', () => {
    const built = withDriver(node().persistentVolume('v', { attached: false }))
    const { csi: _, ...spec } = built.volumes[0]?.spec ?? {}
    const metadata = { name: 'v', uid: 'pv-uid-v' }
    built.volumes.splice(0, 1, { metadata, spec: { ...spec, flexVolume: driver, mountOptions: ['noatime'] } })
    built.pod(uid(2), 'app', [{ name: 'data', persistentVolumeClaim: { claimName: 'claim-v' } }])
    expect(blocked(plan(built))).toEqual(['MountVolume PluginUnsupported'])
  })
})

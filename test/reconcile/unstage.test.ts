/** Undoing what is staged: whose call it is, and who else shows it (S16, S24). */
import { describe, expect, it } from 'vitest'
import type { CsiSocket } from '../../src/core/model/snapshot.ts'
import { csiGlobalDir } from '../../src/core/names.ts'
import { DRIVER, type NodeBuilder, node } from '../helpers/node-builder.ts'
import { blocked, free, planned } from '../helpers/planned.ts'

const withSocket = (built: NodeBuilder, socket: Partial<CsiSocket>): NodeBuilder => {
  built.override = { csiSockets: [{ path: 'x', driver: DRIVER, registered: true, ...socket }] }
  return built
}
const unmounted = (): NodeBuilder =>
  node()
    .dir(`${csiGlobalDir(DRIVER, 'vol-1')}/globalmount`)
    .file(
      `${csiGlobalDir(DRIVER, 'vol-1')}/vol_data.json`,
      JSON.stringify({ driverName: DRIVER, volumeHandle: 'vol-1' }),
    )

describe('S16 a driver that does not stage', () => {
  it.each([
    { name: 'unmounts nothing that is staged', built: node().staged('vol-1', '7:1') },
    { name: 'nor where its handle is known by the hash alone', built: unknown() },
  ])('$name (R444)', ({ built }) => {
    const made = planned(withSocket(built, { capabilities: [] }))
    expect(blocked(made)).toEqual(['UnmountDevice ForeignMount'])
    expect(made.operations[0]?.blocked?.message).toContain('does not stage')
  })
  it('loses the directory and state file that an older one left', () => {
    const made = planned(withSocket(unmounted(), { capabilities: [] }))
    expect(free(made)).toEqual(['UnmountDevice'])
    expect(made.operations[0]?.steps.map((step) => step.op)).toEqual(['rmdir', 'unlink', 'rmdir'])
  })
  it('is not one whose capabilities are not known', () => {
    const made = planned(withSocket(node().staged('vol-1', '7:1'), {}))
    expect(made.operations[0]?.steps[0]?.op).toBe('NodeUnstageVolume')
    expect(blocked(made)).toEqual([])
  })
  it('does not hold the kernel back once it is gone for good', () => {
    const built = withSocket(node().staged('vol-1', '7:1'), { registered: false, capabilities: [] })
    expect(free(planned(built, { driverGone: [DRIVER] }))).toEqual(['UnmountDevice'])
  })
})

function unknown(): NodeBuilder {
  return node()
    .staged('vol-1', '7:1', { stateFile: false })
    .persistentVolume('pv-1', { handle: 'vol-1', attached: false })
}

/** Which driver and handle a volume is undone with, and when nobody can tell (S16, S17; O5, O6, O9, O22). */
import { describe, expect, it } from 'vitest'
import { node, ROOT, uid } from '../helpers/node-builder.ts'
import { blocked, planned, unblocked } from '../helpers/planned.ts'

const GONE = uid(9)

describe('names that every JavaScript object has', () => {
  const NAMES = ['constructor', 'toString', '__proto__', 'hasOwnProperty']
  it.each(NAMES)('nobody gave a handle for a file system volume called %s', (name) => {
    const built = node().published(GONE, name, '7:2', { stateFile: false }).staged('other', '7:1')
    expect(planned(built).operations.find((each) => each.pod?.uid === GONE)?.blocked).toMatchObject({
      code: 'IdentityUnconfirmed',
      message: expect.stringContaining('vol_data.json is lost'),
    })
  })
  it.each(NAMES)('nor for a block volume called %s', (name) => {
    const built = node()
      .persistentVolume(name, { mode: 'Block', attached: false })
      .link(`pods/${GONE}/volumeDevices/kubernetes.io~csi/${name}`, `${ROOT}/elsewhere`)
    expect(blocked(planned(built))).toEqual([['UnmapVolume', 'IdentityUnconfirmed']])
  })
  it('a handle that was given for such a name counts', () => {
    const built = node()
      .persistentVolume('constructor', { handle: 'vol-1', attached: false })
      .published(GONE, 'constructor', '7:2', { stateFile: false })
    expect(unblocked(planned(built, { handles: { constructor: 'vol-1' } }))).toEqual(['CleanOrphanVolume'])
  })
})

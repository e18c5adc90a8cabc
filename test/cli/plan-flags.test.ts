import { describe, expect, it } from 'vitest'
import { VolctlError } from '../../src/core/base/errors.ts'
import { parseOperationKinds, planOptions } from '../../src/core/cli/options.ts'

const none = { orphans: false, remount: false, expand: false }

describe('--only and --skip', () => {
  it.each([
    ['unmount', ['UnmountVolume', 'UnmapVolume', 'CleanOrphanVolume']],
    ['detach,device', ['UnmountDevice', 'UnmapDevice', 'DetachVolume']],
    ['DetachVolume', ['DetachVolume']],
    ['unmountvolume, unmount', ['UnmountVolume', 'UnmapVolume', 'CleanOrphanVolume']],
  ])('%s', (text, kinds) => expect(parseOperationKinds(text, '--only')).toEqual(kinds))

  it.each(['', ',', 'foo', 'unmount,foo', 'toString'])('"%s" is refused', (text) =>
    expect(() => parseOperationKinds(text, '--only')).toThrow(VolctlError),
  )
})

it('without flags: nothing extra, two minutes to settle', () =>
  expect(planOptions(none, '1.2.3')).toEqual({
    ...none,
    settleMs: 120_000,
    driverGone: [],
    handles: {},
    forceUnmount: [],
    lazy: [],
    volctlVersion: '1.2.3',
  }))

it('a handle may contain "="', () =>
  expect(planOptions({ ...none, handle: ['pv-a=vol=1', 'pv-b=x'] }, '1').handles).toEqual({
    'pv-a': 'vol=1',
    'pv-b': 'x',
  }))

it.each([
  ['device', { device: ['pv-a=sdb'] }, '--device: "pv-a=sdb" is neither VOLUME=/dev/NAME nor VOLUME=none.'],
  ['handle', { handle: ['pv-a'] }, '--handle: "pv-a" is not VOLUME=HANDLE.'],
  ['handle without volume', { handle: ['=x'] }, '--handle: "=x" is not VOLUME=HANDLE.'],
  ['accept-outage', { 'accept-outage': '1e3' }, '--accept-outage: "1e3" is not a whole number of 0 or more.'],
  ['accept-outage', { 'accept-outage': 'yes' }, '--accept-outage: "yes" is not a whole number of 0 or more.'],
  ['lazy', { lazy: ['pods/x'] }, '--lazy: "pods/x" is not an absolute path.'],
  ['pod', { pod: ['a/b/c'] }, '--pod: "a/b/c" is neither [NAMESPACE/]NAME nor a UID.'],
  ['pod', { pod: [''] }, '--pod: "" is neither [NAMESPACE/]NAME nor a UID.'],
])('a bad value of --%s is one clear line', (_, flags, message) =>
  expect(() => planOptions({ ...none, ...flags }, '1')).toThrow(message),
)

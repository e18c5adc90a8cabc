/** The names of an iSCSI volume that is to be logged in to (P72-P74). */
import { describe, expect, it } from 'vitest'
import { isDirectoryOf, parseIscsiDirectory, parseIscsiJson } from '../../src/core/names/iscsi-disk.ts'
import { iscsiDirectory, iscsiRecordOf, iscsiTargetOf, isIscsiLink } from '../../src/core/names/iscsi-target.ts'

const IQN = 'iqn.2003-01.test:disk'

describe('what is written is what a tear-down reads', () => {
  it.each([
    { name: 'a portal without a port', source: { targetPortal: '10.0.0.1', iqn: IQN, lun: 1 } },
    { name: 'a host name with hyphens', source: { targetPortal: 'san-1:3261', iqn: IQN, lun: 12 } },
    { name: 'IPv6', source: { targetPortal: '[fd00::1]:3260', iqn: IQN, lun: 0 } },
    { name: 'several portals', source: { targetPortal: '10.0.0.1', portals: ['10.0.0.2'], iqn: IQN, lun: 1 } },
    { name: 'an eui', source: { targetPortal: '10.0.0.1', iqn: 'eui.02004567a425678d', lun: 1 } },
    {
      name: 'an initiator of its own',
      source: { targetPortal: '10.0.0.1', iqn: IQN, lun: 1, initiatorName: 'iqn.2003-01.test:me' },
    },
  ])('$name', ({ source }) => {
    const target = iscsiTargetOf('pv-1', source)
    if ('error' in target) throw new Error(target.error)
    const path = iscsiDirectory(target, 'Filesystem')
    const record = parseIscsiJson(iscsiRecordOf(target))
    if ('corrupt' in record) throw new Error(record.corrupt)
    expect(isDirectoryOf(record.disk, path.split('/').at(-1) ?? '')).toBe(true)
    expect(parseIscsiDirectory(path)).toMatchObject({ iqn: target.iqn, lun: target.lun, iface: target.iface })
    expect(record.disk.ownIface).toBe('initiatorName' in source)
  })
})

it.each([
  { link: `ip-10.0.0.1:3260-iscsi-${IQN}-lun-1`, want: true },
  { link: `pci-0000:05:00.0-ip-10.0.0.1:3260-iscsi-${IQN}-lun-1`, want: true },
  { link: `ip-fd00::1:3260-iscsi-${IQN}-lun-1`, want: true },
  { link: `ip-10.0.0.1:3260-iscsi-${IQN}-lun-10`, want: false },
  { link: `ip-10.0.0.1:3260-iscsi-${IQN}-lun-1-part1`, want: false },
  { link: `ip-110.0.0.1:3260-iscsi-${IQN}-lun-1`, want: false },
  { link: `ip-10.0.0.1:3260-iscsi-${IQN}0-lun-1`, want: false },
  { link: `xip-10.0.0.1:3260-iscsi-${IQN}-lun-1`, want: false },
])('$link: $want', ({ link, want }) => {
  expect(isIscsiLink(link, ['10.0.0.1:3260', '[fd00::1]:3260'], { iqn: IQN, lun: '1' })).toBe(want)
})

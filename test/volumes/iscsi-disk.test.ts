import { describe, expect, it } from 'vitest'
import { isFcLink, parseFcDirectory } from '../../src/core/volumes/fc.ts'
import { isDirectoryOf, parseIscsiDirectory, parseIscsiJson } from '../../src/core/volumes/iscsi.ts'

describe('the name of an iSCSI directory (P72, P77)', () => {
  it.each([
    ['10.0.0.1:3260-iqn.2003-01.test:a-lun-0', '10.0.0.1:3260', 'iqn.2003-01.test:a', '0'],
    ['san-1.rack:3260-iqn.2003-01.test:a-lun-10', 'san-1.rack:3260', 'iqn.2003-01.test:a', '10'],
    ['[fd00::1]:3260-eui.02004567A425678D-lun-1', '[fd00::1]:3260', 'eui.02004567A425678D', '1'],
    ['10.0.0.1:3260-iqn.2003-01.test:a-lun-7-lun-2', '10.0.0.1:3260', 'iqn.2003-01.test:a-lun-7', '2'],
  ])('%s', (name, portal, iqn, lun) => {
    const disk = parseIscsiDirectory(`/x/iface-eth0/${name}`)
    expect(disk).toEqual({ portals: [portal], iqn, lun, iface: 'eth0', ownIface: false })
    expect(disk && isDirectoryOf(disk, name)).toBe(true)
  })
  it('the interface is what the directory above says, and else unknown', () => {
    const name = '10.0.0.1:3260-iqn.2003-01.test:a-lun-0'
    for (const path of [`/x/${name}`, `/x/iface-/${name}`])
      expect(parseIscsiDirectory(path)).toMatchObject({ lun: '0', iface: undefined })
  })
  it.each([
    '',
    'x',
    '10.0.0.1-iqn.a-lun-0',
    '10.0.0.1:3260-disk-lun-0',
    '10.0.0.1:3260-iqn.a-lun-x',
    '-p:1-iqn.a-lun-0',
  ])('tells nothing: %s', (name) => expect(parseIscsiDirectory(`/x/iface-default/${name}`)).toBeUndefined())
})

describe('iscsi.json (P73)', () => {
  const good = { VolName: 'v', Portals: ['h:3260'], Iqn: 'iqn.a', Lun: '0', Iface: 'default', InitiatorName: '' }
  it.each([
    ['the default iface', {}, { iface: 'default', ownIface: false }],
    ['a cloned iface', { Iface: 'h:3260:v', InitiatorName: 'iqn.me' }, { iface: 'h:3260:v', ownIface: true }],
    ['the iface of another volume', { Iface: 'h:3260:w', InitiatorName: 'iqn.me' }, { ownIface: false }],
    ['a portal that is named twice', { Portals: ['h:3260', 'i:3260', 'h:3260'] }, { portals: ['h:3260', 'i:3260'] }],
  ])('%s', (_, more, want) => {
    expect(parseIscsiJson(JSON.stringify({ ...good, ...more }))).toMatchObject(want)
  })
  it.each([
    ['nothing', ''],
    ['a part', JSON.stringify(good).slice(0, 30)],
    ['no portal', JSON.stringify({ ...good, Portals: [] })],

    ['a target with a blank', JSON.stringify({ ...good, Iqn: 'iqn.a b' })],
    ['a LUN that is no number', JSON.stringify({ ...good, Lun: '../1' })],
    ['an interface with a slash', JSON.stringify({ ...good, Iface: 'a/b' })],
  ])('%s', (_, text) => expect(parseIscsiJson(text)).toBeUndefined())
})

describe('the name of an FC directory, and udev’s links (P79, P80, P82)', () => {
  it.each([
    ['a1-lun-0', { wwns: ['a1'], lun: '0' }],
    ['a1-a2-lun-12', { wwns: ['a1', 'a2'], lun: '12' }],
    ['3600', { wwids: ['3600'] }],
    ['lun-0', undefined],
    ['a1-lun-x', undefined],
  ])('%s', (name, want) => expect(parseFcDirectory(name)).toEqual(want))
  it.each([
    ['a1-lun-1', 'by-path', 'fc-0xa1-lun-1', true],
    ['a1-lun-1', 'by-path', 'pci-0000:05:00.0-fc-0xa1-lun-1', true],
    ['a1-lun-1', 'by-path', 'fc-0xa1-lun-10', false],
    ['a1-lun-1', 'by-path', 'fc-0xa1-lun-1-part1', false],
    ['a1-lun-1', 'by-path', 'fc-0xa11-lun-1', false],
    ['3600', 'by-id', 'scsi-3600', true],
    ['3600', 'by-id', 'scsi-36001', false],
    ['3600-1', 'by-id', 'scsi-3600-1', true],
  ] as const)('%s, %s/%s: %s', (name, directory, link, want) => {
    const disk = parseFcDirectory(name)
    expect(disk && isFcLink(disk, directory, link)).toBe(want)
  })
})

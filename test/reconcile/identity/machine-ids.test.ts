import { describe, expect, it } from 'vitest'
import { compareIds } from '../../../src/core/rules/machine.ts'

const UUID = '4c4c4544-0051-3410-8051-b5c04f375931'
const ID = '5a3f1c0e9b7d4c6e8f2a1b3c4d5e6f70'

describe('S1: compareIds', () => {
  it.each([
    ['the same', UUID, 'agrees'],
    ['in capitals', UUID.toUpperCase(), 'agrees'],
    ['without dashes', UUID.replaceAll('-', ''), 'agrees'],
    ['in braces', `{${UUID}}`, 'agrees'],
    ['in the other byte order', '44454C4C-5100-1034-8051-B5C04F375931', 'agrees'],
    ['all bytes turned, as nobody does', '3159374f-c0b5-5180-1034-510044454c4c', 'contradicts'],
    ['another', '4c4c4544-0051-3410-8051-b5c04f375932', 'contradicts'],
    ['not known', undefined, 'nothing'],
    ['empty', '', 'nothing'],
  ])('system UUID: %s: %3$s', (_, other, says) => {
    expect(compareIds('systemUUID', UUID, other)).toBe(says)
    expect(compareIds('systemUUID', other, UUID)).toBe(says)
  })

  it.each([
    '00000000-0000-0000-0000-000000000000',
    'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
    '11111111-1111-1111-1111-111111111111',
    'fefefefe-fefe-fefe-fefe-fefefefefefe',
    '03000200-0400-0500-0006-000700080009',
    '00020003-0004-0005-0006-000700080009',
    '12345678-1234-5678-90AB-CDDEEFAABBCC',
    '78563412-3412-7856-90AB-CDDEEFAABBCC',
    '4C4C4544-0000-2010-8020-80C04F202020',
    'deadbeef-dead-beef-dead-beefdeadbeef',
    'Not Settable',
    'Not Present',
    'To be filled by O.E.M.',
    'Default string',
  ])('a placeholder proves nothing, the same or another: %s', (placeholder) => {
    for (const other of [placeholder, UUID, 'Not Specified']) {
      expect(compareIds('systemUUID', placeholder, other)).toBe('nothing')
      expect(compareIds('systemUUID', other, placeholder)).toBe('nothing')
    }
  })

  it.each(['', 'uninitialized', '0'.repeat(32), 'f32e0af35637b5dfcbedcb0a1de8dca1'])(
    'a machine ID that an image brings proves nothing: "%s"',
    (machineID) => {
      expect(compareIds('machineID', machineID, machineID)).toBe('nothing')
      expect(compareIds('machineID', machineID, ID)).toBe('nothing')
    },
  )

  it.each([
    [ID, ID, 'agrees'],
    [ID, ID.toUpperCase(), 'agrees'],
    [ID, ID.replace('5', '6'), 'contradicts'],
    // No firmware's: nobody turns its bytes.
    [UUID, '44454c4c-5100-1034-8051-b5c04f375931', 'contradicts'],
    [ID, undefined, 'nothing'],
  ])('machine and boot IDs %s and %s: %s', (one, other, says) => {
    expect(compareIds('machineID', one, other)).toBe(says)
    expect(compareIds('bootID', one, other)).toBe(says)
  })
})

import { describe, expect, it } from 'vitest'
import { compareIds, type IdComparison, type MachineIds } from '../../../src/core/reconcile/identity/machine.ts'

const UUID = '4c4c4544-0051-3410-8051-b5c04f375931'
const ID = '5a3f1c0e9b7d4c6e8f2a1b3c4d5e6f70'
const uuid = (systemUUID: string | undefined): MachineIds => ({ systemUUID })

describe('S1: compareIds', () => {
  it.each<{ name: string; one: MachineIds; other: MachineIds; says: IdComparison }>([
    { name: 'the same', one: uuid(UUID), other: uuid(UUID), says: 'agrees' },
    { name: 'in capitals', one: uuid(UUID), other: uuid(UUID.toUpperCase()), says: 'agrees' },
    { name: 'without dashes', one: uuid(UUID), other: uuid(UUID.replaceAll('-', '')), says: 'agrees' },
    { name: 'in braces', one: uuid(UUID), other: uuid(`{${UUID}}`), says: 'agrees' },
    {
      name: 'in the other byte order',
      one: uuid(UUID),
      other: uuid('44454C4C-5100-1034-8051-B5C04F375931'),
      says: 'agrees',
    },
    {
      name: 'all bytes turned, as nobody does',
      one: uuid(UUID),
      other: uuid('3159374f-c0b5-5180-1034-510044454c4c'),
      says: 'contradicts',
    },
    { name: 'another', one: uuid(UUID), other: uuid('4c4c4544-0051-3410-8051-b5c04f375932'), says: 'contradicts' },
    { name: 'not known', one: uuid(UUID), other: uuid(undefined), says: 'nothing' },
    { name: 'empty', one: uuid(''), other: uuid(UUID), says: 'nothing' },
  ])('system UUID: $name $says', ({ one, other, says }) => {
    expect(compareIds('systemUUID', one, other)).toBe(says)
    expect(compareIds('systemUUID', other, one)).toBe(says)
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
      expect(compareIds('systemUUID', uuid(placeholder), uuid(other))).toBe('nothing')
      expect(compareIds('systemUUID', uuid(other), uuid(placeholder))).toBe('nothing')
    }
  })

  it.each(['', 'uninitialized', '0'.repeat(32), 'f32e0af35637b5dfcbedcb0a1de8dca1'])(
    'a machine ID that an image brings proves nothing: "%s"',
    (machineID) => {
      expect(compareIds('machineID', { machineID }, { machineID })).toBe('nothing')
      expect(compareIds('machineID', { machineID }, { machineID: ID })).toBe('nothing')
    },
  )

  it.each<{ one?: string; other?: string; says: IdComparison }>([
    { one: ID, other: ID, says: 'agrees' },
    { one: ID, other: ID.toUpperCase(), says: 'agrees' },
    { one: ID, other: ID.replace('5', '6'), says: 'contradicts' },
    // No firmware's: nobody turns its bytes.
    { one: UUID, other: '44454c4c-5100-1034-8051-b5c04f375931', says: 'contradicts' },
    { one: ID, says: 'nothing' },
  ])('machine ID: $says', ({ one, other, says }) => {
    expect(compareIds('machineID', { machineID: one }, { machineID: other })).toBe(says)
    expect(compareIds('bootID', { bootID: one }, { bootID: other })).toBe(says)
  })
})

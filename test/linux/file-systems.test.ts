import { expect, it } from 'vitest'
import { fileSystemText } from '../../src/core/linux/location.ts'

it.each([
  { fsType: 'ext4', source: '/dev/sdb', is: 'ext4 of /dev/sdb' },
  { fsType: 'nfs4', source: 'server:/export', is: 'nfs4 of server:/export' },
  { fsType: 'tmpfs', source: 'tmpfs', is: 'tmpfs' },
  { fsType: 'tmpfs', source: '', is: 'tmpfs' },
  { fsType: 'overlay', source: 'none', is: 'overlay' },
])('$fsType from "$source" is: $is', ({ fsType, source, is }) => expect(fileSystemText({ fsType, source })).toBe(is))

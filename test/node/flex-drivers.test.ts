import { chmodSync, symlinkSync } from 'node:fs'
import { expect, it } from 'vitest'
import { driversIn } from '../../src/core/node/collect-node.ts'
import { fixture } from './helpers/fixture.ts'

it('finds the drivers where the kubelet does, and says which cannot be run (P85)', () => {
  using made = fixture({
    'v~d/d': '#!/bin/sh\n',
    'alone/alone': '#!/bin/sh\n',
    'v~locked/locked': '',
    'v~empty/other': '',
    '.v~hidden/hidden': '',
    file: '',
  })
  for (const program of ['v~d/d', 'alone/alone']) chmodSync(`${made.path}/${program}`, 0o755)
  symlinkSync('v~d', `${made.path}/v~link`)
  expect(driversIn(made.path)).toEqual([
    { name: 'alone', executable: `${made.path}/alone/alone` },
    { name: 'v/d', executable: `${made.path}/v~d/d` },
    { name: 'v/empty', executable: `${made.path}/v~empty/empty`, error: 'ENOENT' },
    { name: 'v/locked', executable: `${made.path}/v~locked/locked`, error: 'EACCES' },
  ])
})

it('a directory that is not there holds none; one that cannot be read may hold any', () => {
  using made = fixture({ file: '' })
  expect(driversIn(`${made.path}/none`)).toEqual([])
  expect(driversIn(`${made.path}/file`)).toBeUndefined()
})

import { expect, it } from 'vitest'
import { missingCapabilities, NEEDED_CAPABILITIES } from '../../src/core/linux/capabilities.ts'

it.each([
  { name: 'all are there', status: 'Name:\tnode\nCapPrm:\t0\nCapEff:\t000001ffffffffff\nCapBnd:\t0\n', missing: [] },
  { name: 'one is not', status: 'CapEff:\t000001fffff7ffff\n', missing: ['CAP_SYS_PTRACE'] },
  { name: 'the line is not there', status: 'Name:\tnode\n', missing: NEEDED_CAPABILITIES.map(({ name }) => name) },
])('missingCapabilities: $name', ({ status, missing }) => {
  expect(missingCapabilities(status).map(({ name }) => name)).toEqual(missing)
})

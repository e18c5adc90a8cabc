import { describe, expect, it } from 'vitest'
import { apiLookup } from '../../src/core/volumes/api-lookup.ts'
import { api, claim } from './builders.ts'

const FORBIDDEN = { status: 403, reason: 'Forbidden', message: 'no relationship found' }
const NOT_FOUND = { status: 404, reason: 'NotFound', message: 'not found' }
const claims = { resource: 'persistentvolumeclaims' }
const listRefused = { ...claims, ...FORBIDDEN }
const it1 = { ...claims, namespace: 'ns', name: 'claim' }

describe('S3, S4: only absence is evidence', () => {
  it.each<[name: string, errors: unknown, want: 'Absent' | 'Unknown', given?: { credential?: string; user?: string }]>([
    ['a lister, no errors', [], 'Absent'],
    ['a lister, errors missing', undefined, 'Unknown'],
    ['a lister, NotFound by name', [{ ...it1, ...NOT_FOUND }], 'Absent'],
    ['a lister, 403 by name', [{ ...it1, ...FORBIDDEN }], 'Unknown'],
    ['a lister, 403 for the resource', [listRefused], 'Unknown'],
    ['a lister, 403 for the namespace', [{ ...claims, namespace: 'ns', ...FORBIDDEN }], 'Unknown'],
    ['a lister, 403 for another namespace', [{ ...claims, namespace: 'other', ...FORBIDDEN }], 'Absent'],
    ['a lister, 404 for the whole resource', [{ ...claims, ...NOT_FOUND }], 'Unknown'],
    ['a lister, a time-out', [{ ...claims, status: 0, reason: 'Timeout' }], 'Unknown'],
    ['list refused, NotFound by name', [listRefused, { ...it1, ...NOT_FOUND }], 'Absent'],
    ['a lister, 404 that is not of the API', [{ ...it1, status: 404, reason: 'PageNotFound' }], 'Unknown'],
    ['the kubelet, never asked', [], 'Unknown', { credential: 'kubelet' }],
    ['the kubelet, NotFound', [{ ...it1, ...NOT_FOUND }], 'Absent', { credential: 'kubelet' }],
    ['the kubelet, no namespace', [{ ...claims, name: 'claim', ...NOT_FOUND }], 'Unknown', { credential: 'kubelet' }],
    ['a node identity by its user name', [], 'Unknown', { user: 'system:node:node-1' }],
    ['no credential', [], 'Unknown', { credential: '' }],
    ['a text', ['persistentvolumes is forbidden'], 'Unknown'],
    ['a resource no claim depends on', [{ resource: 'leases', ...FORBIDDEN }], 'Absent'],
  ])('%s', (_name, errors, want, { credential = 'admin', user } = {}) => {
    const lookup = apiLookup(api({ credential, user, errors }))
    expect(lookup.persistentVolumeClaim('claim', 'ns').state).toBe(want)
  })

  it('what is in the list is found, whatever the errors say', () => {
    const found = apiLookup(api({ persistentVolumeClaims: [claim()], errors: ['x'] })).persistentVolumeClaim(
      'claim',
      'ns',
    )
    expect(found).toEqual({ state: 'Found', object: claim() })
    expect(apiLookup(api({ persistentVolumeClaims: [claim()] })).persistentVolumeClaim('claim', 'other').state).toBe(
      'Absent',
    )
  })

  it('R012: a node identity lists CSIDrivers, so one that is not there does not exist', () => {
    expect(apiLookup(api({ credential: 'kubelet' })).csiDriver('d').state).toBe('Absent')
    const errors = [{ resource: 'csidrivers', ...FORBIDDEN }]
    expect(apiLookup(api({ credential: 'kubelet', errors })).csiDriver('d').state).toBe('Unknown')
  })
})

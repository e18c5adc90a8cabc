import { describe, expect, it } from 'vitest'
import { apiLookup } from '../../src/core/desired/api-lookup.ts'
import { api, claim } from './builders.ts'

const FORBIDDEN = { status: 403, reason: 'Forbidden', message: 'no relationship found' }
const NOT_FOUND = { status: 404, reason: 'NotFound', message: 'not found' }
const claims = { resource: 'persistentvolumeclaims' }
const it1 = { ...claims, namespace: 'ns', name: 'claim' }

describe('S3, S4: only absence is evidence', () => {
  it.each<{ name: string; credential?: string; user?: string; errors: unknown; want: 'Absent' | 'Unknown' }>([
    { name: 'a lister, no errors', errors: [], want: 'Absent' },
    { name: 'a lister, errors missing', errors: undefined, want: 'Unknown' },
    { name: 'a lister, NotFound by name', errors: [{ ...it1, ...NOT_FOUND }], want: 'Absent' },
    { name: 'a lister, 403 by name', errors: [{ ...it1, ...FORBIDDEN }], want: 'Unknown' },
    { name: 'a lister, 403 for the resource', errors: [{ ...claims, ...FORBIDDEN }], want: 'Unknown' },
    {
      name: 'a lister, 403 for the namespace',
      errors: [{ ...claims, namespace: 'ns', ...FORBIDDEN }],
      want: 'Unknown',
    },
    {
      name: 'a lister, 403 for another namespace',
      errors: [{ ...claims, namespace: 'other', ...FORBIDDEN }],
      want: 'Absent',
    },
    { name: 'a lister, 404 for the whole resource', errors: [{ ...claims, ...NOT_FOUND }], want: 'Unknown' },
    { name: 'a lister, a time-out', errors: [{ ...claims, status: 0, reason: 'Timeout' }], want: 'Unknown' },
    {
      name: 'list refused, NotFound by name',
      errors: [
        { ...claims, ...FORBIDDEN },
        { ...it1, ...NOT_FOUND },
      ],
      want: 'Absent',
    },
    {
      name: 'a lister, 404 that is not of the API',
      errors: [{ ...it1, status: 404, reason: 'PageNotFound' }],
      want: 'Unknown',
    },
    { name: 'the kubelet, never asked', credential: 'kubelet', errors: [], want: 'Unknown' },
    { name: 'the kubelet, NotFound', credential: 'kubelet', errors: [{ ...it1, ...NOT_FOUND }], want: 'Absent' },
    {
      name: 'the kubelet, NotFound without namespace',
      credential: 'kubelet',
      errors: [{ ...claims, name: 'claim', ...NOT_FOUND }],
      want: 'Unknown',
    },
    { name: 'a node identity by its user name', user: 'system:node:node-1', errors: [], want: 'Unknown' },
    { name: 'no credential', credential: '', errors: [], want: 'Unknown' },
    { name: 'a text', errors: ['persistentvolumes is forbidden'], want: 'Unknown' },
    { name: 'a resource no claim depends on', errors: [{ resource: 'leases', ...FORBIDDEN }], want: 'Absent' },
    {
      name: 'a Kubernetes Status',
      errors: [{ kind: 'Status', code: 403, reason: 'Forbidden', details: { kind: 'persistentvolumeclaims' } }],
      want: 'Unknown',
    },
  ])('$name: $want', ({ credential = 'admin', user, errors, want }) => {
    const lookup = apiLookup(api({ credential, user, errors }))
    expect(lookup.persistentVolumeClaim('ns', 'claim').state).toBe(want)
  })

  it('what is in the list is found, whatever the errors say', () => {
    const found = apiLookup(api({ persistentVolumeClaims: [claim()], errors: ['x'] })).persistentVolumeClaim(
      'ns',
      'claim',
    )
    expect(found).toEqual({ state: 'Found', object: claim() })
    expect(apiLookup(api({ persistentVolumeClaims: [claim()] })).persistentVolumeClaim('other', 'claim').state).toBe(
      'Absent',
    )
  })

  it('R012: a node identity lists CSIDrivers, so one that is not there does not exist', () => {
    expect(apiLookup(api({ credential: 'kubelet' })).csiDriver('d').state).toBe('Absent')
    const errors = [{ resource: 'csidrivers', ...FORBIDDEN }]
    expect(apiLookup(api({ credential: 'kubelet', errors })).csiDriver('d').state).toBe('Unknown')
  })
})

/** volctl with exactly the rights of the ClusterRoles that ship, and with the kubelet's own credential. */
import { beforeAll, describe, expect, it } from 'vitest'
import { loadRole } from '../helpers/api-server/users.ts'
import { noMounts } from '../helpers/namespace.ts'
import { runScenario } from './run-scenario.ts'
import type { RightsReport } from './scenarios/rights.ts'

/** `verb resource` of every right that a role gives. */
function rightsOf(...roles: readonly string[]): string[] {
  const rules = roles.flatMap((role) => loadRole(new URL(`../../deploy/${role}.yaml`, import.meta.url).pathname).rules)
  const rights = rules.flatMap(({ resources = [], verbs }) =>
    resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
  )
  return [...new Set(rights)].toSorted()
}

describe.skipIf(noMounts !== undefined)('least power at the API server', () => {
  let report: RightsReport
  beforeAll(async () => {
    report = await runScenario('rights')
  })

  it('plan uses every right of its ClusterRole, and misses none but the contents of volumes', () => {
    const { status, given, forbidden, blocked } = report.plan
    expect(status).toBe(0)
    expect(given).toEqual(rightsOf('clusterrole-plan'))
    expect(forbidden).toEqual(['get configmaps', 'get secrets'])
    expect(blocked).toEqual([
      'DetachVolume pv-batch: Forbidden',
      'DetachVolume pv-idle: Forbidden',
      'DetachVolume vol-old: Forbidden',
      'ExpandVolume pv-common: NotAsked',
      'MountVolume all: ContentUnknown',
    ])
  })

  it('explain needs what plan needs, and no more', () => {
    const { plan, explain, kubelet } = report
    for (const [explained, planned] of [
      [explain.plan, plan],
      [explain.kubelet, kubelet.unresolved],
    ] as const) {
      expect(explained.status).toBe(0)
      expect(explained.operations.length).toBeGreaterThan(5)
      expect({ given: explained.given, forbidden: explained.forbidden }).toEqual({
        given: planned.given,
        forbidden: planned.forbidden,
      })
    }
  })

  it('apply uses every right of both, misses none, and does everything', () => {
    const { status, given, forbidden, ends } = report.apply
    expect(status).toBe(0)
    expect(given).toEqual(rightsOf('clusterrole-plan', 'clusterrole-apply'))
    expect(forbidden).toEqual([])
    expect(ends.filter((end) => !end.endsWith(': done'))).toEqual([])
    for (const kind of ['DetachVolume', 'ExpandVolume', 'MountVolume', 'UnmountDevice', 'RemoveOrphanPodDir'])
      expect(ends.some((end) => end.startsWith(kind))).toBe(true)
  })

  it("S3: what the kubelet's own credential is not told of may be anything, and is not taken for absent", () => {
    const { forbidden, blocked, waiting } = report.kubelet.unresolved
    // Of a volume that no object relates to its node it is told nothing, be it there or not.
    expect(forbidden).toContain('get persistentvolumes')
    expect(waiting).toContain('pv-hollow: VolumeUnresolved')
    expect(blocked.length).toBeGreaterThan(3)
    expect(blocked.filter((each) => !each.endsWith(': MayBeInUse'))).toEqual([])
  })

  it('S30: with it apply undoes and brings up what it can be sure of; the rest is named', () => {
    const { plan, apply } = report.kubelet
    const unlisted = ['list nodes', 'list persistentvolumeclaims', 'list persistentvolumes', 'list volumeattachments']
    expect(plan.forbidden).toEqual(unlisted)
    // Whether other nodes have it attached cannot be told.
    expect(plan.waiting).toContain('pv-common: AccessMode')
    expect(apply.forbidden).toEqual(unlisted)
    expect(apply.status).toBe(3)
    const detaches = ['pv-idle', 'vol-batch', 'vol-old'].map((volume) => `DetachVolume ${volume}: blocked Forbidden`)
    expect(apply.ends.filter((end) => !end.endsWith(': done'))).toEqual(detaches)
    expect(apply.ends).toEqual(
      expect.arrayContaining(['all', 'password', 'pv-vault'].map((v) => `MountVolume ${v}: done`)),
    )
    for (const right of ['get pods', 'get secrets', 'get configmaps', 'create serviceaccounts/token'])
      expect(apply.given).toContain(right)
  })

  it('with it a claim is told that its volume has grown', () => {
    const { ends, given, forbidden } = report.kubelet.again
    expect(ends).toContain('ExpandVolume pv-vault: done')
    expect(given).toContain('patch persistentvolumeclaims/status')
    expect(forbidden).not.toContain('patch persistentvolumeclaims/status')
  })

  it('what is blocked or fails has a code of the catalogue and a next step', () => {
    for (const { unclear } of [report.apply, report.kubelet.apply, report.kubelet.again]) expect(unclear).toEqual([])
  })

  it('no secret and no token is printed or written down', () => {
    expect(report.said.length).toBeGreaterThan(10_000)
    for (const value of ['open sesame', 'key to the vault', 'token.shop.app']) {
      expect(report.said).not.toContain(value)
      expect(report.said).not.toContain(Buffer.from(value).toString('base64').slice(0, -4))
    }
  })

  it('the driver was asked as the specification wants', () => expect(report.violations).toEqual([]))
})

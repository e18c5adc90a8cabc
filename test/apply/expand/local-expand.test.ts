/** Which program gives a file system all of a device that has grown (P131; upstream's TestNeedResize); xfs, really: privileged/set-up. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { CommandResult } from '../../../src/core/trust/programs.ts'
import { desiredStateOfPods } from '../../../src/core/volumes/populate.ts'
import { claimOf, node, ROOT, uid } from '../../helpers/node-builder.ts'
import { UNASKED_CLUSTER } from '../../helpers/unasked.ts'
import { DEVICE, Fixture, localVolume } from '../apply-fixture.ts'

const POD = uid(2)
const TARGET = `${ROOT}/pods/${POD}/volumes/kubernetes.io~local-volume/pv-1`

let fixture: Fixture
beforeEach(() => {
  fixture = new Fixture()
})

async function expand(fsType: string, script: Readonly<Record<string, Partial<CommandResult>>> = {}) {
  const built = node()
    .persistentVolume('pv-1', { source: { capacity: { storage: '2Gi' }, local: { path: DEVICE } } })
    .pod(POD, 'app', [claimOf()])
  const [claim] = built.claims
  if (claim === undefined) throw new Error('no claim')
  fixture.volumes = [...desiredStateOfPods(built.pods, built.build().snapshot.api as never).volumes]
  fixture.witness = { listed: new Set([POD]), alive: new Set(), apiPods: built.pods }
  fixture.given = {
    cluster: { ...UNASKED_CLUSTER, getClaim: async () => claim, patchClaimStatus: async () => claim },
  }
  const expects = [fixture.host.mount(TARGET, { dev: '8:16', fsType, source: DEVICE })]
  fixture.onDevice((program) =>
    program === 'blkid' ? { stdout: `TYPE=${fsType}\n` } : (script[program] ?? { stdout: '0\n' }),
  )
  const pod = { uid: POD }
  const steps = [{ op: 'growFileSystem' as const, target: TARGET }]
  const { end: state, message } = await fixture.applyOne({
    kind: 'ExpandVolume',
    volume: localVolume('pv-1'),
    pod,
    steps,
    expects,
  })
  const asked = /^(stat|readlink|blkid|blockdev) /
  return {
    state,
    message,
    called: fixture.host.log.filter((line) => !asked.test(line)),
  }
}

describe('a device that has grown', () => {
  it.each([
    { fsType: 'ext3', called: `resize2fs ${DEVICE}` },
    { fsType: 'ext4', called: `resize2fs ${DEVICE}` },
    { fsType: 'btrfs', called: `btrfs filesystem resize max ${TARGET}` },
  ])('$fsType', async ({ fsType, called }) => {
    expect(await expand(fsType)).toMatchObject({ state: 'done', called: [called] })
  })

  it('read-only: nothing is called', async () => {
    const seen = await expand('ext4', { blockdev: { stdout: '1\n' } })
    expect(seen).toMatchObject({ state: 'done', called: [] })
    expect(seen.message).toContain('read-only')
  })

  it('another file system: an error, and nothing is called', async () => {
    const seen = await expand('ntfs')
    expect(seen).toMatchObject({ state: 'failed ExpandFailed', called: [] })
    expect(seen.message).toContain('ntfs')
  })
})

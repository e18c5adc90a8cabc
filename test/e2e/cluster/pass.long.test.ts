/** An apply of a cluster that is killed at each of its changes; what comes in between from others: test/apply/cluster. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readJournal } from '../../../src/core/apply/journal/read-journal.ts'
import { attached, attachmentOf, claimed, node, pod } from '../../apply/cluster/scene.ts'
import { ATTACH, DETACH, LiveCluster } from './live-cluster.ts'

const LEASES = '/namespaces/kube-system/leases'

const ATTACHMENTS = '/volumeattachments'
const DETACHED = 'done DetachVolume'

/** Each request by which an apply changes something, what is left of its work, and what its journal says; nothing: it was not opened. */
const KILLS: readonly [
  when: 'before' | 'after',
  method: string,
  path: string,
  left: readonly string[],
  journal: readonly string[],
][] = [
  ['after', 'POST', LEASES, [DETACH, ATTACH], []],
  ['before', 'DELETE', ATTACHMENTS, [DETACH, ATTACH], ['unfinished DetachVolume']],
  ['after', 'DELETE', ATTACHMENTS, [ATTACH], ['unfinished DetachVolume']],
  ['before', 'POST', ATTACHMENTS, [ATTACH], [DETACHED, 'unfinished AttachVolume']],
  ['after', 'POST', ATTACHMENTS, [], [DETACHED, 'unfinished AttachVolume']],
  // Giving it back.
  ['after', 'PUT', LEASES, [], [DETACHED, 'done AttachVolume']],
]

describe('an apply that is killed', () => {
  let cluster: LiveCluster
  let run = 0
  beforeAll(async () => {
    cluster = await LiveCluster.start([...node('here'), ...claimed('data'), pod('web-0', 'here', 'data')])
  })
  afterAll(() => cluster[Symbol.asyncDispose]())

  it.each(KILLS)('%s %s %s: the next one does the rest, and the journal names what was begun', async (...kill) => {
    const [when, method, path, left, said] = kill
    const journal = join(cluster.directory, `journal-${run++}`)
    const flags = ['--node-gone', 'gone', '--journal', journal]
    cluster.api.remove('VolumeAttachment', attachmentOf('data', 'here'))
    cluster.api.remove('Lease', 'volctl-cluster-apply', 'kube-system')
    cluster.api.put(attached('data', 'gone'))

    // Held at its first request until the server knows whom to kill.
    cluster.api.setFaults({ action: { type: 'hold' } })
    const { pid, ended } = cluster.begin(...flags)
    cluster.api.setFaults({ method, path, action: { type: 'kill', pid, when } })
    expect((await ended).status).toBeUndefined()
    cluster.api.setFaults()

    // Longer than the lease of the dead apply lasts.
    await cluster.elapse(2)
    const [killed] = said.length === 0 ? [] : readJournal(journal).applies
    expect(killed?.operations.map(({ state, kind }) => `${state} ${kind}`) ?? []).toEqual(said)
    // Nothing may name the node any more: without the flag, the name may be a typing error.
    expect(await cluster.apply(...flags, '--ignore-not-found')).toMatchObject({
      status: 0,
      ends: left.map((each) => `done ${each}`),
    })
    expect(await cluster.attachments()).toEqual(['pv-data@here'])
    expect(await cluster.apply(...flags, '--ignore-not-found')).toMatchObject({ status: 0, ends: [] })
    const again = await cluster.apply(...flags)
    expect([again.status, again.stderr]).toEqual([1, expect.stringContaining('gone matches no node')])
  })
})

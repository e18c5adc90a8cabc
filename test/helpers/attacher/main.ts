/**
 * A CSI driver's external attacher, as far as the API sees it: puts its finalizer on, attaches after a while, takes the finalizer off
 * once an attachment is deleted, or reports errors. A separate process, with its own credential.
 *
 *     main.ts KUBECONFIG DRIVER DELAY_MS [ATTACH_ERROR [DETACH_ERROR]]
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../../../src/core/api/api-error.ts'
import { createKubeClient } from '../../../src/core/api/kube-client.ts'
import { discoverKubeConfig } from '../../../src/core/api/kubeconfig/kube-config.ts'
import { listObjects } from '../../../src/core/api/received-objects.ts'
import type { VolumeAttachment } from '../../../src/core/model/objects.ts'
import { ATTACHMENTS, objectPath } from '../../../src/core/model/resources.ts'
import { readyUntilEnd } from '../start-program.ts'

const [kubeconfig = '', driver = '', delay = '0', attachError = '', detachError = ''] = process.argv.slice(2)
const client = createKubeClient(discoverKubeConfig({ kubeconfig }))
const finalizer = `external-attacher/${driver.replaceAll('.', '-')}`
/** When each was first seen as it is. */
const seen = new Map<string, number>()

readyUntilEnd(() => client.close())
for (;;) {
  try {
    for (const attachment of (await listObjects(client, ATTACHMENTS)).items) {
      if (attachment.spec.attacher === driver) await attend(attachment)
    }
  } catch (error) {
    // Somebody else was first, or the server is away: the next round sees.
    if (!(error instanceof ApiError)) throw error
  }
  await sleep(20)
}

async function attend({ metadata, status }: VolumeAttachment): Promise<void> {
  const isGoing = metadata.deletionTimestamp != null
  if (!isGoing && status?.attached === true) return
  const path = objectPath(ATTACHMENTS, { name: metadata.name })
  const key = `${metadata.uid} ${isGoing}`
  if (!seen.has(key)) seen.set(key, performance.now())
  if (!isGoing && !metadata.finalizers?.includes(finalizer))
    return void (await client.mergePatch(path, { metadata: { finalizers: [finalizer] } }))
  if (performance.now() - (seen.get(key) ?? 0) < Number(delay)) return
  const message = isGoing ? detachError : attachError
  const field = isGoing ? 'detachError' : 'attachError'
  if (message !== '') {
    if (status?.[field]?.message === message) return
    await client.mergePatch(path, {
      status: { attached: isGoing, [field]: { message, time: new Date().toISOString() } },
    })
  } else if (isGoing) await client.mergePatch(path, { metadata: { finalizers: null } })
  else await client.mergePatch(path, { status: { attached: true } })
}

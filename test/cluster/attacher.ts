import { setTimeout as sleep } from 'node:timers/promises'
import { ATTACHMENTS, type VolumeAttachment } from '../../src/core/kube/api/objects.ts'
import { objectPath } from '../../src/core/kube/api/resources.ts'
import { ApiError } from '../../src/core/kube/api-error.ts'
import { createKubeClient } from '../../src/core/kube/kube-client.ts'
import { discoverKubeConfig } from '../../src/core/kube/kubeconfig/kube-config.ts'
import { anything } from '../../src/core/trust/shape.ts'
import type { TestApiServer } from '../helpers/api-server/start.ts'

export interface AttacherOptions {
  readonly driver: string
  /** Nothing is attached or detached before this is true. */
  readonly when?: () => boolean
  readonly attachError?: string
  readonly detachError?: string
}

/**
 * A CSI driver's external attacher, as far as the API sees it: puts its finalizer on, attaches, takes the finalizer off
 * once an attachment is deleted, or reports errors.
 */
export async function startAttacher(api: TestApiServer, options: AttacherOptions): Promise<AsyncDisposable> {
  const { driver, when = () => true, attachError = '', detachError = '' } = options
  const client = createKubeClient(discoverKubeConfig({ kubeconfig: api.kubeconfig('admin') }))
  const finalizer = `external-attacher/${driver.replaceAll('.', '-')}`

  const attend = async ({ metadata, status }: VolumeAttachment): Promise<unknown> => {
    const isGoing = metadata.deletionTimestamp != null
    if (!isGoing && status?.attached === true) return
    const path = objectPath(ATTACHMENTS, { name: metadata.name })
    const patch = (body: object) => client.send('patch', { path, body, shape: anything })
    if (!isGoing && !metadata.finalizers?.includes(finalizer)) return patch({ metadata: { finalizers: [finalizer] } })
    if (!when()) return
    const message = isGoing ? detachError : attachError
    const field = isGoing ? 'detachError' : 'attachError'
    if (message === '' && isGoing) return patch({ metadata: { finalizers: null } })
    if (message === '') return patch({ status: { attached: true } })
    if (status?.[field]?.message === message) return
    const time = new Date().toISOString()
    return patch({ status: { attached: isGoing, [field]: { message, time } } })
  }
  let isOver = false
  const round = async (): Promise<void> => {
    try {
      for (const attachment of (await client.list(ATTACHMENTS)).items)
        if (attachment.spec.attacher === driver && !isOver) await attend(attachment)
    } catch (error) {
      // Somebody else was first, or the server is away: the next round sees.
      if (!(error instanceof ApiError)) throw error
    }
  }
  const rounds = (async () => {
    for (; !isOver; await sleep(20)) await round()
  })()
  return {
    [Symbol.asyncDispose]: async () => {
      isOver = true
      await rounds
      client.close()
    },
  }
}

/** Creates VolumeAttachments, and takes finalizers off them. Deleting one: volume-attachments.ts. */
import { attachmentShape, type VolumeAttachment } from '../model/objects.ts'
import { ATTACHMENTS, listPath, objectPath } from '../model/resources.ts'
import { ApiError } from './api-error.ts'
import type { KubeClient } from './kube-client.ts'
import { received } from './received-objects.ts'
import { type AttachmentVersion, getVolumeAttachment } from './volume-attachments.ts'

export interface AttachmentToCreate {
  readonly name: string
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: VolumeAttachment['spec']
}

/** `exists`: somebody else has created an object of this name before. */
export interface CreateOutcome {
  readonly state: 'created' | 'exists'
  readonly attachment: VolumeAttachment
}

/**
 * If the answer is lost, the request is not repeated: the object is read to see what happened.
 *
 * @throws ApiError
 */
export async function createVolumeAttachment(
  client: KubeClient,
  { name, annotations, spec }: AttachmentToCreate,
): Promise<CreateOutcome> {
  const path = listPath(ATTACHMENTS)
  const body = { apiVersion: 'storage.k8s.io/v1', kind: 'VolumeAttachment', metadata: { name, annotations }, spec }
  try {
    const answer = received(attachmentShape, await client.create(path, body), { client, request: `POST ${path}` })
    return { state: 'created', attachment: answer }
  } catch (error) {
    const isThere = error instanceof ApiError && (error.status === 409 || error.status === 0)
    const attachment = isThere ? await getVolumeAttachment(client, name) : undefined
    if (attachment === undefined) throw error
    return { state: 'exists', attachment }
  }
}

/**
 * Takes all finalizers off exactly this version of an attachment. Nobody detaches the volume then.
 *
 * @throws ApiError with status 409 if it has changed
 */
export async function removeFinalizers(client: KubeClient, version: AttachmentVersion): Promise<void> {
  const { name, uid, resourceVersion } = version
  try {
    await client.mergePatch(objectPath(ATTACHMENTS, { name }), { metadata: { uid, resourceVersion, finalizers: null } })
  } catch (error) {
    if (!(error instanceof ApiError) || !error.isAbsent) throw error
  }
}

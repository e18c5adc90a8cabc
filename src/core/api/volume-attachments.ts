import { attachmentShape, type VolumeAttachment } from '../model/objects.ts'
import { ATTACHMENTS, listPath, objectPath } from '../model/resources.ts'
import { ApiError, unlessAbsent } from './api-error.ts'
import type { KubeClient } from './kube-client.ts'
import { getObject, received } from './received-objects.ts'
import { reduced } from './reduce-object.ts'

/** Identifies the VolumeAttachment that was judged: the object, and its version. */
export interface AttachmentVersion {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
}

/** The state of a detach. `changed`: the object has changed since it was judged, and nothing was deleted. */
export type DetachOutcome =
  | { readonly state: 'gone' }
  | { readonly state: 'deleting'; readonly attachment: VolumeAttachment }
  | { readonly state: 'changed'; readonly message: string }

/** The attachment of this name, or undefined if the API shows that there is none. */
export async function getVolumeAttachment(
  client: KubeClient,
  name: string,
  signal?: AbortSignal,
): Promise<VolumeAttachment | undefined> {
  const found = await unlessAbsent(getObject(client, ATTACHMENTS, { name }, { signal }))
  return found && reduced(found)
}

/**
 * Deletes an attachment if it is still the one that was judged: uid and resourceVersion are sent as preconditions (N60). The
 * attacher's finalizer keeps the object until the storage is really detached (N59), so `deleting` is not `gone`.
 *
 * If the answer is lost, the request is not simply repeated: the object is read to see what happened.
 */
export async function deleteVolumeAttachment(client: KubeClient, version: AttachmentVersion): Promise<DetachOutcome> {
  const { name, uid, resourceVersion } = version
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid, resourceVersion } }
  try {
    await client.delete(objectPath(ATTACHMENTS, { name }), body)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.isAbsent) return { state: 'gone' }
    if (error.status === 409) return { state: 'changed', message: error.message }
    if (!error.isSilence) throw error
    const outcome = await detachState(client, version)
    if (outcome.state === 'deleting' && !outcome.attachment.metadata.deletionTimestamp) throw error
    return outcome
  }
  return await detachState(client, version)
}

async function detachState(client: KubeClient, version: AttachmentVersion): Promise<DetachOutcome> {
  const attachment = await getVolumeAttachment(client, version.name)
  return attachment === undefined || attachment.metadata.uid !== version.uid
    ? { state: 'gone' }
    : { state: 'deleting', attachment }
}

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

/** Secrets and tokens: read right before the call that needs them, and stored nowhere (C58, C60). */

import { withDeadline } from '../../linux/deadline.ts'
import { errorMessage, StepFailed, said, saidOfAny } from '../../messages/findings.ts'
import type { Cluster } from '../../node/api/node-objects.ts'
import { askCluster } from '../../rules/machine-facts.ts'
import { requireRules } from '../../rules/rules.ts'
import { goJson } from '../../trust/digest.ts'
import { nodesWith } from '../../volumes/api-objects.ts'
import { isEphemeral, type SecretUse, secretOf } from '../../volumes/csi-volume.ts'
import { allowsSeveralNodes } from '../../volumes/node-affinity.ts'
import { podNamespace } from '../../volumes/pods.ts'
import { attachmentName } from '../../volumes/volume-names.ts'
import type { StepContext } from '../operation/step.ts'
import { openDriver, type WantedCsi, wantedCsi } from './csi-call.ts'
import type { CsiFacts } from './csi-requests.ts'

/** @throws StepFailed ContentMissing, ContentUnknown; then nothing was changed */
export async function readSecret(run: StepContext, use: SecretUse): Promise<Readonly<Record<string, string>>> {
  const reference = secretOf(wantedCsi(run).volume, use)
  if (reference === undefined) return {}
  const { namespace, name } = reference
  const what = `secret ${namespace}/${name}`
  const secret = await asked(run, what, (cluster) => cluster.getSecret(namespace, name))
  if (secret === undefined) {
    throw new StepFailed(said('ContentMissing.object', { object: what }), {
      hint: 'Create the secret again, or correct the volume; then plan again.',
    })
  }
  const entries = Object.entries(secret.data ?? {})
  return Object.fromEntries(entries.map(([key, value]) => [key, textOf(value, `${what}, key ${key},`)]))
}

/** A protobuf string cannot hold anything else (C58). */
function textOf(base64: string, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(base64, 'base64'))
  } catch {
    throw new StepFailed(said('ContentMissing.notText', { entry: what }), {
      hint: 'Correct the secret; then plan again.',
    })
  }
}

/**
 * The tokens that the CSIDriver asks for, one for each audience, as one JSON text (C60).
 *
 * @returns undefined if it asks for none
 * @throws StepFailed ContentUnknown
 */
export async function requestTokens(run: StepContext, { driver, volume }: CsiFacts): Promise<string | undefined> {
  const requests = driver?.spec.tokenRequests ?? []
  if (requests.length === 0 || volume.mode === 'Block') return undefined
  const { pod } = volume
  const what = `a token of ${podNamespace(pod)}/${pod.spec.serviceAccountName ?? ''}`
  const tokens = await Promise.all(
    requests.map(async (source) => {
      const { audience } = source
      const made = await asked(run, what, (cluster) => cluster.requestToken(pod, source))
      if (made === undefined) throw unreadable(what, 'the service account or the pod does not exist')
      const { token, expirationTimestamp } = made
      return [audience, { token, expirationTimestamp: wholeSeconds(expirationTimestamp) }] as const
    }),
  )
  return goJson(Object.fromEntries(tokens))
}

/** RFC 3339, UTC. */
function wholeSeconds(time: string): string {
  const parsed = Date.parse(time)
  return Number.isNaN(parsed) ? time : new Date(parsed).toISOString().replace(/\.\d{3}Z$/, 'Z')
}

function asked<T>(run: StepContext, what: string, ask: (cluster: Cluster) => Promise<T>): Promise<T> {
  return askCluster(run, ask).catch((error) => {
    throw unreadable(what, errorMessage(error), error)
  })
}

function unreadable(what: string, why: string, cause?: unknown): StepFailed {
  return new StepFailed(saidOfAny('ContentUnknown', 'unread', { object: what, why }), { cause })
}

// What a driver, and the API, say right before a CSI volume is staged, published or expanded.

/**
 * What the requests are built from.
 *
 * @param label SELinux label that the volume is mounted with
 * @throws StepFailed if the CSIDriver is not known; OperationRefused, or a failed read
 */
export async function factsOf(run: StepContext, label = ''): Promise<CsiFacts> {
  const wanted = await openDriver(run)
  const { volume, driver, capabilities } = wanted
  const publishContext = isEphemeral(volume) ? {} : await requireAttached(wanted, run)
  const found = run.context.csiDriver(driver)
  if (found.state === 'Unknown') throw new StepFailed(said('CsiDriverUnknown.why', { driver, reason: found.reason }))
  const object = found.state === 'Found' ? found.object : undefined
  return { volume, rootDir: run.plan.rootDir, capabilities, driver: object, publishContext, label }
}

/** @returns the publish context (C39); empty for a volume that is not attachable */
async function requireAttached(wanted: WantedCsi, run: StepContext): Promise<Readonly<Record<string, string>>> {
  const { volume } = wanted
  const attaches = volume.attachability === 'attachable'
  const name = attachmentName(wanted.handle, wanted.driver, run.plan.node)
  const { cluster } = run.context
  const [node, attachment, elsewhere] = await run.waiting.spend((ms) => {
    const ask = <T>(answer: Promise<T>): Promise<T> => withDeadline(answer, ms, 'the API server')
    return Promise.all([
      ask(cluster.getNode()),
      attaches ? ask(cluster.getVolumeAttachment(name)) : undefined,
      attaches ? nodesElsewhere(run, wanted, ask) : [],
    ])
  })
  const api = { node, toSetUp: { volume, attachmentName: name, elsewhere } }
  await requireRules({ ...run, attachment, api }, 'call')
  return attachment?.status?.attachmentMetadata ?? {}
}

/** Of other nodes that have the volume attached, where its access mode allows only one; a text: why they are not known. */
async function nodesElsewhere(
  { context, plan }: StepContext,
  { volume, driver, handle }: WantedCsi,
  ask: <T>(answer: Promise<T>) => Promise<T>,
): Promise<readonly string[] | string> {
  if (allowsSeveralNodes(volume.persistentVolume)) return []
  try {
    const all = await ask(context.cluster.listVolumeAttachments())
    const others = all.filter(({ spec, status }) => spec.nodeName !== plan.node && status?.attached === true)
    return nodesWith(others, { driver, handle })
  } catch (error) {
    return errorMessage(error)
  }
}

/** A volume is expanded on this node, and its claim's status says so before and after (C96-C102, R455-R462). */

import { present } from '../../base/text.ts'
import type { PersistentVolumeClaim } from '../../kube/api/objects.ts'
import type { ClaimStatusPatch } from '../../kube/writes.ts'
import { codeOf, errorMessage, StepFailed, said } from '../../messages/findings.ts'
import { GrpcError } from '../../rpc/grpc-status.ts'
import { describeMount } from '../../rules/expected-mounts.ts'
import { askCluster, type FoundDevice, unlessForbidden } from '../../rules/machine-facts.ts'
import {
  failedPatch,
  finishedPatch,
  inProgressPatch,
  type NodeExpansion,
  nodeExpansionWanted,
} from '../../volumes/expansion.ts'
import { parseQuantity } from '../../volumes/quantity.ts'
import type { Step } from '../../volumes/steps.ts'
import { callNode, wantedCsi } from '../csi/csi-call.ts'
import { factsOf, readSecret } from '../csi/csi-objects.ts'
import { expandRequest } from '../csi/csi-requests.ts'
import { isOfDevice, lookAtSource } from '../disks/mount-device.ts'
import { fileSystemOn } from '../disks/probe-device.ts'
import { command, firstLineOf, resolvePath, type StepContext } from '../operation/step.ts'

const NOTHING_ASKED = 'the claim no longer asks this node to expand the volume'

/** @returns what was left unchanged, and why */
type Grow = () => Promise<string | undefined>

/**
 * Expands the volume as its claim asks for it now, and writes to the claim's status before and after. If the credential may not write
 * it, nothing is lost: the file system has its new size, and the kubelet updates the claim.
 *
 * @param prepare checks what can fail before the claim says that the expansion is in progress
 * @returns what was left unchanged, and why
 * @throws StepFailed NoLongerWanted
 */
async function expandAsAsked(
  run: StepContext,
  prepare: (growth: NodeExpansion) => Promise<Grow>,
): Promise<string | undefined> {
  const { wanted } = run.bringUp
  const { namespace = '', name = '', uid } = wanted?.persistentVolume?.spec.claimRef ?? {}
  const claim = await askCluster(run, (cluster) => cluster.getClaim(namespace, name))
  // A claim of the same name with another UID is another claim (S17).
  if (wanted === undefined || claim === undefined || (uid !== undefined && uid !== claim.metadata.uid))
    throw new StepFailed(said('NoLongerWanted.claim', { namespace, name }))
  const growth = nodeExpansionWanted({ ...wanted, claim })
  if (growth === undefined) return NOTHING_ASKED
  const grow = await prepare(growth)
  const { procedure, to } = growth
  const isRecovery = procedure === 'recovery'
  const begun = isRecovery ? await patch(run, claim, inProgressPatch(claim)) : claim
  const skipped = await grow().catch(async (error) => {
    if (isRecovery) await reportFailure(run, begun ?? claim, error)
    throw error
  })
  const finished = procedure === 'updated' ? begun : begun && (await patch(run, begun, finishedPatch(begun, to)))
  const unsaid = `claim ${namespace}/${name} still shows its old size: this credential may not write ${to} to its status; the kubelet will do so`
  return present(skipped, finished === undefined && unsaid).join('; ') || undefined
}

/** @returns the patched claim; undefined if the credential may not patch it */
async function patch(
  run: StepContext,
  { metadata: { namespace = '', name } }: PersistentVolumeClaim,
  change: ClaimStatusPatch,
): Promise<PersistentVolumeClaim | undefined> {
  return await askCluster(run, (cluster) => cluster.patchClaimStatus(namespace, name, change)).catch(unlessForbidden)
}

/** The result of an abandoned call is unknown, so nothing is written then (C101). */
async function reportFailure(run: StepContext, claim: PersistentVolumeClaim, error: unknown): Promise<void> {
  const failure = error instanceof ExpandFailed ? error : answerOf(error)
  if (failure === undefined) return
  // No further attempt makes sense then until the claim asks for another size.
  const infeasible = failure instanceof GrpcError && INFEASIBLE.has(failure.code)
  const change = failedPatch(claim, errorMessage(failure), { infeasible, now: new Date().toISOString() })
  if (change === undefined) return
  try {
    await patch(run, claim, change)
  } catch (unwritten) {
    run.say(`the failure could not be written to the claim: ${errorMessage(unwritten)}`)
  }
}

// Expands a CSI volume on this node by NodeExpandVolume (C96-C102, R455-R461).

/** After these statuses no further attempt makes sense (C101). */
const INFEASIBLE = new Set(['INVALID_ARGUMENT', 'OUT_OF_RANGE', 'NOT_FOUND'])

/**
 * Has the driver expand the volume on this node, if the claim still asks for that.
 *
 * @returns what was left unchanged, and why
 */
export function expandCsiVolume(step: Step, run: StepContext): Promise<string | undefined> {
  const { volume } = wantedCsi(run)
  return expandAsAsked(run, async ({ procedure, to }) => {
    const facts = await factsOf(run)
    if (!facts.capabilities.includes('EXPAND_VOLUME')) return withoutDriver(procedure, run)
    const secrets = await readSecret(run, 'nodeExpandSecretRef')
    const volumePath = volume.mode === 'Block' ? await resolvePath(step.target, run) : step.target
    const requiredBytes = parseQuantity(to) ?? 0n
    const request = expandRequest(facts, { volumePath, requiredBytes, secrets })
    return () => callNode(step, run, (node, ms) => node.nodeExpandVolume(request, ms))
  })
}

/**
 * The driver has no NodeExpandVolume: fine if an old resize controller asks, or if the claim already has its new size (C98,
 * C99).
 */
function withoutDriver(procedure: NodeExpansion['procedure'], { operation }: StepContext): Grow {
  const driver = operation.volume?.driver
  if (procedure === 'updated') return async () => `CSI driver ${driver} expands its volumes without the node`
  if (procedure === 'legacy') return async () => undefined
  throw new StepFailed(said('DriverRefused', { driver }), {
    hint: "Start the kubelet; if it fails in the same way, ask the driver's vendor.",
  })
}

/** A failure is final only if the driver itself answered (C101). */
function answerOf(failure: unknown): GrpcError | undefined {
  const { cause } = failure as { cause?: unknown }
  return cause instanceof GrpcError ? cause : undefined
}

// Expands the file system of a local volume to the size of its device (P71, P131, R462).

/** Program and arguments that expand a mounted file system to the size of its device; they do nothing if it has that size. */
const GROWERS: Readonly<Record<string, (device: string, path: string) => readonly [string, ...string[]]>> = {
  ext3: (device) => ['resize2fs', device],
  ext4: (device) => ['resize2fs', device],
  xfs: (_, path) => ['xfs_growfs', '-d', path],
  btrfs: (_, path) => ['btrfs', 'filesystem', 'resize', 'max', path],
}

/**
 * @returns what was left unchanged, and why
 * @throws StepFailed ForeignMount, ExpandFailed, InvalidPath; VolctlError CommandMissing
 */
export function growFileSystem({ target }: Step, run: StepContext): Promise<string | undefined> {
  const source = run.bringUp.wanted?.persistentVolume?.spec.local?.path ?? ''
  return expandAsAsked(run, () => grower(target, source, run))
}

async function grower(target: string, source: string, run: StepContext): Promise<Grow> {
  const found = await lookAtSource(source, run)
  if (found === 'directory') return async () => `${source} is a directory, which has no size of its own`
  const mounted = requireMounted(target, found, run)
  if (await isReadOnly(found, run)) return async () => `${found.path} is read-only, and was not expanded`
  const type = await fileSystemIn(found, mounted, run)
  const [program, ...args] = GROWERS[type]?.(found.path, target) ?? unknownType(found, type)
  run.host.requireCommand(program)
  return async () => {
    const result = await command(run, program, args)
    if (result.status === 0) return undefined
    throw new ExpandFailed(said('ExpandFailed.program', { program, path: found.path, output: firstLineOf(result) }))
  }
}

/**
 * @returns the file system type that the kernel shows @throws StepFailed ForeignMount if the pod's mount is not of the device
 */
function requireMounted(target: string, device: FoundDevice, { around, host }: StepContext): string {
  const top = around.table.top(target)
  if (top !== undefined && isOfDevice(top, device, host)) return top.fsType
  const what = top === undefined ? 'nothing is mounted there' : `${describeMount(top)} is there`
  throw new StepFailed(said('ForeignMount.expanded', { target, mounted: what, path: device.path }), {
    hint: 'The PersistentVolume names another device than the one that is mounted: find out which is right.',
  })
}

async function isReadOnly({ path }: FoundDevice, run: StepContext): Promise<boolean> {
  const result = await command(run, 'blockdev', ['--getro', path])
  if (result.status === 0) return result.stdout.trim() === '1'
  throw new ExpandFailed(said('ExpandFailed.readOnly', { path, output: firstLineOf(result) }))
}

/** The device is mounted, so it has a file system: the hint to create one would be wrong. */
async function fileSystemIn({ path }: FoundDevice, mounted: string, run: StepContext): Promise<string> {
  try {
    return await fileSystemOn(path, mounted, run)
  } catch (error) {
    if (codeOf(error) !== 'FilesystemUnfit') throw error
    throw new ExpandFailed(said('ExpandFailed.unseen', { path, mounted }))
  }
}

function unknownType({ path }: FoundDevice, type: string): never {
  throw new ExpandFailed(said('ExpandFailed.unknownType', { path, type }), {
    hint: 'volctl expands ext3, ext4, xfs and btrfs only: expand it yourself.',
  })
}

/** Of a program that has ended by itself: a failure that is final, too. */
class ExpandFailed extends StepFailed {}

/**
 * Step 3 of the pass: staged file systems that no pod of this node needs any more (R415, R442, C80; O8, O9).
 * The kubelet forgets them once no pod directory leads to them (R517); volctl finds them by their own directories.
 */

import { registeredDriver, stages } from '../../actual/csi-drivers.ts'
import type { StagedVolume } from '../../actual/staged-volumes.ts'
import { onceFor } from '../../lang/once-for.ts'
import type { TreeEntry } from '../../model/snapshot.ts'
import { CSI_PLUGIN, csiGlobalDir, csiUniqueName } from '../../names/volume-names.ts'
import type { SoughtVolume } from '../../names/volume-shapes.ts'
import { expectedMount, type Findings, type Obstacle } from '../../plan/draft.ts'
import type { Step } from '../../plan/plan.ts'
import { type PlanContext, waitForKubelet } from '../context/context.ts'
import { foreignObstacle, layerObstacle, umountSteps } from '../context/layers.ts'
import { unreadWithin } from '../context/unread.ts'
import { driverCall, reportDriverGone } from '../drivers/driver-call.ts'
import { driverStaging } from '../drivers/driver-staging.ts'
import { identifyStaged, identityObstacle } from '../identity/csi-identity.ts'
import type { CsiIdentity } from '../identity/identified.ts'
import { describeCsiVolume } from '../identity/volume-facts.ts'
import { deviceObstacle, predecessorObstacle } from '../obstacles/device-obstacles.ts'
import { referencesTo } from '../obstacles/mount-references.ts'
import { elsewhereObstacle } from '../obstacles/outside-root.ts'

export function unmountDevices(context: PlanContext, findings: Findings): void {
  for (const staged of context.staged) unmountDevice(context, findings, staged)
}

function unmountDevice(context: PlanContext, findings: Findings, staged: StagedVolume): void {
  const { inputs } = context
  const mounted = staged.layers.length > 0
  // An empty globalmount without a state file is what a driver without staging leaves (R025, C50).
  if (staged.stateFile === undefined && !mounted && staged.foreign.length === 0) {
    if (isMadeByKubelet(staged) && !staged.hasTarget && staged.content.length === 0)
      removeEmptyDirectory(context, findings, staged)
    else leaveStaged(context, findings, staged, 'R025', 'nothing is staged there')
    return
  }
  const identified = identifyStaged(context, staged)
  const identity = 'identity' in identified ? identified.identity : undefined
  const uniqueName = identity === undefined ? undefined : csiUniqueName(identity.driver, identity.handle)
  const [user] = uniqueName === undefined ? [] : context.users.of(uniqueName)
  if (user !== undefined) {
    leaveStaged(context, findings, staged, 'R817', `pod ${user.pod.uid} ${user.how}`, uniqueName)
    return
  }
  // Whose it is could not be told: any pod with a volume of this driver may be on it.
  if ('unconfirmed' in identified && mayBeUsed(context, staged)) {
    leaveStaged(context, findings, staged, 'R025', `${identified.unconfirmed}, and pods want volumes of this driver`)
    return
  }

  const target = inputs.absolute(staged.target)
  const named = uniqueName === undefined ? [] : findings.ofVolume(uniqueName)
  const predecessors = named.filter((draft) => !draft.kind.startsWith('Mount'))
  const anyMount = mounted || staged.foreign.length > 0
  const call = identity === undefined ? undefined : driverCall(context, identity, staged.stateFile, anyMount)
  const own = driverStaging(context, {
    path: staged.target,
    identity,
    call,
    mounts: staged.foreign,
    files: staged.content,
    predecessors,
  })
  const layers = [...staged.layers, ...own.mounts]
  const references = referencesTo(context, findings, layers, target)
  if (references.kind === 'inUse') {
    leaveStaged(context, findings, staged, 'S24', `pod ${references.by.uid} shows the same file system`, uniqueName)
    return
  }
  const after = [...new Set([...predecessors, ...(references.kind === 'free' ? references.after : [])])]
  const volume = describeCsiVolume(context, {
    name: nameOf(staged, after[0]?.volume?.name, identity),
    mode: 'Filesystem',
    identity,
    uniqueName,
    device: layers.at(-1),
  })
  const wait = waitForKubelet(context)
  if (wait !== undefined) {
    findings.wait('UnmountDevice', wait, 'S11', { volume })
    return
  }

  const steps = stepsOf(context, staged, identity, call?.kind)
  const blocked =
    foreignObstacle(context, own.foreign) ??
    layerObstacle(context, target, staged.layers) ??
    own.obstacle ??
    contentObstacle(context, staged, own.strangers) ??
    identityObstacle(identified) ??
    deviceObstacle(context, CSI_PLUGIN, identity) ??
    elsewhereObstacle(inputs, soughtAt(context, staged, identity)) ??
    (references.kind === 'held' ? references.obstacle : undefined) ??
    (call?.kind === 'blocked' ? call.blocked : undefined) ??
    (call?.kind === 'call' && mounted ? noStagingObstacle(context, identity, target) : undefined) ??
    predecessorObstacle(after)
  if (call?.kind === 'gone') {
    reportDriverGone(findings, identity?.driver, 'NodeUnstageVolume', { volume: volume.name, path: target })
  }
  const leaked = after.length === 0
  findings.add({
    kind: 'UnmountDevice',
    reason: call?.kind === 'absentSinceBoot' ? 'DriverAbsentSinceBoot' : leaked ? 'StagedWithoutPod' : 'LastPodGone',
    message: leaked
      ? `no pod of this node wants ${uniqueName ?? staged.dir}, and no pod directory leads to it; it is still staged`
      : `no pod of this node wants ${uniqueName ?? staged.dir} once the operations before are done`,
    volume,
    steps,
    paths: [
      ...new Set([
        target,
        ...own.expects.map(({ path }) => path),
        ...steps.map((step) => step.target),
        inputs.absolute(staged.dir),
      ]),
    ],
    after,
    rule: leaked ? 'R820' : 'R415',
    expects: [...(mounted ? [expectedMount(target, staged.layers)] : []), ...own.expects],
    removes: new Set(layers.map((layer) => layer.id)),
    ...(leaked ? { kubeletWould: 'never find it again; the controller may detach the device while it is staged' } : {}),
    ...(blocked === undefined ? {} : { blocked }),
  })
}

/** Also where nothing but the path tells whose it is: the driver's directory, and in the old layout the volume's name. */
function soughtAt(context: PlanContext, staged: StagedVolume, identity: CsiIdentity | undefined): SoughtVolume {
  const volumes = identity === undefined ? [] : context.objects.persistentVolumesOf(identity)
  const names = volumes.map(({ metadata }) => metadata.name)
  return staged.driverDir === 'pv' ? { ...identity, names: [...names, staged.key] } : { ...identity, names }
}

/** S16, R444: no call of such a driver takes the mount away, and so the kernel may not either. */
function noStagingObstacle(
  context: PlanContext,
  identity: CsiIdentity | undefined,
  target: string,
): Obstacle | undefined {
  if (identity === undefined || stages(registeredDriver(context.inputs, identity.driver))) return undefined
  return {
    code: 'ForeignMount',
    message: `CSI driver ${identity.driver} does not stage volumes, so that what is mounted on ${target} is not known to be its own`,
    hint: `Find out who mounted it, maybe an older version of the driver (findmnt ${target}); unmount it yourself if nothing needs it.`,
  }
}

/** S12: drivers keep directories of their own there; the kubelet's bear a hash, or lie in the old layout (C10, C11). */
function isMadeByKubelet({ driverDir, key }: StagedVolume): boolean {
  return driverDir === 'pv' || /^[0-9a-f]{64}$/.test(key)
}

/** What an unstage that was killed before its last step leaves (R837): no name of a volume, and nothing in it. */
function removeEmptyDirectory(context: PlanContext, findings: Findings, staged: StagedVolume): void {
  const why = wantedDirectories(context).has(staged.dir)
    ? 'it is empty, and of a volume that a pod wants'
    : waitForKubelet(context)?.message
  if (why !== undefined) {
    leaveStaged(context, findings, staged, 'R837', why)
    return
  }
  const target = context.inputs.absolute(staged.dir)
  const unread = unreadWithin(context.inputs, staged.dir)
  findings.add({
    kind: 'UnmountDevice',
    reason: 'StagedWithoutPod',
    message: `${target} ${unread === undefined ? 'is' : 'may be'} an empty directory that an unfinished unstage has left`,
    volume: { name: staged.key, plugin: 'kubernetes.io/csi', driver: staged.driverDir, mode: 'Filesystem' },
    steps: [{ op: 'rmdir', target }],
    paths: [target],
    after: [],
    rule: 'R837',
    removes: new Set(),
    ...(unread === undefined ? {} : { blocked: unread }),
  })
}

function leaveStaged(
  { inputs }: PlanContext,
  findings: Findings,
  { target }: StagedVolume,
  rule: string,
  why: string,
  uniqueName?: string,
): void {
  findings.leave(() => ({
    path: inputs.absolute(target),
    rule,
    why,
    volume: uniqueName,
  }))
}

/** Staging directories of all that pods want; each is a hash, and empty directories may be many. */
const wantedDirectories = onceFor(
  ({ desired }: PlanContext): ReadonlySet<string> =>
    new Set(
      desired.volumes.flatMap(({ driver, handle }) =>
        driver !== undefined && handle !== undefined ? csiGlobalDir(driver, handle) : [],
      ),
    ),
)

function stepsOf(
  context: PlanContext,
  staged: StagedVolume,
  identity: CsiIdentity | undefined,
  call: string | undefined,
): Step[] {
  const { inputs } = context
  const target = inputs.absolute(staged.target)
  const steps: Step[] = []
  const socket = identity === undefined ? undefined : registeredDriver(context.inputs, identity.driver)
  const byDriver = call !== 'gone' && call !== 'absentSinceBoot' && stages(socket)
  if (byDriver) steps.push({ op: 'NodeUnstageVolume', target })
  else {
    steps.push(...umountSteps(context, target, staged.layers))
    if (staged.hasTarget) steps.push({ op: 'rmdir', target })
  }
  if (staged.stateFile !== undefined) steps.push({ op: 'unlink', target: inputs.absolute(staged.stateFile.path) })
  steps.push({ op: 'rmdir', target: inputs.absolute(staged.dir) })
  return steps
}

function contentObstacle(
  context: PlanContext,
  staged: StagedVolume,
  [first]: readonly TreeEntry[],
): Obstacle | undefined {
  if (first === undefined) return undefined
  const under = first.path.startsWith(`${staged.target}/`)
  return {
    code: under ? 'DataUnderMountPoint' : 'UnexpectedFile',
    message: `${context.inputs.absolute(first.path)} is not of the kubelet's making`,
    hint: 'Look at it; move it away or delete it yourself, then plan again.',
  }
}

function mayBeUsed(context: PlanContext, staged: StagedVolume): boolean {
  if (staged.layers.length > 0) return false
  return context.desired.volumes.some((volume) => volume.driver === staged.driverDir)
}

function nameOf(staged: StagedVolume, known: string | undefined, identity: CsiIdentity | undefined): string {
  return known ?? identity?.handle ?? staged.key
}

/** For each sentence a node in that state, what its line is about there, and what becomes of it. */
import { DRIVER, type NodeBuilder } from '../helpers/node-builder.ts'
import { GONE, type LINES, LIVING } from './lines.ts'
import * as nodes from './nodes.ts'

export interface Case {
  readonly node: () => NodeBuilder
  /** What the first line is about, and what becomes of it there. */
  readonly ask: string
  readonly verdict: string
}

const UNIQUE = `kubernetes.io/csi/${DRIVER}^pv-1`
const ORPHAN = { ask: `pod/${GONE}`, verdict: 'operation PodGone' }
const WEB = `pod/${LIVING}`

export const CASES: Readonly<Record<keyof typeof LINES, Case>> = {
  OrphanedPodVolumes: { node: nodes.orphan, ...ORPHAN },
  OrphanedPodSubPaths: { node: nodes.subPathLeft, ask: `pod/${GONE}`, verdict: 'operation LeakedSubPath' },
  OrphanedPodFile: { node: nodes.fileLeft, ask: `pod/${GONE}`, verdict: 'blocked IdentityUnconfirmed' },
  OrphanedPodBusy: { node: nodes.foreignMount, ask: `pod/${GONE}`, verdict: 'problem OrphanDirKept' },
  OrphanedPodDirectory: { node: nodes.orphan, ...ORPHAN },
  ContentNotFound: { node: nodes.contentMissing, ask: WEB, verdict: 'blocked ContentMissing' },
  ContentNotSynced: { node: nodes.contentMissing, ask: WEB, verdict: 'blocked ContentMissing' },
  TokenRefused: { node: nodes.withToken, ask: WEB, verdict: 'operation NotMounted' },
  DriverNotInList: { node: nodes.withoutDriver, ask: `driver/${DRIVER}`, verdict: 'problem DriverUnavailable' },
  OwnershipSlow: { node: nodes.healthy, ask: `volume/${LIVING}/pv-1`, verdict: 'nothing' },
  FileSystemErrors: { node: nodes.unmounted, ask: `volume/${LIVING}/pv-1`, verdict: 'operation NotMounted' },
  WrongFileSystem: { node: nodes.unmounted, ask: `volume/${LIVING}/pv-1`, verdict: 'operation NotMounted' },
  StateFileBroken: { node: nodes.stateFileLost, ask: `volume/${GONE}/pv-1`, verdict: 'operation NotReconstructable' },
  NfsTimedOut: { node: nodes.withShare, ask: `volume/${LIVING}/share`, verdict: 'operation NotMounted' },
  MountIsDead: { node: nodes.dead, ask: `volume/${GONE}/pv-1`, verdict: 'problem DeadMount' },
  DriverStillAtWork: { node: nodes.unmounted, ask: `volume/${LIVING}/pv-1`, verdict: 'operation NotMounted' },
  FileSystemReadOnly: { node: nodes.unmounted, ask: `volume/${LIVING}/pv-1`, verdict: 'operation NotMounted' },
  NoSpaceLeft: { node: nodes.contentMissing, ask: `volume/${LIVING}/config`, verdict: 'blocked ContentMissing' },
  TargetBusy: { node: nodes.orphan, ask: `volume/${GONE}/pv-1`, verdict: 'operation PodGone' },
  MultiAttachError: { node: nodes.elsewhere, ask: 'pv/pv-1', verdict: 'waiting AccessMode' },
  ForcedDetach: { node: nodes.unwanted, ask: `volume/${UNIQUE}`, verdict: 'operation NotWanted' },
  DetachStuck: { node: nodes.unwanted, ask: 'pv/pv-1', verdict: 'operation NotWanted' },
  TooManyVolumes: { node: nodes.unattached, ask: WEB, verdict: 'waiting NotAttached' },
  NodeAffinityConflict: { node: nodes.otherZone, ask: `volume/${LIVING}/pv-1`, verdict: 'blocked NodeAffinity' },
  ClaimNotBound: { node: nodes.unbound, ask: 'pod/default/web-0', verdict: 'waiting ClaimUnbound' },
  NotYetInUse: { node: nodes.unattached, ask: `volume/${LIVING}/pv-1`, verdict: 'waiting NotAttached' },
  AttachFailed: { node: nodes.unattached, ask: 'pv/pv-1', verdict: 'waiting NotAttached' },
  PodTerminating: { node: nodes.terminating, ask: WEB, verdict: 'waiting PodStillRunning' },
  ContainersNotExited: { node: nodes.terminating, ask: 'pod/default/web-0', verdict: 'waiting PodStillRunning' },
  AttachabilityChanged: { node: nodes.unwanted, ask: `volume/${UNIQUE}`, verdict: 'operation NotWanted' },
  RemountRequested: { node: nodes.contentMissing, ask: `volume/${LIVING}/config`, verdict: 'blocked ContentMissing' },
  UnmountSkipped: { node: nodes.unwanted, ask: 'pv/pv-1', verdict: 'operation NotWanted' },
  NotAMountPoint: { node: nodes.fileLeft, ask: `volume/${GONE}/pv-1`, verdict: 'blocked IdentityUnconfirmed' },
  NotInPodInformer: { node: nodes.orphan, ...ORPHAN },
  VolumesNotReady: { node: nodes.unattached, ask: 'pod/default/web-0', verdict: 'waiting NotAttached' },
  NotReconstructed: { node: nodes.stateFileLost, ask: `pod/${GONE}`, verdict: 'operation NotReconstructable' },
  UnmountingFailed: { node: nodes.orphan, ask: `volume/${UNIQUE}`, verdict: 'operation PodGone' },
  MountingFailed: { node: nodes.unmounted, ask: `volume/${LIVING}/pv-1`, verdict: 'operation NotMounted' },
}

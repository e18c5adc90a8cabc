/** What could not be read, or contradicts itself, and what the plan therefore does not show (S2, S3, S28). */

import { kubectl } from '../../lang/command.ts'
import { insecureApiHint } from '../../plan/insecure-api.ts'
import type { ClusterContext } from '../context/cluster-context.ts'
import { type ClusterFindings, ON_API } from '../context/findings.ts'
import { credentialFor } from '../context/kubectl.ts'
import type { ClusterResource, ClusterState } from '../model/cluster-state.ts'
import { reportClocks } from './report-clocks.ts'

/** What is missing from the plan without each list. */
const HIDES: Readonly<Record<ClusterResource, string>> = {
  nodes: 'nothing is attached or detached, and attachments of nodes that are gone are not shown',
  pods: 'nothing is attached or detached, since a pod that is not in the list may want the volume',
  volumeattachments: 'nothing is attached or detached',
  persistentvolumes:
    'nothing is attached; attachments of PersistentVolumes that are gone, and volumes attached twice, are not shown',
  persistentvolumeclaims:
    'volumes of pods whose claim is not in the list are unknown, and hold back the detach of every volume that they may be',
  csidrivers:
    'a volume that only the word of its node shows to be free is not detached, and drivers that are gone are not shown',
  csinodes: 'nothing is attached to a node whose CSINode is not known, and drivers that are gone are not shown',
}

export function reportReading(context: ClusterContext, findings: ClusterFindings): void {
  for (const resource of Object.keys(HIDES) as ClusterResource[]) reportList(context, findings, resource)
  reportErrors(context, findings)
  for (const { resource, name } of context.objects.duplicates.slice(0, MOST_OF_A_KIND)) {
    findings.incomplete(
      'ReadFailed',
      `the list of ${resource} has ${name} twice, so that the object counts as unknown`,
      { list: resource, subject: { list: resource } },
      DUPLICATE_HINT,
    )
  }
  reportRights(context, findings)
  reportClocks(context, findings)
  reportApi(context, findings)
}

const MOST_OF_A_KIND = 20
const DUPLICATE_HINT = 'Plan again; if this is a snapshot, take it again.'

function reportList({ state, objects }: ClusterContext, findings: ClusterFindings, resource: ClusterResource): void {
  const sight = state.lists[resource]
  if (sight?.state === 'whole' && objects.isWhole(resource)) return
  const why =
    sight?.state === 'part'
      ? 'was read only in part (namespaces or objects were left out)'
      : 'could not be read as a whole'
  findings.incomplete(
    'ReadFailed',
    `the list of ${resource} ${why}: ${HIDES[resource]}`,
    { list: resource, subject: { list: resource } },
    howToRead(state, resource),
  )
}

/** Where the server failed, another credential does not help. */
function howToRead({ errors }: ClusterState, resource: ClusterResource): string {
  const failed = errors.find((error) => error.resource === resource && error.name === undefined)
  return failed === undefined || failed.status === 403
    ? `Use a credential for which this answers yes: ${kubectl('auth', 'can-i', 'list', resource, '-A')}`
    : `See what the API server answers, then plan again: ${kubectl('get', resource, '-A')}`
}

function reportErrors({ state }: ClusterContext, findings: ClusterFindings): void {
  for (const { resource, namespace, name, message } of state.errors.slice(0, MOST_OF_A_KIND)) {
    const what = [resource, namespace, name].filter((part) => part !== undefined).join('/')
    findings.incomplete('ReadFailed', `${what} could not be read: ${message}`, {
      list: resource,
      subject: { list: resource },
    })
  }
}

/** Looking works without them; only what the plan would carry out is concerned. */
function reportRights({ state }: ClusterContext, findings: ClusterFindings): void {
  const { createAttachments, deleteAttachments } = state.rights
  const ops = new Set(findings.operations.flatMap(({ steps }) => steps.map(({ op }) => op)))
  const missing = [
    ...(createAttachments === false && ops.has('createVolumeAttachment') ? ['create'] : []),
    ...(deleteAttachments === false && ops.has('deleteVolumeAttachment') ? ['delete'] : []),
  ]
  if (missing.length === 0) return
  const text = `this credential may not ${missing.join(' or ')} VolumeAttachments: those operations are blocked`
  findings.problem('warning', 'Forbidden', text, ON_API, credentialFor(missing.join(' and ')))
}

function reportApi({ state, objects, options }: ClusterContext, findings: ClusterFindings): void {
  if (objects.isWhole('nodes') && state.nodes.length === 0) {
    findings.incomplete(
      'ReadFailed',
      'the cluster has no node',
      ON_API,
      'Check --context and --kubeconfig: this may be another cluster.',
    )
  }
  if (state.insecure === undefined || options.acceptInsecureApi === true) return
  findings.problem(
    'warning',
    'InsecureApi',
    `the connection to ${state.server} is not verified: anyone on the network path could have answered in the server's place`,
    ON_API,
    insecureApiHint('--cluster'),
  )
}

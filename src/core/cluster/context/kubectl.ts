/** Commands that a person types on a workstation. */
import { kubectl, podsOn, volctl } from '../../base/command.ts'

export function describeAttachment(name: string): string {
  return kubectl('describe', 'volumeattachment', name)
}

/** By the managers of its fields. */
export function whoCreated(attachment: string): string {
  return kubectl('get', 'volumeattachment', attachment, '-o', 'yaml', '--show-managed-fields')
}

/** Where a driver does not attach or detach. */
export function lookAtAttacher(attachment: string, driver: string): string {
  return `Look at the log of the external attacher of driver ${driver}, and at the attachment: ${describeAttachment(attachment)}`
}

export function lookAtNode(node: string): string {
  return `Look at the node, and at its kubelet: ${kubectl('describe', 'node', node)}`
}

/** Where a driver is not registered. */
export function lookAtNodePod(node: string): string {
  return `See whether the driver's node pod runs there, as its DaemonSet says: ${podsOn(node, '-o', 'wide')}`
}

export function credentialFor(verb: string): string {
  return `Use a credential that may ${verb} volumeattachments (--kubeconfig, --context).`
}

export function deletePod(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  ...more: readonly string[]
): string {
  return kubectl('delete', 'pod', '-n', namespace, name, ...more)
}

export function describePod({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return kubectl('describe', 'pod', '-n', namespace, name)
}

/** The data of a PersistentVolume outlives it. @param name undefined: not known */
export function retain(name = 'NAME'): string {
  return kubectl('patch', 'pv', name, '-p', '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}')
}

/** The order by which Kubernetes itself is shown that a machine is off. */
export function taintOutOfService(node: string): string {
  return kubectl('taint', 'node', node, 'node.kubernetes.io/out-of-service=nodeshutdown:NoExecute')
}

export function untaintOutOfService(node: string): string {
  return kubectl('taint', 'node', node, 'node.kubernetes.io/out-of-service-')
}

/** Where a machine is shown to be off, or is gone for good. */
export function planNodeGone(node: string): string {
  return volctl('plan', '--cluster', '--node-gone', node)
}

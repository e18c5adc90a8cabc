/**
 * The closed set of causes: what keeps volumes of a node from being as they should be. Each code that a finding can have is of
 * one kind, so that screens show causes, and codes stay for scripts.
 */
export const CAUSE_KINDS = {
  machine: 'this is not shown to be the right machine or cluster',
  unread: 'something could not be read, and counts as in use',
  alive: 'a pod still runs, or may',
  kubelet: 'the kubelet runs, stopped a moment ago, or does it itself',
  controller: 'the attach/detach controller or an attacher acts next',
  driver: 'a driver is not there, does not answer, or failed',
  'dead-mount': 'the server or daemon behind a mount is gone',
  'in-use': 'something uses the mount, the device or the data',
  identity: 'nothing proves which volume this is',
  elsewhere: 'another node or pod has the volume, or may write to it',
  foreign: 'something that the kubelet did not make is in the way',
  data: 'data or directories of a deleted pod',
  missing: 'an object that is needed does not exist, or is going away',
  device: 'a device is missing, unknown or damaged',
  volume: 'the volume asks for something that is not possible',
  asked: 'done only where a flag asks for it, or a flag that changes nothing',
  follows: 'it comes after something that did not happen',
  failed: 'a step failed, or was not waited for',
} as const

export type CauseKind = keyof typeof CAUSE_KINDS

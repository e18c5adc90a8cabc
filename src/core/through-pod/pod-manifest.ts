/** The Pod in which a node's command runs: that of deploy/node-pod.yaml, with the command of this run. Pure. */
import { defined } from '../lang/defined.ts'

export interface PodChoice {
  readonly namespace: string
  readonly image: string
  readonly pullPolicy?: string | undefined
  /** Names of secrets in the namespace. */
  readonly pullSecrets: readonly string[]
  /** Whose token volctl uses, whatever credential the node has; absent: the node's own credential. */
  readonly serviceAccount?: string | undefined
  /** How long the Pod may live, pulling the image included. */
  readonly limitSeconds: number
}

export interface PodToMake extends PodChoice {
  readonly name: string
  readonly node: string
  /** What volctl in the Pod is called with. */
  readonly args: readonly string[]
  readonly version: string
  readonly locale?: string | undefined
}

/** Of every Pod that `volctl on` makes, and of no other. */
export const RUN_LABELS = { 'app.kubernetes.io/name': 'volctl', 'app.kubernetes.io/managed-by': 'volctl-on' } as const
export const CONTAINER = 'volctl'
/** Where the node's root directory is mounted. */
export const HOST_ROOT = '/host'

/** What apply gets after SIGTERM to end what it has begun: the time of one operation, and a little. */
const GRACE_SECONDS = 130

/** No requests: nothing is evicted to make room, and a full node takes the Pod. Of the memory, a plan takes a tenth. */
export const RESOURCES = { requests: { cpu: '0', memory: '0' }, limits: { cpu: '2', memory: '1Gi' } } as const

const MAX_NAME = 63
const RANDOM_LENGTH = 5

/** @param random a few letters or digits */
export function podName(node: string, random: string): string {
  const room = MAX_NAME - 'volctl-on--'.length - RANDOM_LENGTH
  return `volctl-on-${node.slice(0, room).replace(/[^a-z0-9]+$/, '')}-${random.slice(0, RANDOM_LENGTH)}`
}

export function podManifest(pod: PodToMake): object {
  const { namespace, name, node, args, version, locale } = pod
  const { image, pullPolicy, pullSecrets, serviceAccount, limitSeconds } = pod
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      labels: { ...RUN_LABELS, ...(isLabelValue(version) && { 'app.kubernetes.io/version': version }) },
    },
    spec: {
      nodeName: node,
      restartPolicy: 'Never',
      activeDeadlineSeconds: limitSeconds,
      terminationGracePeriodSeconds: GRACE_SECONDS,
      // Also where the node is cordoned or under pressure.
      tolerations: [{ operator: 'Exists' }],
      priorityClassName: 'system-node-critical',
      hostPID: true,
      // The API server of some nodes answers on 127.0.0.1 alone; iscsid listens in the node's network.
      hostNetwork: true,
      dnsPolicy: 'Default',
      hostIPC: true,
      // volctl enters the node's mount namespace, and finds the node's own credential there.
      automountServiceAccountToken: serviceAccount !== undefined,
      ...(serviceAccount !== undefined && { serviceAccountName: serviceAccount }),
      enableServiceLinks: false,
      ...(pullSecrets.length > 0 && { imagePullSecrets: pullSecrets.map((secret) => ({ name: secret })) }),
      containers: [
        {
          name: CONTAINER,
          image,
          ...defined({ imagePullPolicy: pullPolicy }),
          command: ['volctl', ...args],
          ...(locale !== undefined && { env: [{ name: 'LC_ALL', value: locale }] }),
          resources: RESOURCES,
          securityContext: { privileged: true, runAsUser: 0 },
          volumeMounts: [{ name: 'host', mountPath: HOST_ROOT, readOnly: true, mountPropagation: 'HostToContainer' }],
        },
      ],
      volumes: [{ name: 'host', hostPath: { path: '/', type: 'Directory' } }],
    },
  }
}

function isLabelValue(text: string): boolean {
  return /^[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?$/.test(text)
}

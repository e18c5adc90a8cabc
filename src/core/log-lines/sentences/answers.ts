/** How a CSI driver, the API server or another server answered: codes of gRPC and of HTTP, time-outs. What follows them says more. */
import { frame, row } from './sentence.ts'

const DRIVERS_LOG =
  "Read the driver's log at the same second: kubectl logs of {driversPod|its pod on the node (mount, unmount) or of its controller (attach, provision, resize)}."

export const ANSWERS = {
  DriverTooSlow: row(
    'code = deadlineexceeded | code = deadlineexceeded … context deadline exceeded | code = deadlineexceeded … timed out | code = deadlineexceeded … timeout',
    'The CSI driver {driver|of the volume} did not answer in time. The call may still be at work in the driver or its storage.',
    "Find what the driver waits for: its log shows the call without an end. Most often the storage's API or a mount on the node hangs. The call is tried again.",
    { unchecked: 'volctl does not see what the driver is doing' },
  ),
  DriverGaveUp: row(
    'code = aborted',
    'The CSI driver {driver|of the volume} gave the call up for now: another one is at work on the volume, or the volume is not ready for it.',
    `The call is tried again. If it stays, the end of the line says what is waited for. ${DRIVERS_LOG}`,
    {
      codes: ['OperationPending', 'DriverFailed'],
      rules: ['C119'],
      unchecked: 'volctl does not see what the driver is doing',
    },
  ),
  DriverNotServing: row(
    'code = unavailable',
    "The CSI driver {driver|of the volume}, or the storage behind it, could not be reached: the driver's own word is at the end of the line.",
    "See that the driver's pods run: kubectl get pods -A -o wide. If they do, the driver cannot reach its storage: its log has the address.",
    { about: 'driver' },
  ),
  DriverPrecondition: row(
    'code = failedprecondition',
    'The CSI driver {driver|of the volume} refuses, because the volume or the node is not in the state that this call needs.',
    `The end of the line says which state: in use elsewhere, not staged, not ready, being deleted. ${DRIVERS_LOG}`,
  ),
  DriverExhausted: row(
    'code = resourceexhausted',
    'A limit is reached: space, quota, number of volumes on the node, or requests to the storage.',
    'The end of the line says which one. Free space or volumes, raise the quota, or use another node: kubectl get csinode {node} -o yaml shows the limit of attached volumes.',
  ),
  DriverDenied: row(
    'code = permissiondenied',
    'The storage does not allow the driver to do this.',
    "Check the rights of the driver's account at the storage or cloud, and the secret that its StorageClass or PersistentVolume refers to.",
  ),
  DriverUnauthenticated: row(
    'code = unauthenticated',
    "The storage does not accept the driver's credential.",
    "The secret or cloud identity of the driver is wrong, missing or expired. Renew it, then restart the driver's pod.",
  ),
  DriverNotFound: row(
    'code = notfound',
    'The storage does not have what the driver asked for: the volume, snapshot or node is unknown there.',
    "Compare the volume handle (kubectl get pv {persistentVolume|NAME} -o yaml) with the storage's own list. If somebody deleted the volume there, its data is gone: recover it from a backup.",
  ),
  DriverAlreadyExists: row(
    'code = alreadyexists',
    'The storage has a volume or snapshot of this name with other parameters, or the volume is set up with other options.',
    'Compare size and parameters of the two in the storage. A left-over from an earlier attempt has to be removed there, after a look at what is in it.',
  ),
  DriverOutOfRange: row(
    'code = outofrange | volume size is to small | size is too small | size is too large',
    'The size that is asked for is not one that the storage offers.',
    'Compare the request of the claim with the smallest and largest size of the StorageClass; a volume cannot shrink.',
  ),
  DriverInvalidArgument: row(
    'code = invalidargument',
    'The CSI driver {driver|of the volume} refuses a parameter: of the StorageClass, of the volume, or a mount option.',
    'The end of the line names it. Compare the parameters of StorageClass and PersistentVolume with the documentation of this version of the driver.',
  ),
  DriverUnimplemented: row(
    'code = unimplemented',
    'The CSI driver {driver|of the volume} does not offer this function.',
    'Use a version of the driver that does, or leave the function out of the pod or StorageClass (raw block, snapshot, expansion, ReadWriteMany).',
  ),
  DriverInternalError: frame(
    'code = internal',
    'The CSI driver failed. What it says of the reason is at the end of the line.',
    DRIVERS_LOG,
    { envelope: true },
  ),
  DriverUnknownError: frame(
    'code = unknown',
    'The CSI driver failed without a code. What it says of the reason is at the end of the line.',
    DRIVERS_LOG,
    { envelope: true },
  ),
  CallCanceled: row(
    'code = canceled | context canceled',
    'The call was given up by whoever made it: a time limit was over, or the program was being stopped.',
    'Nothing, if it does not come again. If it does, look what makes the call so slow: the lines before this one.',
  ),
  DriverDataLoss: row(
    'code = dataloss',
    'The storage reports that data of the volume is lost.',
    'Stop the pods that use the volume and look at its state in the storage before anything writes to it.',
  ),
  TimedOutWaiting: row(
    'context deadline exceeded | timed out waiting for the condition | client.timeout exceeded while awaiting headers | client.timeout or context cancellation | i/o timeout | operation timed out | timeout expired | request timed out | request did not complete within | timeout after | timed out after | aws_io_socket_timeout | timeout waiting | timing out',
    'Something did not answer or happen in time.',
    'What was waited for stands before these words: a driver (see its pod and log), the API server, the storage, or a container that does not stop. It is tried again.',
  ),
  SocketDead: row(
    'dial unix … connection refused | dial unix … no such file or directory | dial unix … i/o timeout | dial unix … context deadline exceeded | transport: error while dialing | failed to connect to … .sock | connection error: desc = | dial failed at socket | error connecting to csi driver | lost connection to … .sock | still connecting to unix | still trying to connect | still trying, connection is | csi.sock timed out | grpc: the connection is unavailable | failed to establish connection to csi driver | failed to connect to the csi driver | csi driver … connection … transient_failure | lost connection to csi driver | csi.sock transient_failure | csi.sock … connection timed out',
    'Nothing listens on the socket of the CSI driver: its pod on this node does not run, crashed or is just starting.',
    "See the driver's pod on {node}: kubectl get pods -A -o wide --field-selector spec.nodeName={node}; then its log. Once it runs, the call is tried again.",
    { about: 'driver' },
  ),
  TlsFailed: row(
    'x509: | tls handshake timeout | tls: handshake failure | certificate has expired | certificate signed by unknown authority',
    'The certificate of the server could not be verified, or the connection did not come about.',
    'An expired certificate, a wrong CA or a clock that is off (timedatectl). Renew the certificate, or correct the CA that the caller was given.',
  ),
  NotPermitted: row(
    'forbidden: user … cannot | cannot get resource | cannot list resource | cannot patch resource | cannot update resource | cannot create resource | cannot watch resource',
    'The API server does not allow this user or service account to do that.',
    'The line names user, verb and resource. Give the role back that belongs to the component (its ClusterRole and binding): a reinstallation of the driver does that.',
  ),
  NotAuthorized: row(
    'unauthorized | the server has asked for the client to provide credentials',
    'The API server or storage does not accept the credential.',
    'It is expired or wrong: renew the kubeconfig, token or secret of the program that wrote the line.',
  ),
  ServerUnreachable: row(
    'dial tcp … connection refused | dial tcp … no route to host | dial tcp … network is unreachable | the connection to the server … was refused | dial tcp … i/o timeout | failed to connect to | could not connect to | unable to connect to | cannot connect to | cant connect to | failed to establish connection | dial tcp … operation not permitted | failed to dial all',
    'A server cannot be reached: the API server, a webhook, the storage, or another part of the same program.',
    'See whether what the address in the line stands for runs: the API server, or the webhook, storage or metadata service. Then the network between.',
  ),
  NameNotResolved: row(
    'no such host | could not resolve host | could not resolve | name or service not known | temporary failure in name resolution | failed to resolve server | server misbehaving',
    'A host name could not be resolved.',
    "Try it on {node}: getent hosts {server|NAME}. Mounts use the node's resolver (/etc/resolv.conf), not the cluster's DNS: a name such as nfs.default.svc is unknown there.",
    { unchecked: 'volctl does not resolve names' },
  ),
  Throttled: row(
    'too many requests | rate limit | rate exceeded | requestlimitexceeded | request limit exceeded | ratelimitexceeded | throttling | throttled | http status code 429 | statuscode 429 | over limit | per minute per',
    'Too many requests: a cloud or API server slows the caller down.',
    'Wait: it is tried again, with pauses. If it stays: many volumes are attached or provisioned at once, or another program uses up the quota of requests.',
  ),
  NotAnAnswer: row(
    'looking for beginning of value | looking for beginning of object key | expected element type … but have | unexpected end of json input | json: cannot unmarshal | json: syntax error | unexpected content type',
    'What was read is not in the form that was expected: an error text, a web page or nothing in place of data.',
    'The words before it say what was read. A secret: its value is empty or no JSON. A FlexVolume program: start it by hand. An API: a proxy or another service answers at its address (curl -v).',
  ),
  ObjectChanged: row(
    'the object has been modified | please apply your changes to the latest version | operation cannot be fulfilled on',
    'Somebody else has changed the object in the API meanwhile. The change is tried again on the new version.',
    'Nothing, unless it repeats for minutes: then two controllers write the same object.',
    { harmless: true },
  ),
  RuntimeHasNot: row(
    'rpc error of the runtime: notfound',
    'The container runtime does not have that container, pod sandbox or image: it ended or was removed meanwhile.',
    'Nothing, if the line stops: the kubelet notices. If it repeats: crictl pods and crictl ps -a on {node}, against kubectl get pods.',
    { by: ['kubelet'], about: 'pod' },
  ),
  RuntimeOffersNot: row(
    'rpc error of the runtime: unimplemented',
    'The container runtime does not offer this call: its version does not fit the kubelet, or its CRI part is switched off.',
    "crictl info on {node}; containerd's config.toml must not have cri in disabled_plugins. Then restart runtime and kubelet.",
    { by: ['kubelet'], codes: ['RuntimeUnknown'] },
  ),
  RuntimeCallFailed: frame(
    'rpc error of the runtime: | handler for post | handler for get | handler for delete',
    'The container runtime (containerd, CRI-O) failed at what the kubelet asked of it; no CSI driver is meant.',
    "The end of the line is the runtime's reason; journalctl -u containerd or -u crio on {node} has the lines around it.",
    { by: ['kubelet'], about: 'pod', envelope: true },
  ),
  ApiLacksKind: row(
    'the server could not find the requested resource | no matches for kind | the server doesnt have a resource type | unknown field spec. | unknown field status. | custom resource definition is terminating',
    'The API server has no such kind or field: the program is older or newer than the cluster, or a CRD is missing, old or being deleted.',
    'kubectl api-resources shows what there is. Take the release of the driver or sidecar that fits the cluster, and install its CRDs.',
  ),
  ApiSlow: row(
    'rpc error of the api: | rpc error of the api: … transport is closing | etcdserver: request timed out | etcdserver: leader changed | etcdserver: no leader | apiserver not ready | the server was unable to return a response in the time allotted | the server is currently unable to handle the request | http2: client connection lost | unable to connect to the server',
    'The API server could not answer: it, or etcd behind it, is overloaded or was just starting.',
    'Nothing for the volume. If it stays: kubectl get --raw /readyz, and the log of etcd (slow disk, lost members).',
  ),
  WebhookFailed: row(
    'failed calling webhook | admission webhook … denied the request',
    'An admission webhook refused the change in the API, or did not answer.',
    'The line names the webhook. If it does not answer, see its pods; if it refuses, its own sentence says why.',
  ),
  ObjectInvalid: row(
    'is invalid: spec | is invalid: metadata | is invalid: status | is invalid: data',
    'The API server refuses the object, since a field of it has a value that is not allowed.',
    'The line names the field and says what is allowed. Correct it where the object comes from: of a pod mostly the template of its Deployment or StatefulSet.',
  ),
} as const

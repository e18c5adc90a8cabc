/** The API server, and the credential that volctl asks it with. */
import type { CodeEntry } from './code-entry.ts'

export const API_CODES = {
  ApiUnreachable: {
    in: ['outcome', 'error'],
    cause: 'unread',
    means: 'the API server cannot be reached, or does not answer in time',
    next: 'Check that the API server is up, that the server address in the kubeconfig is right, and that no firewall or proxy swallows the connection.',
  },
  TlsMismatch: {
    in: ['outcome', 'error'],
    cause: 'unread',
    means: 'the API server and the credential do not trust each other',
    next: "Check the kubeconfig's certificate-authority, tls-server-name and client certificate, and this host's clock.",
  },
  Unauthorized: {
    in: ['outcome', 'error'],
    cause: 'unread',
    means: 'the API server does not accept the credential',
    next: 'Log in again, or give another credential with --kubeconfig or --context.',
  },
  Forbidden: {
    in: ['blocked', 'problem', 'error'],
    cause: 'unread',
    means: 'the credential lacks the right',
    next: 'Give this identity the right, or use another credential (--kubeconfig, --context).',
    rules: ['S3', 'S31'],
  },
  NotFound: {
    in: ['outcome', 'error'],
    cause: 'unread',
    means: 'nothing of that name exists, in the API or on this node',
    next: 'Check the name, the namespace and --context; volctl explain --help says what may be named.',
  },
  Conflict: {
    in: ['outcome', 'error'],
    cause: 'unread',
    means: 'an object of the API was changed meanwhile',
    next: 'Plan again.',
    rules: ['S26'],
  },
  ApiFailed: {
    in: ['outcome', 'error'],
    cause: 'unread',
    means:
      'the API server failed, refused a request, or gave an answer that no API server gives; the message says which',
    next: 'Look at the words of the API server, into its log, and at what stands between (a proxy, an admission webhook); then try again.',
    rules: ['S34'],
  },
  ReadFailed: {
    in: ['problem', 'outcome'],
    cause: 'unread',
    means: 'something that is needed was not read, or not whole, so that it counts as unknown and in use',
    next: 'The message says what: give the credential the right to read it, or use another one (--kubeconfig); then plan again.',
    rules: ['S3', 'S2', 'S1', 'S29'],
  },
  InsecureApi: {
    in: ['problem', 'refusal'],
    cause: 'unread',
    means: 'the API server is not verified: anyone on the network path could have answered in its place',
    next: 'Use a kubeconfig with an https server and its certificate-authority. Or, if nobody else can be on the network path: volctl apply --accept-insecure-api',
    rules: ['S34'],
  },
  NoKubeconfig: {
    in: ['error'],
    means: 'there is no kubeconfig, in the usual places or where one was named',
    next: 'Give one with --kubeconfig or KUBECONFIG; --verbose lists the places that were looked at.',
  },
  KubeconfigInvalid: {
    in: ['error'],
    means:
      'the kubeconfig cannot be read, is not valid, or has not what is asked of it: a context, a cluster, a user, a way to log in',
    next: 'Check the file: kubectl config view --kubeconfig FILE; choose a context with --context.',
  },
  KubeconfigUnsafe: {
    in: ['error'],
    means:
      'someone other than root could have written the kubeconfig or a file that it names, or it starts a program and was not given',
    next: 'Copy it to where only root may write, and name the copy with --kubeconfig.',
    rules: ['S33'],
  },
  CredentialFailed: {
    in: ['outcome', 'error'],
    cause: 'unread',
    means:
      'the kubeconfig gives no credential: its plugin failed, a file that it names cannot be read, or a token has expired',
    next: 'Run the plugin by hand, check the file or log in again; or use another credential (--kubeconfig).',
  },
} as const satisfies Readonly<Record<string, CodeEntry>>

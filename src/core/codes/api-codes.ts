/** The API server, and the credential that volctl asks it with. */
import type { CodeEntry } from './code-entry.ts'

export const API_CODES = {
  ReadFailed: {
    in: ['problem'],
    means: 'the API server did not give an object, so that the object counts as unknown',
    next: 'Give the credential the right to read it, or use another one (--kubeconfig); then plan again.',
    rules: ['S3'],
  },
  InsecureApi: {
    in: ['problem', 'refusal'],
    means: 'the API server is not verified: anyone on the network path could have answered in its place',
    next: 'Use a kubeconfig with an https server and its certificate-authority. Or, if nobody else can be on the network path: volctl apply --accept-insecure-api',
    rules: ['S34'],
  },
  ApiUnreachable: {
    in: ['outcome', 'error'],
    means: 'there is no connection to the API server',
    next: 'Check that the API server is up, and that the server address in the kubeconfig is right.',
  },
  Timeout: {
    in: ['outcome', 'error'],
    means: 'the API server did not answer in time',
    next: 'Check that the API server is up, and that no firewall or proxy swallows the connection.',
  },
  TlsMismatch: {
    in: ['outcome', 'error'],
    means: 'the API server and the credential do not trust each other',
    next: "Check the kubeconfig's certificate-authority, tls-server-name and client certificate, and this host's clock.",
  },
  Unauthorized: {
    in: ['outcome', 'error'],
    means: 'the API server does not accept the credential',
    next: 'Log in again, or give another credential with --kubeconfig or --context.',
  },
  Forbidden: {
    in: ['blocked', 'error'],
    means: 'the credential lacks the right',
    next: 'Give this identity the right, or use another credential (--kubeconfig, --context).',
    rules: ['S3'],
  },
  NotFound: {
    in: ['outcome', 'error'],
    means: 'nothing of that name exists, in the API or on this node',
    next: 'Check the name, the namespace and --context; volctl explain --help says what may be named.',
  },
  Conflict: {
    in: ['outcome', 'error'],
    means: 'an object of the API was changed meanwhile',
    next: 'Plan again.',
    rules: ['S26'],
  },
  Expired: {
    in: ['outcome', 'error'],
    means: 'a list of the API server changed faster than it could be read',
    next: 'Run the command again.',
  },
  Invalid: {
    in: ['outcome', 'error'],
    means: 'the API server considers a request invalid',
    next: 'Look at the words of the API server; else report it as a defect of volctl.',
  },
  TooManyRequests: {
    in: ['outcome', 'error'],
    means: 'the API server is overloaded',
    next: 'Try again later.',
  },
  ApiServerError: {
    in: ['outcome', 'error'],
    means: 'the API server failed',
    next: "Look into the API server's log; then try again.",
  },
  ApiRefused: {
    in: ['outcome', 'error'],
    means: 'the API server refused a request',
    next: 'Look at the words of the API server, and at what stands between (a proxy, an admission webhook).',
  },
  AnswerTooLarge: {
    in: ['outcome', 'error'],
    means: 'an answer of the API server is larger than any that a cluster gives',
    next: 'Check that the server in the kubeconfig is a Kubernetes API server.',
    rules: ['S34'],
  },
  BadAnswer: {
    in: ['outcome', 'error'],
    means: 'an answer is not what an API server says',
    next: 'Check that the server in the kubeconfig is a Kubernetes API server, and that no proxy changes its answers.',
    rules: ['S34'],
  },
  NoKubeconfig: {
    in: ['error'],
    means: 'no kubeconfig was found in the usual places',
    next: 'Give one with --kubeconfig or KUBECONFIG; --verbose lists the places that were looked at.',
  },
  KubeconfigMissing: {
    in: ['error'],
    means: 'the kubeconfig does not exist',
    next: 'Check --kubeconfig and KUBECONFIG.',
  },
  KubeconfigUnreadable: {
    in: ['error'],
    means: 'the kubeconfig cannot be read',
    next: 'Run as root, or check the file.',
  },
  KubeconfigDamaged: {
    in: ['error'],
    means: 'the kubeconfig is not valid, or names a cluster or user that it does not have',
    next: 'Check the file: kubectl config view --kubeconfig FILE',
  },
  KubeconfigUnsafe: {
    in: ['error'],
    means: 'somebody other than root could have written the kubeconfig',
    next: 'Copy it to where only root may write, and name the copy with --kubeconfig.',
    rules: ['S33'],
  },
  KubeconfigChanged: {
    in: ['outcome', 'error'],
    means: 'the kubeconfig names another server than when the command began',
    next: 'Begin again: volctl plan shows which server it is.',
  },
  NotAKubeconfig: {
    in: ['error'],
    means: 'the file is of another kind than a kubeconfig',
    next: 'Give a file of kind Config.',
  },
  NoContext: {
    in: ['error'],
    means: 'the kubeconfig has no current context',
    next: 'Choose one with --context.',
  },
  UnknownContext: {
    in: ['error'],
    means: 'the kubeconfig has no context of that name',
    next: 'Choose one of its contexts with --context: kubectl config get-contexts',
  },
  CredentialUnsafe: {
    in: ['error'],
    means: 'somebody other than root could have written a file that the kubeconfig names',
    next: 'Copy it to where only root may write, and let the kubeconfig name the copy.',
    rules: ['S33'],
  },
  CredentialUnreadable: {
    in: ['error'],
    means: 'a file that the kubeconfig names cannot be read',
    next: 'Run as root, or check the file.',
  },
  CredentialPlugin: {
    in: ['outcome', 'error'],
    means: "the kubeconfig's credential plugin gave no credential",
    next: 'Run the plugin by hand, or use another credential (--kubeconfig).',
  },
  CredentialStartsProgram: {
    in: ['error'],
    means: 'the kubeconfig starts a program, and was only found, not given',
    next: 'If root may run that program, give the file with --kubeconfig.',
    rules: ['S33'],
  },
  AuthProviderUnsupported: {
    in: ['error'],
    means: 'the kubeconfig logs in with an auth-provider that volctl does not know',
    next: 'Log in with an exec plugin (kubelogin, gke-gcloud-auth-plugin), or use another credential.',
  },
  TokenExpired: {
    in: ['outcome', 'error'],
    means: 'an OpenID token has expired, and could not be renewed',
    next: 'Log in again, or use another credential. See which one works: kubectl get nodes',
  },
} as const satisfies Readonly<Record<string, CodeEntry>>

/** How a command, an operation or an apply ends, what a person gave to it, and what the API server says. */
import type { CodeEntry } from './code-entry.ts'

export const RUN_CODES = {
  Changed: {
    in: ['blocked', 'error'],
    cause: 'follows',
    means:
      'a fresh look does not plan the operation any more, or not in the same way; or the node was booted after the plan was made',
    remedy: 'Plan again, and look at what has changed.',
    rules: ['S26'],
  },
  FileDamaged: {
    in: ['error'],
    means:
      'a file is no snapshot or plan file, is cut off, damaged or too large, or was written by a version of volctl that this one does not read',
    next: 'Take it again; a snapshot: volctl snapshot --output FILE',
    rules: ['S34'],
  },
  Locked: {
    in: ['outcome', 'error'],
    cause: 'failed',
    means:
      'another apply is at work, or the lock that keeps two apart could not be taken or kept, or was taken over from one that died',
    next: 'Wait for the other one to end, or look at the file or the lease that the message names.',
    rules: ['S33'],
  },
  Refused: {
    in: ['blocked'],
    cause: 'machine',
    means: 'a safety rule refuses the plan as a whole',
    next: 'See what the plan says of the refusal; volctl explain says what its code means.',
  },
  Predecessor: {
    in: ['blocked'],
    cause: 'follows',
    means: 'an operation that has to come first is blocked, failed, or is not part of the apply',
    next: 'See what became of the operation that has to come first, and resolve that; leave it out with no flag (--only, --skip, --pod, --volume).',
    rules: ['S26'],
  },
  AlreadyDone: {
    in: ['blocked'],
    cause: 'follows',
    means: 'the node is as the operation of a plan file would make it: somebody carried it out before',
    next: 'Nothing. volctl journal shows who did it, if it was volctl.',
    rules: ['S26'],
  },
  StillAtWork: {
    in: ['outcome'],
    cause: 'failed',
    means: 'a call was abandoned, by the deadline or at the second interruption, and may still be running',
    remedy: 'Wait until the call has ended, or reboot; then plan again.',
    rules: ['C119'],
  },
  TimedOut: {
    in: ['outcome', 'error'],
    cause: 'failed',
    means: 'a call, or an external attacher, did not finish within --timeout',
    remedy:
      'Bring the storage or the driver back, and look at its log; then plan again, with a longer --timeout if it is only slow.',
    rules: ['S34', 'N59'],
  },
  Interrupted: {
    in: ['outcome', 'error'],
    cause: 'failed',
    means: 'the command was interrupted before it began this',
    next: 'Run it again; volctl journal shows what an apply has done.',
  },
  Unexpected: {
    in: ['outcome', 'error'],
    cause: 'failed',
    means: 'the command or the operation failed in a way that volctl does not know',
    remedy: 'Run it again with --verbose, and report what it prints as a defect of volctl.',
  },
  CommandMissing: {
    in: ['outcome', 'error'],
    cause: 'failed',
    means: 'a program that is needed is not installed on this host',
    next: 'Install the package that the message names.',
  },
  CommandFailed: {
    in: ['outcome', 'error'],
    cause: 'failed',
    means: 'a program failed, or could not be started',
    remedy: 'Run the program by hand, and see what it says; then plan again.',
  },
  NotRoot: {
    in: ['error'],
    means: "apply needs root, with all of root's capabilities",
    next: 'Run it with sudo, or with the capabilities that the message names.',
  },
  NotConfirmed: {
    in: ['error'],
    means: 'apply asked, and the answer was not yes: nothing was changed',
    next: 'Answer yes, or give --yes.',
    rules: ['S31'],
  },
  JournalFailed: {
    in: ['outcome', 'error'],
    cause: 'unread',
    means: 'the journal could not be written',
    remedy:
      'Apply does nothing that it could not record first: free space on the disk, or name another directory with --journal.',
    rules: ['S14'],
  },
  Usage: {
    in: ['error'],
    means: 'a flag or an argument is not one that the command takes, or not in that form',
    next: 'See volctl COMMAND --help.',
  },
  NothingNamed: {
    in: ['problem', 'error'],
    cause: 'asked',
    means:
      'a flag gives a name (--pod, --namespace, --volume, --device; with --cluster also --node, --node-gone) that nothing on this node, or in this cluster, has',
    next: 'Give the name as the plan shows it, or --ignore-not-found.',
  },
  AmbiguousName: {
    in: ['problem', 'error'],
    cause: 'asked',
    means: 'several things on this node have the name that explain or --pod was given',
    next: 'Name one of those that the message lists: for explain with pod/, pvc/, pv/, va/, volume/, device/ or path/ before the name, for --pod as NAMESPACE/NAME or as a whole UID.',
  },
  FileUnreadable: {
    in: ['error'],
    means: 'a snapshot, plan file or journal cannot be read',
    remedy: 'Check the path, and who may read it.',
  },
  NotWritten: {
    in: ['error'],
    means: 'a file, or the output, could not be written',
    remedy: 'Check the directory, the space on its file system, and what reads the output.',
  },
  NotReached: {
    in: ['error'],
    means: 'the time of wait was up before the condition was reached',
    next: 'Wait longer with --timeout; or look at one that was not reached: volctl explain NAME',
    rules: ['R472'],
  },

  // The API server, and the credential that volctl asks it with.
  ApiUnreachable: {
    in: ['outcome', 'error'],
    cause: 'unread',
    means: 'the API server cannot be reached, or does not answer in time',
    remedy:
      'Check that the API server is up, that the server address in the kubeconfig is right, and that no firewall or proxy swallows the connection.',
  },
  TlsMismatch: {
    in: ['outcome', 'error'],
    cause: 'unread',
    means: 'the API server and the credential do not trust each other',
    remedy:
      "Check the kubeconfig's certificate-authority, tls-server-name and client certificate, and this host's clock.",
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
    remedy: 'Plan again.',
    rules: ['S26'],
  },
  ApiFailed: {
    in: ['outcome', 'error'],
    cause: 'unread',
    means:
      'the API server failed, refused a request, or gave an answer that no API server gives; the message says which',
    remedy:
      'Look at the words of the API server, into its log, and at what stands between (a proxy, an admission webhook); then try again.',
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
    remedy:
      'Use a kubeconfig with an https server and its certificate-authority. Or, if nobody else can be on the network path, give apply --accept-insecure-api.',
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

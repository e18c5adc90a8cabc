/** Where this node's container runtime listens: what a person says, then what the kubelet and crictl(1) are told (S8, S9). */
import { dirname } from 'node:path'
import { load } from 'js-yaml'
import { VolctlError } from '../errors/errors.ts'
import { unixSocketPath } from '../grpc/unix-socket.ts'
import { addDoubt } from '../trust/doubts.ts'
import { environment } from '../trust/environment.ts'
import { checkTrusted, NotTrusted, TRUST_HINT, trustedTextIfAny } from '../trust/files.ts'

/** Where crictl looks when nothing else is said. */
const CRICTL_CONFIG = '/etc/crictl.yaml'

export interface RuntimeEndpoints {
  /** That it does not answer is an error. */
  readonly required: readonly string[]
  /** Beside the required one. */
  readonly others: readonly string[]
}

/**
 * Whoever is named first has to answer; the others are asked as well, for all that answer are united (S9).
 *
 * @param given --runtime-endpoint
 * @param configured the kubelet's
 * @throws VolctlError Usage for a `given` that is no unix socket
 */
export function runtimeEndpoints(
  given: string | undefined,
  configured: string | undefined,
  variable = environment().CONTAINER_RUNTIME_ENDPOINT,
  crictlConfig = CRICTL_CONFIG,
): RuntimeEndpoints {
  if (given !== undefined && unixSocketPath(given) === undefined) {
    throw new VolctlError('Usage', `--runtime-endpoint: "${given}" is not a unix socket`, {
      hint: 'Give a socket such as unix:///run/containerd/containerd.sock.',
    })
  }
  const told = [given, configured, believed(variable, 'CONTAINER_RUNTIME_ENDPOINT')].filter(isGiven)
  const crictls = believed(crictlsEndpoint(crictlConfig), crictlConfig)
  return { required: told.slice(0, 1), others: [...told.slice(1), ...(crictls === undefined ? [] : [crictls])] }
}

/** An empty text is none, wherever it is given. */
function isGiven(endpoint: string | undefined): endpoint is string {
  return endpoint !== undefined && endpoint !== ''
}

/** Only a socket that nobody but root could have put there speaks for who lives (S32). */
function believed(endpoint: string | undefined, source: string): string | undefined {
  const path = endpoint === undefined ? undefined : unixSocketPath(endpoint)
  if (path === undefined) return undefined
  try {
    checkTrusted(dirname(path))
    return endpoint
  } catch (error) {
    if (!(error instanceof NotTrusted)) return endpoint
    addDoubt({ what: `${path} (${source})`, why: `not asked: ${error.why}`, hint: TRUST_HINT })
    return undefined
  }
}

function crictlsEndpoint(file: string): string | undefined {
  const found = trustedTextIfAny(file)
  if (found.state === 'unusable') addDoubt({ what: file, why: `ignored: ${found.why}`, hint: TRUST_HINT })
  if (found.state !== 'read') return undefined
  try {
    const endpoint = (load(found.text) as Readonly<Record<string, unknown>> | undefined)?.['runtime-endpoint']
    return typeof endpoint === 'string' ? endpoint : undefined
  } catch {
    // crictl's own file, and not its own way to be wrong: the usual places are asked all the same.
    return undefined
  }
}

/**
 * Where this node's container runtime listens: by --runtime-endpoint, otherwise by the kubelet's or crictl(1)'s configuration
 * (S8, S9).
 */
import { dirname } from 'node:path'
import { load } from 'js-yaml'
import { VolctlError } from '../errors/errors.ts'
import { unixSocketPath } from '../grpc/unix-socket.ts'
import { addDoubt } from '../trust/doubts.ts'
import { environment } from '../trust/environment.ts'
import { checkTrusted, NotTrusted, TRUST_HINT, trustedTextIfAny } from '../trust/files.ts'

/** crictl's own configuration file. */
const CRICTL_CONFIG = '/etc/crictl.yaml'

export interface RuntimeEndpoints {
  /** If one of these does not answer, that is an error. */
  readonly required: readonly string[]
  /** Asked in addition. */
  readonly others: readonly string[]
}

/**
 * The endpoint that is named first must answer. The others are asked as well, and all answers are merged (S9).
 *
 * @param given --runtime-endpoint
 * @param configured the kubelet's endpoint
 * @throws VolctlError Usage for a `given` that is not a unix socket
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
  const named = [given, configured, believed(variable, 'CONTAINER_RUNTIME_ENDPOINT')].filter(isGiven)
  const crictls = believed(crictlsEndpoint(crictlConfig), crictlConfig)
  return { required: named.slice(0, 1), others: [...named.slice(1), ...(crictls === undefined ? [] : [crictls])] }
}

/** An empty endpoint counts as none. */
function isGiven(endpoint: string | undefined): endpoint is string {
  return endpoint !== undefined && endpoint !== ''
}

/** A socket's answer about which pods run only counts if nobody but root could have put the socket there (S32). */
function believed(endpoint: string | undefined, source: string): string | undefined {
  const path = endpoint === undefined ? undefined : unixSocketPath(endpoint)
  if (path === undefined) return undefined
  try {
    checkTrusted(dirname(path))
    return endpoint
  } catch (error) {
    if (!(error instanceof NotTrusted)) return endpoint
    addDoubt({ what: `${path} (${source})`, why: `this socket is not asked: ${error.why}`, hint: TRUST_HINT })
    return undefined
  }
}

function crictlsEndpoint(file: string): string | undefined {
  const found = trustedTextIfAny(file)
  if (found.state === 'unusable') addDoubt({ what: file, why: `this file is ignored: ${found.why}`, hint: TRUST_HINT })
  if (found.state !== 'read') return undefined
  try {
    const endpoint = (load(found.text) as Readonly<Record<string, unknown>> | undefined)?.['runtime-endpoint']
    return typeof endpoint === 'string' ? endpoint : undefined
  } catch {
    // A damaged file of crictl's is no error of this node: the usual places are asked anyway.
    return undefined
  }
}

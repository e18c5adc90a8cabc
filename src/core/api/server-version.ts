import { kept, needed, text } from '../json/shape.ts'
import type { KubeClient } from './kube-client.ts'
import { received } from './received-objects.ts'

const versionAnswer = kept<{ readonly gitVersion: string }>({ gitVersion: needed(text) })

/** The API server's version, e.g. "v1.36.2". @throws ApiError */
export async function serverVersion(client: KubeClient, signal?: AbortSignal): Promise<string> {
  const answer = await client.get('/version', { signal, plain: true })
  return received(versionAnswer, answer, { client, request: 'GET /version' }).gitVersion
}

import { GrpcError } from '../grpc/grpc-error.ts'

/** Shorter values would blot out half of any message, and hide nothing: "ro", "yes". */
const SHORTEST_SECRET = 4

/** Passes a call's result on; where it failed, with none of these values left in the driver's words (C118). */
export async function maskSecrets<T>(secrets: readonly string[], call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    if (!(error instanceof GrpcError)) throw error
    const details = mask(error.details, secrets)
    if (details === error.details) throw error
    // The original is not kept as a cause: it holds what was masked.
    throw new GrpcError(error.code, details, { method: error.method, socketPath: error.socketPath })
  }
}

function mask(text: string, secrets: readonly string[]): string {
  let masked = text
  // The longest first: one secret may be part of another.
  for (const secret of [...secrets].sort((a, b) => b.length - a.length)) {
    if (secret.length >= SHORTEST_SECRET) masked = masked.replaceAll(secret, '***')
  }
  return masked
}

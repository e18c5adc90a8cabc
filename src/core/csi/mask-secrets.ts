import { GrpcError } from '../grpc/grpc-error.ts'

/** Masking shorter values ("ro", "yes") would make messages unreadable, and hide nothing. */
const SHORTEST_SECRET = 4

/** Passes on a call's result; if it fails, these values are masked in the driver's message (C118). */
export async function maskSecrets<T>(secrets: readonly string[], call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    if (!(error instanceof GrpcError)) throw error
    const details = mask(error.details, secrets)
    if (details === error.details) throw error
    // The original error is not kept as a cause, since it has the secrets.
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

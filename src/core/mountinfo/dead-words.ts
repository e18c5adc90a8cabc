/** A dead mount's error in words that people know, with the errno's name. */
const WORDS: Readonly<Record<string, string>> = {
  ENOTCONN: 'transport endpoint is not connected',
  ESTALE: 'stale file handle',
  EIO: 'input/output error',
  EHOSTDOWN: 'host is down',
  ENODEV: 'no such device',
  ECONNABORTED: 'connection aborted',
  Timeout: 'no answer in time',
}

export function deadWords(error: string): string {
  const words = WORDS[error]
  if (words === undefined) return error
  return error === 'Timeout' ? words : `${words} (${error})`
}

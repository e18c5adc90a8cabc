/**
 * What Node.js, its parts and the libraries below have read from the environment by the time the first line of JavaScript runs.
 * The end of the list is what glibc itself keeps from programs that have more rights than their caller, but for TMPDIR, which nothing
 * has asked for by then, and which many people have: it is only taken away.
 */
export const READ_EARLY =
  /^(NODE_|OPENSSL|SSL_|UV_|ICU_|LD_|MALLOC_|GLIBC_TUNABLES|GCONV_PATH|GETCONF_DIR|HOSTALIASES|LOCALDOMAIN|LOCPATH|NIS_PATH|NLSPATH|RESOLV_HOST_CONF|RES_OPTIONS|TZDIR)/

/**
 * Variables that Node.js asks for in C++, and where their names stand in its program. It asks for some before the first line of
 * JavaScript: with NODE_COMPILE_CACHE it runs what it finds in that directory, as whoever calls it (S33). V8 writes the length before a
 * text of JavaScript; the other names are constants'.
 */
export function nodeVariables(program: Buffer): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>()
  for (const { 0: name, index: at } of program
    .toString('latin1')
    .matchAll(/(?<=\0)NODE_(?!PERFORMANCE_|SEA_)[A-Z\d_]+(?=\0)/g))
    if (program.readUInt32LE(at - 4) !== name.length) found.set(name, [...(found.get(name) ?? []), at])
  return found
}

/** Takes the names out: nobody can set a variable without a name. */
export function withoutVariables(program: Buffer): Buffer {
  const copy = Buffer.from(program)
  for (const places of nodeVariables(program).values()) for (const at of places) copy[at] = 0
  return copy
}

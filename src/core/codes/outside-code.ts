/**
 * A code that others gave: an errno of the kernel, a code of Node.js or gRPC. All of those are in capitals, and none of the
 * catalogue is.
 */
export type OutsideCode = Uppercase<string>

export function isOutsideCode(code: string): code is OutsideCode {
  return /^[A-Z][A-Z\d_]*$/.test(code)
}

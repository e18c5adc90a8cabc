/** Trimmed and in lower case, as the kubelet registers it (N13). */
export function canonicalNodeName(name: string): string {
  return name.trim().toLowerCase()
}

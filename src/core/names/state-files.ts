/** Names of the kubelet's state files, without which a volume cannot be identified later (S14). */
export const STATE_FILES: ReadonlySet<string> = new Set(['vol_data.json', 'iscsi.json'])

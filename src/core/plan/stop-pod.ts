/** The command that stops a pod's sandbox and with it the containers, without a kubelet. */
export function stopPod(uid: string): string {
  return `crictl pods --label io.kubernetes.pod.uid=${uid} -q | xargs -r crictl stopp`
}

/** Where container runtimes listen when nothing names another place (N18). */
export const WELL_KNOWN_RUNTIME_ENDPOINTS: readonly string[] = [
  'unix:///run/containerd/containerd.sock',
  'unix:///var/run/crio/crio.sock',
  'unix:///run/k3s/containerd/containerd.sock',
  'unix:///var/run/cri-dockerd.sock',
  'unix:///run/k0s/containerd.sock',
  'unix:///var/snap/microk8s/common/run/containerd.sock',
]

import type { Bundle, Policy, Workload } from './manifests.ts'
import { matches } from './pods.ts'

/** Port of HTTPS endpoints: beside our pods, a policy may lead there and to a database by one address. */
const internetPort = 443
const databasePort = 5432
/** Clusters, machines, their metadata service. */
const privateRanges = ['10.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16']

/** Checks who may connect to whom: no one by default, and no rule may lead nowhere or to more than it names. */
export function networkProblems(bundle: Bundle): readonly { file: string; problem: string }[] {
  const { file, policies, services, budgets, workloads, namespaces } = bundle
  const selecting = [...services, ...budgets].flatMap((one) => {
    const labels = one.kind === 'Service' ? one.spec.selector : one.spec.selector.matchLabels
    const isMatched =
      workloads.some((workload) => matches(labels, workload)) && Object.keys(labels).length > 0
    return isMatched ? [] : [{ file: one.file, problem: `${one.kind} ${one.metadata.name} selects no pod` }]
  })
  return [
    ...(policies.some(deniesAll)
      ? []
      : [{ file, problem: 'no NetworkPolicy denies everything to every pod' }]),
    ...(namespaces.some(({ metadata }) => metadata.name === bundle.namespace && isRestricted(metadata.labels))
      ? []
      : [{ file, problem: `no Namespace ${bundle.namespace} that enforces the restricted pod security` }]),
    ...selecting,
    ...services.flatMap((service) => serviceProblems(bundle, service)),
    ...policies.flatMap((policy) =>
      [...ingressProblems(bundle, policy), ...egressProblems(bundle, policy)].map((problem) => ({
        file: policy.file,
        problem: `NetworkPolicy ${policy.metadata.name}: ${problem}`,
      })),
    ),
    ...workloads.flatMap((workload) => {
      const own = policies.some((policy) => isOf(policy, workload))
      return own ? [] : [{ file: workload.file, problem: `${workload.metadata.name} has no NetworkPolicy` }]
    }),
  ]
}

const isRestricted = (labels: Readonly<Record<string, string>>) =>
  labels['pod-security.kubernetes.io/enforce'] === 'restricted'

const isForAll = ({ spec }: Policy) => Object.keys(spec.podSelector.matchLabels).length === 0

function deniesAll(policy: Policy): boolean {
  const { policyTypes, ingress, egress } = policy.spec
  const isBoth = policyTypes.includes('Ingress') && policyTypes.includes('Egress')
  return isForAll(policy) && isBoth && ingress.length === 0 && egress.length === 0
}

function isOf(policy: Policy, workload: Workload): boolean {
  return !isForAll(policy) && matches(policy.spec.podSelector.matchLabels, workload)
}

function opens(workload: Workload, port: number): boolean {
  return workload.spec.template.spec.containers.some(({ ports }) =>
    ports.some(({ containerPort }) => containerPort === port),
  )
}

function serviceProblems({ workloads }: Bundle, { file, metadata, spec }: Bundle['services'][number]) {
  const problems = spec.type === 'ClusterIP' ? [] : [`type ${spec.type} is reachable past the proxy`]
  const containers = workloads
    .filter((workload) => matches(spec.selector, workload))
    .flatMap((workload) => workload.spec.template.spec.containers)
  for (const { port, targetPort = port } of spec.ports) {
    const isOpen = containers.some(({ ports }) =>
      ports.some(({ name, containerPort }) => targetPort === name || targetPort === containerPort),
    )
    if (!isOpen) problems.push(`port ${targetPort} is one that no container opens`)
    if (targetPort !== 'http') problems.push('leads to another port than http')
  }
  return problems.map((problem) => ({ file, problem: `Service ${metadata.name}: ${problem}` }))
}

function ingressProblems({ workloads }: Bundle, policy: Policy): readonly string[] {
  const own = workloads.filter((workload) => isOf(policy, workload))
  const problems = isForAll(policy) || own.length > 0 ? [] : ['selects no pod']
  for (const { from = [], ports = [] } of policy.spec.ingress) {
    if (from.length === 0) problems.push('lets everybody in')
    if (ports.length === 0) problems.push('opens every port')
    for (const { port } of ports) {
      if (!own.some((workload) => opens(workload, port)))
        problems.push(`port ${port} is one that no container opens`)
    }
    for (const { podSelector, namespaceSelector } of from) {
      if (podSelector === undefined || namespaceSelector !== undefined) continue
      if (!workloads.some((workload) => matches(podSelector.matchLabels, workload))) {
        problems.push('lets pods in that are not there')
      }
    }
  }
  return problems
}

function egressProblems(bundle: Bundle, policy: Policy): readonly string[] {
  const problems: string[] = []
  for (const { to = [], ports = [] } of policy.spec.egress) {
    if (to.length === 0) problems.push('leads everywhere')
    if (ports.length === 0) problems.push('leads to every port')
    for (const { podSelector, namespaceSelector, ipBlock } of to) {
      if (ipBlock !== undefined) problems.push(...blockProblems(ipBlock, ports))
      if (podSelector === undefined || namespaceSelector !== undefined) continue
      const targets = bundle.workloads.filter((workload) => matches(podSelector.matchLabels, workload))
      if (targets.length === 0) problems.push('leads to pods that are not there')
      for (const { port } of ports) {
        if (!targets.every((target) => opens(target, port)))
          problems.push(`port ${port} is one that no container opens`)
        else if (!targets.every((target) => admits(bundle, target, policy, port))) {
          problems.push(`leads to port ${port} of pods that do not let it in`)
        }
      }
    }
  }
  return problems
}

function blockProblems(
  { cidr, except }: { readonly cidr: string; readonly except: readonly string[] },
  ports: readonly { readonly port: number }[],
): readonly string[] {
  const allowed = cidr.endsWith('/0') ? [internetPort] : [internetPort, databasePort]
  const wrong = ports.filter(({ port }) => !allowed.includes(port)).map(({ port }) => port)
  return [
    ...wrong.map((port) => `leads to port ${port} of ${cidr}`),
    ...(cidr === '0.0.0.0/0' ? privateRanges.filter((range) => !except.includes(range)) : []).map(
      (range) => `leads to ${range}`,
    ),
  ]
}

/** True where a policy of the target lets in the pods that `from` is of. */
function admits({ policies, workloads }: Bundle, target: Workload, from: Policy, port: number): boolean {
  const senders = workloads.filter((workload) => isOf(from, workload))
  return policies
    .filter((policy) => isOf(policy, target))
    .some(({ spec }) =>
      spec.ingress.some(
        (rule) =>
          (rule.ports ?? []).some((one) => one.port === port) &&
          (rule.from ?? []).some(
            ({ podSelector, namespaceSelector }) =>
              podSelector !== undefined &&
              namespaceSelector === undefined &&
              senders.every((sender) => matches(podSelector.matchLabels, sender)),
          ),
      ),
    )
}

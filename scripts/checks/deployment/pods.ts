import type { Bundle, Container, Workload } from './manifests.ts'
import { isSecret, type Services } from './services.ts'

const secretsFolder = '/vault/secrets'

/** Rules for every pod, whatever its service is: an attacker in one pod gains no more than that pod. */
export function podProblems(bundle: Bundle, workload: Workload, services: Services): readonly string[] {
  const { metadata, spec } = workload
  const pod = spec.template.spec
  const [uid, gid] = services.user.split(':').map(Number)
  const grace = pod.terminationGracePeriodSeconds
  const problems: string[] = []
  const need = (holds: boolean, problem: string) => {
    if (!holds) problems.push(`${workload.kind} ${metadata.name}: ${problem}`)
  }
  need(pod.securityContext.runAsNonRoot === true, 'runAsNonRoot')
  need(
    pod.securityContext.runAsUser === uid && pod.securityContext.runAsGroup === gid,
    `runAsUser and runAsGroup of the images, ${services.user}`,
  )
  need(pod.securityContext.seccompProfile?.type === 'RuntimeDefault', 'seccompProfile RuntimeDefault')
  need(pod.automountServiceAccountToken === false, 'automountServiceAccountToken: false')
  need(
    pod.enableServiceLinks === false,
    'enableServiceLinks: false, or a Service "database" sets DATABASE_PORT',
  )
  need(!pod.hostNetwork && !pod.hostPID && !pod.hostIPC, 'nothing of its host')
  need(!pod.volumes.some((volume) => 'hostPath' in volume), 'no hostPath')
  need(
    grace >= services.stopSeconds,
    `terminationGracePeriodSeconds ${grace}, a stop takes ${services.stopSeconds}`,
  )
  for (const { topologyKey, labelSelector } of pod.topologySpreadConstraints) {
    need(matches(labelSelector.matchLabels, workload), `the spread over ${topologyKey} selects its own pods`)
  }
  need(matches(spec.selector.matchLabels, workload), 'its selector matches its pods')
  for (const container of [...pod.initContainers, ...pod.containers]) {
    problems.push(
      ...containerProblems(bundle, container, services).map(
        (problem) => `${workload.kind} ${metadata.name}: container ${container.name}: ${problem}`,
      ),
    )
  }
  problems.push(...availabilityProblems(bundle, workload))
  return problems
}

/** True where labels select pods of the workload; no label at all selects every pod. */
export function matches(selector: Readonly<Record<string, string>>, { spec }: Workload): boolean {
  const { labels } = spec.template.metadata
  return Object.entries(selector).every(([name, value]) => labels[name] === value)
}

function containerProblems(bundle: Bundle, container: Container, services: Services): readonly string[] {
  const problems: string[] = []
  const need = (holds: boolean, problem: string) => {
    if (!holds) problems.push(problem)
  }
  const { securityContext: fence, resources } = container
  need(fence.readOnlyRootFilesystem === true, 'readOnlyRootFilesystem')
  need(fence.allowPrivilegeEscalation === false, 'allowPrivilegeEscalation: false')
  need(fence.privileged !== true, 'not privileged')
  need(fence.capabilities?.drop.includes('ALL') === true, 'capabilities drop ALL')
  need((fence.capabilities?.add ?? []).length === 0, 'no capability is added')
  need(fence.runAsUser === undefined && fence.runAsNonRoot === undefined, 'the user of its pod')
  for (const kind of ['cpu', 'memory']) {
    need(kind in resources.requests && kind in resources.limits, `request and limit of ${kind}`)
  }
  return [
    ...problems,
    ...imageProblems(bundle, container, services),
    ...probeProblems(container),
    ...variableProblems(container, services),
  ]
}

function imageProblems({ images }: Bundle, container: Container, services: Services): readonly string[] {
  const [, target] = /^causeway\/([a-z-]+)$/.exec(container.image) ?? []
  const opened = target === undefined ? undefined : services.ports.get(target)
  if (opened === undefined)
    return [`image ${container.image} is no target of docker/Dockerfile without a tag`]
  const ports = container.ports.map(({ containerPort }) => containerPort)
  const tag = images.get(container.image)
  return [
    ...(tag === services.version
      ? []
      : [`kustomization.yaml gives ${container.image} the tag ${tag}, this release is ${services.version}`]),
    ...(ports.join() === opened.join() ? [] : [`ports ${ports}, its image opens ${opened}`]),
  ]
}

/** An endpoint that is silent makes a service not ready. Ended for it, it would not be better off. */
function probeProblems(container: Container): readonly string[] {
  const expected = {
    startupProbe: '/lives/v1',
    livenessProbe: '/lives/v1',
    readinessProbe: '/ready',
  } as const
  const names = container.ports.map(({ name }) => name)
  return (['startupProbe', 'livenessProbe', 'readinessProbe'] as const).flatMap((kind) => {
    const httpGet = container[kind]?.httpGet
    if (httpGet === undefined) return [`${kind} by HTTP`]
    return [
      ...(httpGet.path === expected[kind] ? [] : [`${kind} asks ${httpGet.path}, not ${expected[kind]}`]),
      ...(httpGet.port === 'ops' && names.includes('ops')
        ? []
        : [`${kind} asks port ${httpGet.port}, not ops`]),
    ]
  })
}

function variableProblems({ image, env, envFrom }: Container, services: Services): readonly string[] {
  const service = image.replace(/^causeway\//, '')
  return [
    ...env.flatMap(({ name, value, valueFrom }) => [
      ...(services.readsVariable(service, name) ? [] : [`${service} reads no ${name}`]),
      ...(isSecret(name, value ?? '')
        ? [`${name} is a secret, which belongs into a file of ${secretsFolder}`]
        : []),
      ...(valueFrom === undefined ? [] : [`${name} comes from elsewhere; secrets are files`]),
    ]),
    ...envFrom.flatMap(({ secretRef }) =>
      secretRef === undefined ? [] : ['secrets are files, no variables'],
    ),
  ]
}

function availabilityProblems({ budgets, workloads }: Bundle, workload: Workload): readonly string[] {
  const { metadata, spec } = workload
  const id = `${workload.kind} ${metadata.name}`
  const own = budgets.filter(({ spec: { selector } }) => matches(selector.matchLabels, workload))
  const shared = own.some(
    ({ spec: { selector } }) => workloads.filter((one) => matches(selector.matchLabels, one)).length > 1,
  )
  const unavailable = spec.strategy?.rollingUpdate.maxUnavailable
  return [
    ...(shared ? [`${id}: its budget counts pods of another workload`] : []),
    // With one replica a disruption budget prevents draining its machine, or has no effect.
    ...(spec.replicas < 2 && own.length > 0 ? [`${id}: a budget over one replica`] : []),
    ...(spec.replicas > 1 && (own.length !== 1 || own[0]?.spec.maxUnavailable !== 1)
      ? [`${id}: a budget with maxUnavailable 1`]
      : []),
    ...(workload.kind === 'Deployment' && unavailable !== 0
      ? [`${id}: a rolling update without a replica less (maxUnavailable 0)`]
      : []),
    ...(spec.replicas > 1 && spec.template.spec.topologySpreadConstraints.length === 0
      ? [`${id}: replicas spread over machines`]
      : []),
  ]
}

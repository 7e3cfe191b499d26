import { parseDocument } from 'yaml'
import { z } from 'zod'
import type { RepositoryFile } from '../finding.ts'
import { isSecret, type Services } from './services.ts'

export const composePath = 'docker/compose.yaml'
/** Port that may be reached from outside a container: the operations and the admin listener never are. */
const publicPort = '3000'
const databasePort = '5432'

const composeService = z.object({
  image: z.string().optional(),
  build: z.object({ target: z.string() }).optional(),
  restart: z.string().optional(),
  read_only: z.boolean().optional(),
  cap_drop: z.array(z.string()).default([]),
  cap_add: z.array(z.string()).default([]),
  security_opt: z.array(z.string()).default([]),
  privileged: z.boolean().optional(),
  network_mode: z.string().optional(),
  pid: z.string().optional(),
  pids_limit: z.number().optional(),
  mem_limit: z.string().optional(),
  cpus: z.number().optional(),
  logging: z.object({ options: z.record(z.string(), z.string()).default({}) }).optional(),
  healthcheck: z.looseObject({ disable: z.boolean().optional() }).optional(),
  stop_grace_period: z.string().optional(),
  environment: z.record(z.string(), z.coerce.string()).default({}),
  volumes: z.array(z.string()).default([]),
  networks: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
  depends_on: z.union([z.array(z.string()), z.record(z.string(), z.unknown())]).default([]),
})
const composeFile = z.object({
  services: z.record(z.string(), composeService),
  networks: z.record(z.string(), z.object({ internal: z.boolean().optional() }).nullable()).default({}),
})

type ComposeFile = z.output<typeof composeFile>
type ComposeService = z.output<typeof composeService>

/** Problems that the compose schema cannot find; dclint checks the schema itself. */
export function composeProblems({ text }: RepositoryFile, services: Services): readonly string[] {
  const document = parseDocument(text, { merge: true })
  if (document.errors.length > 0) return document.errors.map(({ message }) => message)
  const parsed = composeFile.safeParse(document.toJS())
  if (!parsed.success) return [z.prettifyError(parsed.error)]
  const compose = parsed.data
  return Object.entries(compose.services).flatMap(([name, service]) =>
    [
      ...fenceProblems(service, services),
      ...variableProblems(service, services),
      ...portProblems(service),
      ...networkProblems(compose, name),
    ].map((problem) => `${name}: ${problem}`),
  )
}

function fenceProblems(service: ComposeService, { stopSeconds, ports }: Services): readonly string[] {
  const problems: string[] = []
  const need = (holds: boolean, problem: string) => {
    if (!holds) problems.push(problem)
  }
  const [, seconds = '0'] = /^(\d+)s$/.exec(service.stop_grace_period ?? '') ?? []
  const target = service.build?.target
  need(service.restart === 'unless-stopped', 'restart: unless-stopped')
  need(service.read_only === true, 'read_only')
  need(service.cap_drop.includes('ALL') && service.cap_add.length === 0, 'cap_drop ALL')
  need(service.security_opt.includes('no-new-privileges:true'), 'no-new-privileges')
  need(!service.privileged && !service.network_mode && !service.pid, 'nothing of its host')
  need(service.pids_limit !== undefined, 'pids_limit')
  need(service.mem_limit !== undefined, 'mem_limit')
  need(service.cpus !== undefined, 'cpus')
  need(service.logging?.options['max-size'] !== undefined, 'logging with max-size')
  need(!service.volumes.some((volume) => volume.includes('docker.sock')), 'not the engine')
  need(Number(seconds) >= stopSeconds, `stop_grace_period ${seconds}s, a stop takes ${stopSeconds}s`)
  need(target === undefined || ports.has(target), `target ${target} is none of docker/Dockerfile`)
  // Images of ours have one, which asks /ready.
  need(target !== undefined || service.healthcheck !== undefined, 'healthcheck')
  need(service.healthcheck?.disable !== true, 'healthcheck')
  return problems
}

function variableProblems({ environment, build }: ComposeService, services: Services): readonly string[] {
  return Object.entries(environment).flatMap(([name, value]) => [
    ...(build === undefined || services.readsVariable(build.target, name)
      ? []
      : [`${build.target} reads no ${name}`]),
    ...(isSecret(name, value) ? [`${name} is a secret, which belongs into docker/secrets`] : []),
  ])
}

function portProblems({ ports }: ComposeService): readonly string[] {
  return ports.flatMap((port) => {
    const [, address, inside] = /^(?:(.*):)?\d+:(\d+)$/.exec(port) ?? []
    return [
      ...(address === '127.0.0.1' ? [] : [`${port} is published beyond this machine`]),
      ...(inside === publicPort ? [] : [`${port} publishes a port that is not for callers`]),
    ]
  })
}

/** A database is met by who waits for it alone, and no network but an internal one holds it or two services of ours. */
function networkProblems({ services, networks }: ComposeFile, name: string): readonly string[] {
  const service = services[name]
  if (service === undefined) return []
  const isDatabase = service.image?.startsWith('postgres:') === true
  const dependents = Object.entries(services)
    .filter(([, { depends_on }]) =>
      (Array.isArray(depends_on) ? depends_on : Object.keys(depends_on)).includes(name),
    )
    .map(([other]) => other)
  const membersOf = (network: string) =>
    Object.keys(services).filter((other) => other !== name && services[other]?.networks.includes(network))
  const isInternal = (network: string) => networks[network]?.internal === true
  const target = service.build?.target
  return [
    ...(service.networks.length === 0 ? ['networks of its own, or it shares one with everybody'] : []),
    ...service.networks.flatMap((network) => {
      if (!(network in networks)) return [`network ${network} is not there`]
      const others = membersOf(network)
      if (isDatabase) {
        const strangers = others.filter((other) => !dependents.includes(other))
        return [
          ...(isInternal(network) ? [] : [`network ${network} leads a database out of this machine`]),
          ...strangers.map((other) => `network ${network} leads ${other} to a database that is not its own`),
        ]
      }
      const neighbours = others.filter((other) => services[other]?.build?.target !== target)
      return isInternal(network)
        ? []
        : neighbours.map((other) => `network ${network}, which leads out, joins it to ${other}`)
    }),
    ...(isDatabase && service.ports.some((port) => port.endsWith(databasePort))
      ? ['a database is published']
      : []),
  ]
}

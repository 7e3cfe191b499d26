import { dirname } from 'node:path/posix'
import { parseAllDocuments } from 'yaml'
import { z } from 'zod'
import type { Finding, RepositoryFile } from '../finding.ts'
import { type Manifest, schemaProblems } from './schema.ts'

const folder = /^docker\/kubernetes\/.*\.ya?ml$/
const kustomization = /(^|\/)kustomization\.yaml$/

const labels = z.record(z.string(), z.string()).default({})
const matched = z.object({ matchLabels: labels }).default({ matchLabels: {} })
const probe = z.object({
  httpGet: z.object({ path: z.string(), port: z.union([z.string(), z.number()]) }).optional(),
})
const securityContext = z
  .object({
    runAsNonRoot: z.boolean().optional(),
    runAsUser: z.number().optional(),
    runAsGroup: z.number().optional(),
    seccompProfile: z.object({ type: z.string() }).optional(),
    privileged: z.boolean().optional(),
    allowPrivilegeEscalation: z.boolean().optional(),
    readOnlyRootFilesystem: z.boolean().optional(),
    capabilities: z
      .object({ drop: z.array(z.string()).default([]), add: z.array(z.string()).default([]) })
      .optional(),
  })
  .default({})
const quantities = z.record(z.string(), z.union([z.string(), z.number()])).default({})
const container = z.object({
  name: z.string(),
  image: z.string().default(''),
  env: z
    .array(z.object({ name: z.string(), value: z.string().optional(), valueFrom: z.unknown().optional() }))
    .default([]),
  envFrom: z
    .array(
      z.object({
        configMapRef: z.object({ name: z.string() }).optional(),
        secretRef: z.unknown().optional(),
      }),
    )
    .default([]),
  ports: z.array(z.object({ name: z.string().default(''), containerPort: z.number() })).default([]),
  startupProbe: probe.optional(),
  livenessProbe: probe.optional(),
  readinessProbe: probe.optional(),
  resources: z.object({ requests: quantities, limits: quantities }).default({ requests: {}, limits: {} }),
  securityContext,
})
const pod = z.object({
  automountServiceAccountToken: z.boolean().optional(),
  enableServiceLinks: z.boolean().optional(),
  hostNetwork: z.boolean().optional(),
  hostPID: z.boolean().optional(),
  hostIPC: z.boolean().optional(),
  terminationGracePeriodSeconds: z.number().default(30),
  securityContext,
  initContainers: z.array(container).default([]),
  containers: z.array(container),
  topologySpreadConstraints: z
    .array(z.object({ topologyKey: z.string(), labelSelector: matched }))
    .default([]),
  volumes: z.array(z.looseObject({ name: z.string() })).default([]),
})
const workload = <Kind extends 'Deployment' | 'StatefulSet'>(kind: Kind) =>
  z.object({
    kind: z.literal(kind),
    metadata: z.object({ name: z.string() }),
    spec: z.object({
      replicas: z.number().default(1),
      strategy: z
        .object({
          type: z.string().default('RollingUpdate'),
          rollingUpdate: z
            .object({ maxUnavailable: z.union([z.number(), z.string()]).default('25%') })
            .default({ maxUnavailable: '25%' }),
        })
        .optional(),
      selector: matched,
      template: z.object({ metadata: z.object({ labels }), spec: pod }),
    }),
  })
const service = z.object({
  kind: z.literal('Service'),
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    type: z.string().default('ClusterIP'),
    selector: labels,
    ports: z.array(z.object({ port: z.number(), targetPort: z.union([z.string(), z.number()]).optional() })),
  }),
})
const budget = z.object({
  kind: z.literal('PodDisruptionBudget'),
  metadata: z.object({ name: z.string() }),
  spec: z.object({ maxUnavailable: z.union([z.number(), z.string()]).optional(), selector: matched }),
})
const peers = z.array(
  z.object({
    podSelector: matched.unwrap().optional(),
    namespaceSelector: z.unknown().optional(),
    ipBlock: z.object({ cidr: z.string(), except: z.array(z.string()).default([]) }).optional(),
  }),
)
const policyPorts = z.array(z.object({ protocol: z.string().default('TCP'), port: z.number() }))
const policy = z.object({
  kind: z.literal('NetworkPolicy'),
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    podSelector: matched,
    policyTypes: z.array(z.string()).default([]),
    ingress: z.array(z.object({ from: peers.optional(), ports: policyPorts.optional() })).default([]),
    egress: z.array(z.object({ to: peers.optional(), ports: policyPorts.optional() })).default([]),
  }),
})
const namespace = z.object({
  kind: z.literal('Namespace'),
  metadata: z.object({ name: z.string(), labels }),
})
const kustomize = z.strictObject({
  apiVersion: z.literal('kustomize.config.k8s.io/v1beta1'),
  kind: z.literal('Kustomization'),
  namespace: z.string(),
  resources: z.array(z.string()),
  images: z.array(z.strictObject({ name: z.string(), newTag: z.string() })).default([]),
})

const document = z.discriminatedUnion('kind', [
  workload('Deployment'),
  workload('StatefulSet'),
  service,
  budget,
  policy,
  namespace,
])

type In<Schema extends z.ZodType> = z.output<Schema> & { readonly file: string }

export type Container = z.output<typeof container>
export type Workload = In<ReturnType<typeof workload>>
export type Service = In<typeof service>
export type Policy = In<typeof policy>

/** Objects that one kustomization puts into one namespace. */
export type Bundle = {
  readonly file: string
  readonly namespace: string
  readonly images: ReadonlyMap<string, string>
  readonly workloads: readonly Workload[]
  readonly services: readonly Service[]
  readonly budgets: readonly In<typeof budget>[]
  readonly policies: readonly Policy[]
  readonly namespaces: readonly In<typeof namespace>[]
}

type Read = { readonly path: string; readonly documents: readonly In<typeof document>[] }

/** All manifests, and what is wrong with single documents of them, which are in no bundle then. */
export function readManifests(files: readonly RepositoryFile[]): {
  readonly bundles: readonly Bundle[]
  readonly findings: readonly Finding[]
} {
  const findings: Finding[] = []
  const manifests: Read[] = []
  const kustomizations: { file: string; listed: z.output<typeof kustomize> }[] = []
  for (const { path, text } of files.filter((file) => folder.test(file.path))) {
    const tell = (problem: string) => findings.push({ file: path, problem })
    const values = readDocuments(text, tell)
    if (!kustomization.test(path)) {
      manifests.push({ path, documents: values.flatMap((value) => knownDocument(path, value, tell)) })
      continue
    }
    for (const value of values) {
      const parsed = kustomize.safeParse(value)
      if (parsed.success) kustomizations.push({ file: path, listed: parsed.data })
      else tell(z.prettifyError(parsed.error))
    }
  }
  const pathsOf = ({ file, listed }: (typeof kustomizations)[number]) =>
    listed.resources.map((name) => `${dirname(file)}/${name}`)
  const applied = new Set(kustomizations.flatMap(pathsOf))
  for (const { path } of manifests) {
    if (!applied.has(path)) findings.push({ file: path, problem: 'no kustomization.yaml lists it' })
  }
  const bundles = kustomizations.map((one) => {
    const paths = pathsOf(one)
    const missing = paths.filter((path) => !manifests.some((manifest) => manifest.path === path))
    findings.push(...missing.map((path) => ({ file: one.file, problem: `${path} is not there` })))
    const own = manifests.filter(({ path }) => paths.includes(path))
    return bundleOf(
      one.file,
      one.listed,
      own.flatMap(({ documents }) => documents),
    )
  })
  return { bundles, findings }
}

function readDocuments(text: string, tell: (problem: string) => void): readonly Manifest[] {
  // Clusters read YAML 1.1, in which 0440 is octal and `off` is no text.
  return parseAllDocuments(text, { version: '1.1' }).flatMap((one) => {
    if (!('errors' in one)) return []
    for (const { message } of one.errors) tell(message)
    if (one.errors.length > 0) return []
    const parsed = z.record(z.string(), z.unknown()).safeParse(one.toJS())
    if (!parsed.success) tell('holds a document that is no object')
    return parsed.success ? [parsed.data] : []
  })
}

function knownDocument(file: string, value: Manifest, tell: (problem: string) => void): Read['documents'] {
  const problems = schemaProblems(value)
  for (const problem of problems) tell(problem)
  if (problems.length > 0) return []
  const parsed = document.safeParse(value)
  if (!parsed.success) tell(z.prettifyError(parsed.error))
  return parsed.success ? [{ ...parsed.data, file }] : []
}

function bundleOf(
  file: string,
  { namespace: into, images }: z.output<typeof kustomize>,
  documents: Read['documents'],
): Bundle {
  return {
    file,
    namespace: into,
    images: new Map(images.map(({ name, newTag }) => [name, newTag])),
    workloads: documents.filter((one) => one.kind === 'Deployment' || one.kind === 'StatefulSet'),
    services: documents.filter((one) => one.kind === 'Service'),
    budgets: documents.filter((one) => one.kind === 'PodDisruptionBudget'),
    policies: documents.filter((one) => one.kind === 'NetworkPolicy'),
    namespaces: documents.filter((one) => one.kind === 'Namespace'),
  }
}

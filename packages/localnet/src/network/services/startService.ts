import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { FamilyUrls } from '../../families/familyVariables.ts'
import { writeFileAtomically } from '../../files/atomicFile.ts'
import { bundledScript } from '../../processes/bundledScript.ts'
import { type ManagedProcess, startProcess } from '../../processes/managedProcess.ts'
import { waitUntilReady } from '../../processes/readiness.ts'
import type { LocalNetwork } from '../startLocalNetwork.ts'
import type { SessionEndpoints } from './endpoints.ts'
import type { ServicePlan, ServicePorts } from './servicePlan.ts'
import { writeSecretFile } from './writeSecretFile.ts'

export type ServiceOptions = {
  readonly network: LocalNetwork
  readonly repositoryRoot: string
  /** Ports of every service of the session, this one's included. */
  readonly ports: ReadonlyMap<string, ServicePorts>
  readonly families?: FamilyUrls | undefined
  readonly endpoints: Pick<SessionEndpoints, 'replaceEndpoints'>
  /** Environment that the service inherits; its plan overrides it. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Takes a line that says that the start takes long, and where to look. */
  readonly report: (line: string) => void
  readonly signal?: AbortSignal | undefined
}

export type RunningService = {
  readonly plan: ServicePlan
  readonly ports: ServicePorts
  readonly process: ManagedProcess
}

/** Time in which a service that is stopped may finish its requests and stop its database. */
const graceMs = 20_000

/**
 * Starts one service and waits until it is ready. @throws StartFailure naming its log file, with its last
 * lines, when it ends instead or does not become ready; nothing of it is left then
 */
export async function startService(plan: ServicePlan, options: ServiceOptions): Promise<RunningService> {
  const { network, repositoryRoot, families } = options
  const ports = options.ports.get(plan.name) ?? {}
  const { paths, runFile } = network
  const writeSecret = (name: string, secret: string) => writeSecretFile(paths.secrets, name, secret)
  const planned = await plan.environment({ network, writeSecret, ports: options.ports, families }, ports)
  const environment = await options.endpoints.replaceEndpoints(planned)
  await writeServiceFile(paths.serviceFile(plan.name), environment)
  const process = await startProcess({
    name: plan.name,
    command: globalThis.process.execPath,
    args: [bundledScript(plan.script)],
    directory: repositoryRoot,
    environment: { ...options.environment, ...environment },
    logFile: paths.logFile(plan.name),
    runFile,
    graceMs,
  })
  try {
    await waitUntilReady(process, {
      url: plan.readyUrl(ports),
      report: options.report,
      signal: options.signal,
    })
  } catch (error) {
    await process.stop()
    throw error
  }
  return { plan, ports, process }
}

/** Writes what a service was started with, which may hold keys of this network, for its owner alone. */
async function writeServiceFile(path: string, environment: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFileAtomically(path, `${JSON.stringify(environment, null, 2)}\n`, { mode: 0o600 })
}

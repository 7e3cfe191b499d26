import { z } from 'zod'
import { type FamilyKey, familyKeys, forEachFamily } from '../families/familyPlans.ts'
import {
  type FamilyFacts,
  type FamilyNetwork,
  type FamilyPorts,
  familyFactsSchema,
  familyPortsSchema,
} from '../families/familySettings.ts'
import type { FamilyUrls } from '../families/familyVariables.ts'
import { nextFreePorts } from '../nodes/ports.ts'
import { bundledScript } from '../processes/bundledScript.ts'
import { type ManagedProcess, startProcess } from '../processes/managedProcess.ts'
import { StartFailure } from '../processes/processEnd.ts'
import type { RunFile } from '../processes/runFile.ts'
import { type ChainKey, chainKeys } from './chainPlan.ts'
import type { LocalPaths } from './localPaths.ts'

/** The process of the stand-ins, which `runFamilies` runs. */
export type FamilyProcess = {
  readonly process: ManagedProcess
  readonly controlUrl: string
  /** URL at which each chain will listen: its port is chosen before it is open. */
  readonly urls: FamilyUrls
  /** Sends the facts of the EVM chains; called once, when these are up. */
  tell(network: FamilyNetwork): void
  /** Opens one of the chains. @throws StartFailure that says why it cannot be opened; the others go on */
  open(key: FamilyKey, signal: AbortSignal): Promise<FamilyFacts>
}

export type FamilyProcessOptions = {
  readonly paths: LocalPaths
  readonly runFile: RunFile
  /** The first one that is tried; the others follow. */
  readonly firstPort: number
  /** Ports of the nodes, which may not listen yet. */
  readonly chainPorts: Readonly<Record<ChainKey, number>>
  readonly repositoryRoot: string
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** Time to end after SIGTERM. A kill loses nothing, because journals are written at once. */
const graceMs = 5_000
const name = 'families'

/** Starts the process of the stand-ins while the nodes start: its modules take long to load. */
export async function startFamilyProcess(options: FamilyProcessOptions): Promise<FamilyProcess> {
  const { paths, runFile, repositoryRoot, environment } = options
  const ports = await chooseFamilyPorts(options)
  const process = await startProcess({
    name,
    command: globalThis.process.execPath,
    args: [bundledScript('scripts/start/standIns.ts')],
    directory: repositoryRoot,
    environment,
    logFile: paths.logFile(name),
    runFile,
    graceMs,
    hasInput: true,
  })
  process.tell(JSON.stringify(ports))
  const controlUrl = `http://127.0.0.1:${ports.control}`
  return {
    process,
    controlUrl,
    urls: forEachFamily((key) => ({ url: `http://127.0.0.1:${ports[key]}` })),
    tell: (network) => process.tell(JSON.stringify(network)),
    open: (key, signal) => openFamily({ process, controlUrl }, key, signal),
  }
}

const pollMs = 100
const refusalSchema = z.object({ message: z.string() })

/** Asks until the control server listens and the process has read the facts of the EVM chains. */
async function openFamily(
  { process, controlUrl }: Pick<FamilyProcess, 'process' | 'controlUrl'>,
  family: FamilyKey,
  signal: AbortSignal,
): Promise<FamilyFacts> {
  for (;;) {
    signal.throwIfAborted()
    if (process.hasEnded()) throw new StartFailure(`${family} cannot be opened: its process has ended`)
    const answer = await fetch(`${controlUrl}/open`, {
      method: 'POST',
      body: JSON.stringify({ family }),
      signal,
    }).catch(() => undefined)
    if (answer?.ok === true) return familyFactsSchema.parse(await answer.json())
    // The answer is 503 until the process has those facts.
    if (answer !== undefined && answer.status !== 503) {
      const { message } = refusalSchema.parse(await answer.json())
      throw new StartFailure(`${family} cannot be opened: ${message}; the log is ${process.logFile}`)
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}

async function chooseFamilyPorts({ firstPort, chainPorts }: FamilyProcessOptions): Promise<FamilyPorts> {
  // The nodes' ports are listed first, so that none of them is chosen, although nobody may listen there yet.
  const nodePorts = chainKeys.map((key) => chainPorts[key])
  const wanted = [...familyKeys, 'control'].map((_, offset) => firstPort + offset)
  const chosen = (await nextFreePorts([...nodePorts, ...wanted])).slice(nodePorts.length)
  const [solana, bitcoin, tron, hyperliquid, lighter, control] = chosen
  return familyPortsSchema.parse({ solana, bitcoin, tron, hyperliquid, lighter, control })
}

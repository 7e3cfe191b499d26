import {
  type FamilyFacts,
  type FamilyNetwork,
  type FamilyPorts,
  familyFactsSchema,
  familyPortsSchema,
} from '../families/familySettings.ts'
import { nextFreePorts } from '../nodes/ports.ts'
import { type ManagedProcess, startProcess } from '../processes/managedProcess.ts'
import { waitUntilReady } from '../processes/readiness.ts'
import type { RunFile } from '../processes/runFile.ts'
import { translatedScript } from '../processes/translatedScript.ts'
import { type ChainKey, chainKeys } from './chainPlan.ts'
import type { LocalPaths } from './localPaths.ts'

/** The process that shows the chains of the other families. */
export type FamilyProcess = {
  readonly process: ManagedProcess
  readonly controlUrl: string
  /** To be called when the chains of the EVM are up. @returns where everything is. @throws StartFailure */
  open(
    network: FamilyNetwork,
    options: { readonly report: (line: string) => void; readonly signal: AbortSignal },
  ): Promise<FamilyFacts>
}

export type FamilyProcessOptions = {
  readonly paths: LocalPaths
  readonly runFile: RunFile
  /** The first one that is tried; the others follow. */
  readonly firstPort: number
  /** Of the nodes, which may not listen yet. */
  readonly chainPorts: Readonly<Record<ChainKey, number>>
  readonly repositoryRoot: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The JavaScript of its script, from the repository's root; default: the translated file. */
  readonly fileOf?: (script: string) => string
}

/** It holds nothing that would have to be written. */
const graceMs = 5_000

/** Starts it beside the nodes: loading takes longer than opening. */
export async function startFamilyProcess(options: FamilyProcessOptions): Promise<FamilyProcess> {
  const { paths, runFile, repositoryRoot, environment, fileOf = translatedScript } = options
  const ports = await chooseFamilyPorts(options)
  const name = 'families'
  const process = await startProcess({
    name,
    command: globalThis.process.execPath,
    args: [fileOf('packages/localnet/src/families/main.ts')],
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
    async open(network, { report, signal }) {
      process.tell(JSON.stringify(network))
      const url = `${controlUrl}/ready`
      await waitUntilReady(process, { url, report, signal })
      return familyFactsSchema.parse(await (await fetch(url, { signal })).json())
    },
  }
}

async function chooseFamilyPorts({ firstPort, chainPorts }: FamilyProcessOptions): Promise<FamilyPorts> {
  const nodes = chainKeys.map((key) => chainPorts[key])
  const wanted = [0, 1, 2, 3, 4, 5].map((offset) => firstPort + offset)
  const chosen = (await nextFreePorts([...nodes, ...wanted])).slice(nodes.length)
  const [solana, bitcoin, tron, hyperliquid, lighter, control] = chosen
  return familyPortsSchema.parse({ solana, bitcoin, tron, hyperliquid, lighter, control })
}

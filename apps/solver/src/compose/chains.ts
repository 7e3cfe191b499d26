import {
  type ChainClient,
  checkLocalNodes,
  connectQuotingChain,
  type FamilyChain,
  isReadable,
  openFamilyChain,
  type RegisteredChain,
} from '@causeway/chains'
import { isKnownCode } from '@causeway/contracts/codes'
import type { SolverChainPolicy } from '@causeway/core'
import { ConfigurationError, DomainError, type FinalBlocks, type Hex, type QuoteChain } from '@causeway/core'
import type { LoadedFiles } from './files.ts'

/** A chain that the solver pays on, with what reads it. */
export type PayingChain = {
  readonly key: string
  readonly config: QuoteChain & { readonly fillContract: Hex }
  readonly policy: SolverChainPolicy
  readonly client: ChainClient
  readonly finalBlocks: FinalBlocks
}

export type OpenChains = {
  readonly paying: readonly PayingChain[]
  /** Of every chain of the quote file that has endpoints: prices stand on them too. */
  readonly clients: ReadonlyMap<string, ChainClient>
  close(): Promise<void>
}

const checkTimeoutMs = 5_000

/**
 * Opens one set of endpoints per chain, and compares those that are paid on with the configuration.
 * @throws ConfigurationError for what contradicts it
 */
export async function openChains({ chains, quote, solver }: LoadedFiles): Promise<OpenChains> {
  const clients = new Map<string, ChainClient>()
  for (const key of Object.keys(quote.chains)) {
    const chain = chains.chains.get(key)
    const client = chain && connectQuotingChain(chain)
    if (client !== undefined) clients.set(key, client)
  }
  const families: FamilyChain[] = []
  const close = async () => {
    await Promise.all([...families, ...clients.values()].map((one) => one.close()))
  }
  try {
    const paying = Object.entries(solver.chains).map(([key, policy]): PayingChain => {
      const [chain, config, client] = [chains.chains.get(key), quote.chains[key], clients.get(key)]
      if (chain === undefined || config?.fillContract === undefined || client === undefined)
        throw new ConfigurationError(`solver: chains.${key} cannot be paid on`)
      const family = openFamily(chain)
      families.push(family)
      const { finalBlocks } = family.reader
      if (finalBlocks === undefined) throw new ConfigurationError(`solver: chains.${key} has no final blocks`)
      const { fillContract } = config
      return { key, config: { ...config, fillContract }, policy, client, finalBlocks }
    })
    await refuseContradictions(chains.environment, families, [...clients.values()])
    return { paying, clients, close }
  } catch (error) {
    await close()
    throw error
  }
}

function openFamily(chain: RegisteredChain): FamilyChain {
  if (!isReadable(chain)) throw new ConfigurationError(`chains: ${chain.id} cannot be read`)
  return openFamilyChain(chain, {
    finalEntriesMax: 0,
    isKnownCode: ({ name }, code) => isKnownCode(name, code),
  })
}

/** What is wrong at start stops the start; what is silent is tried again later. */
async function refuseContradictions(
  environment: string,
  families: readonly FamilyChain[],
  clients: readonly ChainClient[],
): Promise<void> {
  const signal = AbortSignal.timeout(checkTimeoutMs)
  const found = await Promise.all([
    checkLocalNodes(environment, [...clients]),
    ...families.map(async (family) => {
      try {
        return await family.verify(signal)
      } catch (error) {
        if (error instanceof DomainError || signal.aborted) return []
        throw error
      }
    }),
  ])
  const problems = found.flat()
  if (problems.length > 0)
    throw new ConfigurationError(`Chains contradict the configuration:\n- ${problems.join('\n- ')}`)
}
